-- Profiles: the price of a pet and facts about it, in a table of its own. A pet has no row before its first profile, so that
-- creating a pet does nothing new, and a profile does not change the version of its pet. A profile is deleted with its pet.
--
-- The locks are taken in the order in which requests take them: pets, pet_history, outbox. All of them are short: the new
-- columns are null, and the new table is empty.
--
-- Instances of the former version work with this schema. Their feed and streams leave out events of the new type, because they
-- read only the types that they know; after each such event, their streams read a page of their own. Their history shows the
-- change of a profile as `updated` without fields. If a webhook has the new type, a `petstore deliver` of the former version
-- sends its events without the profile.

create table pet_profiles (
  pet_id bigint primary key references pets (id) on delete cascade,
  version integer not null default 1,
  -- Keeps its decimal places, which are those of the currency.
  price numeric check (price >= 0 and price < 10000000000),
  currency text check (currency ~ '^[A-Z]{3}$'),
  breed text check (char_length(breed) between 1 and 100),
  sex text check (sex in ('female', 'male', 'unknown')),
  born_on date check (born_on between '1900-01-01' and '9999-12-31'),
  chip_number text collate "C" check (chip_number ~ '^[0-9A-Za-z]{1,40}$'),
  description text check (char_length(description) between 1 and 2000),
  check ((price is null) = (currency is null))
);

create index pet_profiles_by_chip_number on pet_profiles (chip_number, pet_id);

-- The changed fields of a profile, in the form of the API. Null if the change is not one of a profile.
alter table pet_history add column from_profile jsonb, add column to_profile jsonb;

alter type event_type add value 'pet.profile_updated';

-- The whole profiles after the change, in the form of the API. Null in events of other types.
alter table outbox add column profiles jsonb[];

-- The price is text, because a JSON number would lose its decimal places. Fields of one word have the names of their columns.
create function record_written_profiles() returns trigger language plpgsql as $$
begin
  insert into outbox (type, count, pet_ids, profiles, api_key_ids, request_ids)
  select 'pet.profile_updated', count(*), array_agg(pet_id), array_agg(profile), array_agg(event_api_key_id()),
    array_agg(event_request_id())
  from (
    select pet_id, (row_number() over () - 1) / 1000 as part,
      jsonb_strip_nulls(to_jsonb(written) - '{pet_id, version, born_on, chip_number}'::text[]
        || jsonb_build_object('price', price::text, 'bornOn', born_on, 'chipNumber', chip_number)) as profile
    from written
  ) as profiles
  group by part;
  return null;
end $$;

create trigger record_inserted_profiles after insert on pet_profiles
  referencing new table as written for each statement execute function record_written_profiles();
create trigger record_updated_profiles after update on pet_profiles
  referencing new table as written for each statement execute function record_written_profiles();

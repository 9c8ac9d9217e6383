-- Pets: the catalogue, the facts about each pet, the history of its changes, and search by name.

create type pet_status as enum ('available', 'pending', 'sold');

create sequence pets_id_seq as bigint;

-- Wide columns come first, which avoids padding.
create table pets (
  id bigint primary key default nextval('pets_id_seq'),
  -- Any id: `categories` needs no row for it.
  category_id bigint not null check (category_id > 0),
  created_at timestamptz not null default now(),
  -- The actor. No foreign key: its check would lock the row in `actors` for every create.
  created_by bigint,
  status pet_status not null default 'available',
  -- The ETag: counts the changes. A change of the profile does not count.
  version integer not null default 1,
  name text not null check (char_length(name) between 1 and 500),
  -- The request that created the pet.
  request_id text
);

alter sequence pets_id_seq owned by pets.id;

comment on table pets is 'One row per pet. Its creation is recorded here and not in `pet_history`, which would add a second insert to the most frequent write';

-- One index per combination of filters. In each index, the filter columns come before the id, so that a page is one
-- range of the index, read backwards, regardless of the planner's estimates for a status. Because of the "+ 0", the
-- last index and pets_by_category have different first columns. With the same first column, PostgreSQL may use
-- pets_by_category for both filters and sort a whole category, for example while the table is not analysed.
create index pets_by_status on pets (status, id);
create index pets_by_category on pets (category_id, id);
create index pets_by_category_and_status on pets ((category_id + 0), status, id);

create table categories (
  id bigint primary key check (id > 0),
  name text not null check (char_length(name) between 1 and 100),
  -- One of the names in src/store/categories/schema.ts, so that a new drawing needs no migration.
  picture text check (picture ~ '^[a-z]{1,20}$')
);

comment on table categories is 'The categories that have a name. A pet may have any category id, so no foreign key refers to this table';

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
  -- Compared byte by byte.
  reference text collate "C" check (char_length(reference) between 1 and 100),
  description text check (char_length(description) between 1 and 2000),
  check ((price is null) = (currency is null))
);

comment on table pet_profiles is 'The price of a pet and the facts about it. In a table of its own, so that creating a pet does nothing more, and a profile does not change the version of its pet. A pet has no row before its first profile';

create index pet_profiles_by_chip_number on pet_profiles (chip_number, pet_id);
-- Most pets can be without a reference.
create unique index pet_profiles_by_reference on pet_profiles (reference) where reference is not null;

create table pet_history (
  id bigint primary key generated always as identity,
  pet_id bigint not null references pets (id) on delete cascade,
  -- The time of the statement, because the transaction may have begun earlier and waited for a lock.
  at timestamptz not null default statement_timestamp(),
  -- Null if the service itself made the change, for example when an order expired.
  actor_id bigint,
  from_category_id bigint,
  to_category_id bigint,
  from_status pet_status,
  to_status pet_status,
  event text not null,
  from_name text,
  to_name text,
  request_id text not null,
  reason text,
  -- The changed fields of the profile, in the form of the API. Null if the change is not one of the profile.
  from_profile jsonb,
  to_profile jsonb
);

comment on table pet_history is 'The changes of each pet after its creation. Columns of unchanged fields are null';

create index pet_history_by_pet on pet_history (pet_id, id);

-- Search by name, ignoring case. The rules for case are those of Unicode if PostgreSQL has ICU, otherwise those of the
-- database's locale.
do $$
declare
  folding text := coalesce(
    (select quote_ident(collname) from pg_collation where collname = 'und-x-icu' limit 1),
    '"default"'
  );
begin
  -- The Greek capital sigma has two lower-case forms, which get the same key.
  execute format(
    'create function pet_name_key(name text) returns text
      language sql immutable strict parallel safe
      return replace(lower(name collate pg_catalog.%s), ''ς'', ''σ'')',
    folding
  );
  -- The keys of a pet: for each word of its name, the range of 32,768 ids that the pet is in, and the word. A search
  -- looks into one range after the other, from the newest, because one look into the whole index would collect all pets
  -- that have a common word. Words are separated by white space, punctuation and the symbols of ASCII.
  --
  -- The keys contain only 80 characters of a name, at most 320 bytes. A page examines up to 2,000 names: of 500
  -- characters each, it took PostgreSQL 475 ms of CPU time; with this limit 60 to 90 ms, and 45 ms if the names have 21
  -- characters.
  --
  -- Not strict, because PostgreSQL then could not inline it: a strict function takes 15 µs more per create.
  execute format(
    'create function pet_word_keys(id bigint, name text) returns tsvector
      language sql immutable parallel safe
      return array_to_tsvector(array_remove(
        string_to_array(
          (id >> 15)::text || '':'' || regexp_replace(
            pet_name_key(left(name, 80)) collate pg_catalog.%s,
            ''[[:space:][:punct:]$+<=>^`|~]+'', '' '' || (id >> 15)::text || '':'', ''g''
          ),
          '' ''
        ),
        (id >> 15)::text || '':''
      ))',
    folding
  );
end $$;

-- A key that starts with the status. The pets of a status whose name has a prefix are therefore one range of the index.
-- Status and name are one column: with `status` as the first of two columns, PostgreSQL may use pets_by_status instead,
-- and sort all pets of the status.
create function pet_search_key(status pet_status, name text) returns text
  language sql immutable parallel safe
  return case status when 'available' then 'a' when 'pending' then 'p' else 's' end || pet_name_key(name);

-- Keys are compared byte by byte, so that the names with a prefix are one range of the index. Searches without a status
-- read three ranges.
create index pets_by_status_and_name on pets (pet_search_key(status, name) collate "C", id);

-- New entries first go into a list, which every look scans. It is short (64 KB), so that a search stays fast. Without
-- the list, a create takes 17 µs more.
create index pets_by_word on pets using gin (pet_word_keys(id, name)) with (gin_pending_list_limit = 64);

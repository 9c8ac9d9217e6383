-- The store: the history of pets, orders that hold a pet, counts of pets, and search by name.

alter table pets add column version integer not null default 1;

-- Changes to pets. The creation of a pet is not in this table but in the pet's own row. Columns of unchanged fields are
-- null.
create table pet_history (
  id bigint primary key generated always as identity,
  pet_id bigint not null references pets (id) on delete cascade,
  -- The time of the statement, because the transaction may have begun earlier and waited for a lock.
  at timestamptz not null default statement_timestamp(),
  -- Null if the service itself made the change, for example when an order expired.
  api_key_id bigint,
  from_category_id bigint,
  to_category_id bigint,
  from_status pet_status,
  to_status pet_status,
  event text not null,
  from_name text,
  to_name text,
  request_id text not null,
  reason text
);

create index pet_history_by_pet on pet_history (pet_id, id);

create type order_status as enum ('open', 'completed', 'cancelled', 'expired');

create table orders (
  id bigint primary key generated always as identity,
  pet_id bigint not null references pets (id),
  placed_by bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  closed_at timestamptz,
  status order_status not null default 'open',
  note text check (char_length(note) between 1 and 500),
  check (expires_at > created_at),
  check ((status = 'open') = (closed_at is null))
);

-- Allows one open order per pet, so that two open orders cannot sell the same pet, even if the code has defects.
create unique index orders_one_open_per_pet on orders (pet_id) where status = 'open';
create index orders_open_by_expiry on orders (expires_at) where status = 'open';
create index orders_by_status on orders (status, id);
create index orders_by_pet on orders (pet_id, id);
-- The "+ 0" has the same purpose as in pets_by_category_and_status.
create index orders_by_pet_and_status on orders ((pet_id + 0), status, id);

-- Counts of pets. Each statement that changes pets appends deltas, so that concurrent statements do not wait for the
-- same row. The service regularly folds the deltas: it adds them to the sums and deletes them. A read adds the
-- remaining deltas to the sums. It sees both in the same snapshot, so the result is exact.
create table pet_count_deltas (
  category_id bigint not null,
  delta bigint not null,
  status pet_status not null
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

create table pet_counts_by_category (
  category_id bigint not null,
  count bigint not null,
  status pet_status not null,
  primary key (category_id, status)
) with (fillfactor = 70);

create table pet_counts (
  count bigint not null,
  status pet_status primary key
) with (fillfactor = 50);

insert into pet_counts_by_category (category_id, status, count)
select category_id, status, count(*) from pets group by category_id, status;
insert into pet_counts (status, count)
select status, (select count(*) from pets where pets.status = known.status)
from unnest(enum_range(null::pet_status)) as known (status);

create function count_inserted_pets() returns trigger language plpgsql as $$
begin
  insert into pet_count_deltas (category_id, status, delta)
  select category_id, status, count(*) from inserted group by category_id, status;
  return null;
end $$;

create function count_deleted_pets() returns trigger language plpgsql as $$
begin
  insert into pet_count_deltas (category_id, status, delta)
  select category_id, status, -count(*) from deleted group by category_id, status;
  return null;
end $$;

create function count_updated_pets() returns trigger language plpgsql as $$
begin
  insert into pet_count_deltas (category_id, status, delta)
  select category_id, status, sum(change)
  from (
    select category_id, status, -1 as change from before
    union all
    select category_id, status, 1 from after
  ) as changes
  group by category_id, status
  having sum(change) <> 0;
  return null;
end $$;

create function count_truncated_pets() returns trigger language plpgsql as $$
begin
  delete from pet_count_deltas;
  delete from pet_counts_by_category;
  update pet_counts set count = 0;
  return null;
end $$;

create trigger count_inserted after insert on pets
  referencing new table as inserted for each statement execute function count_inserted_pets();
create trigger count_deleted after delete on pets
  referencing old table as deleted for each statement execute function count_deleted_pets();
create trigger count_updated after update on pets
  referencing old table as before new table as after for each statement execute function count_updated_pets();
create trigger count_truncated after truncate on pets
  for each statement execute function count_truncated_pets();

-- Search by the start of a name, ignoring case. The rules for case are those of Unicode if PostgreSQL has ICU,
-- otherwise those of the database's locale. The Greek capital sigma has two lower-case forms, which get the same key.
-- Keys are compared byte by byte, so that the names with a prefix are one range of the index.
do $$
declare
  folding text := coalesce(
    (select quote_ident(collname) from pg_collation where collname = 'und-x-icu' limit 1),
    '"default"'
  );
begin
  execute format(
    'create function pet_name_key(name text) returns text
      language sql immutable strict parallel safe
      return replace(lower(name collate pg_catalog.%s), ''ς'', ''σ'')',
    folding
  );
end $$;

create index pets_by_name on pets (pet_name_key(name) collate "C", id);

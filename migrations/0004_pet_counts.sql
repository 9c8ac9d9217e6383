-- Counts of pets by category and status. Each statement that changes pets appends deltas, so that concurrent statements
-- do not wait for the same row. The service regularly folds the deltas: it adds them to the sums and deletes them. A
-- read adds the remaining deltas to the sums. It sees both in the same snapshot, so the result is exact.
-- docs/decisions/0007-skipping-folded-deltas.md explains the choices.

create table pet_count_deltas (
  transaction_id xid8 not null default pg_current_xact_id(),
  id bigint not null generated always as identity,
  category_id bigint not null,
  delta bigint not null,
  status pet_status not null,
  -- The transaction id comes first. The deltas of all transactions before the oldest one in flight are therefore one
  -- range of the index, and no delta can appear in that range later.
  primary key (transaction_id, id)
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

comment on table pet_count_deltas is 'Changes of counts that are not folded yet, one row per statement, category and status';

create table pet_counts_by_category (
  category_id bigint not null,
  count bigint not null,
  status pet_status not null,
  primary key (category_id, status)
) with (fillfactor = 70);

comment on table pet_counts_by_category is 'The sum of the folded deltas of each category and status';

create table pet_counts (
  count bigint not null,
  status pet_status primary key
) with (fillfactor = 50);

comment on table pet_counts is 'The sum of the folded deltas of each status';

insert into pet_counts (status, count) select status, 0 from unnest(enum_range(null::pet_status)) as known (status);

create table pet_count_position (
  is_only boolean primary key default true check (is_only),
  transaction_id xid8 not null,
  id bigint not null,
  server_started_at timestamptz not null,
  folded_at timestamptz not null
) with (fillfactor = 50);

comment on table pet_count_position is 'One row: all deltas up to this position are folded. Reads skip them, so that counting stays cheap even while an old snapshot, such as that of an export, prevents vacuum from removing them. The position is valid only until the server restarts: later, for example after the restore of a dump, it may come from a server with other transaction ids';

insert into pet_count_position (transaction_id, id, server_started_at, folded_at)
values ('0', 0, '-infinity', '-infinity');

-- Returns the deltas after the position, and finds them by the index. A scan of the table would also read all folded
-- deltas that vacuum cannot remove yet. For 4 million such deltas, a scan takes a third of a second. A "stable"
-- function uses the snapshot of the statement that calls it, so that the deltas match the sums that the same statement
-- reads.
create function unfolded_pet_counts() returns table (category_id bigint, status pet_status, delta bigint)
language plpgsql stable set enable_seqscan = off set jit = off as $$
declare
  folded_transaction_id xid8;
  folded_id bigint;
begin
  select position.transaction_id, position.id into folded_transaction_id, folded_id
  from pet_count_position as position
  where position.is_only and position.server_started_at = pg_postmaster_start_time();
  return query
  select deltas.category_id, deltas.status, deltas.delta
  from pet_count_deltas as deltas
  where (deltas.transaction_id, deltas.id) > (coalesce(folded_transaction_id, '0'), coalesce(folded_id, 0));
end $$;

-- The trigger record_created of 0005_events.sql counts inserted pets.
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

create trigger count_deleted after delete on pets
  referencing old table as deleted for each statement execute function count_deleted_pets();
create trigger count_updated after update on pets
  referencing old table as before new table as after for each statement execute function count_updated_pets();
create trigger count_truncated after truncate on pets
  for each statement execute function count_truncated_pets();

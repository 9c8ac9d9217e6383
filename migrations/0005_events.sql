-- Events: every change to a pet or an order, in one order that all readers see alike.
-- docs/decisions/0010-event-feed.md explains the choices.
--
-- Triggers write the events of a statement into `outbox`, in the transaction of the change. Commit order differs from
-- the order of outbox ids, so a reader of "ids above the last one" would skip events. The sequencer
-- (src/events/feed/queries.ts) therefore numbers the visible outbox rows in `event_numbers`. Readers follow these numbers.

create type event_type as enum (
  'pet.created', 'pet.updated', 'pet.deleted', 'order.placed', 'order.updated', 'order.completed', 'order.cancelled',
  'order.expired', 'order.entry_added', 'pet.profile_updated'
);

create table outbox (
  -- Must be drawn while the transaction holds the lock of the changed pet. The events of a pet then have ascending ids,
  -- and a snapshot that shows one of them shows all earlier ones.
  id bigint primary key generated always as identity (cache 1),
  at timestamptz not null default clock_timestamp(),
  type event_type not null,
  count integer not null,
  pet_ids bigint[] not null,
  -- The pets after the change; null in events of other types and of deleted pets.
  category_ids bigint[],
  statuses pet_status[],
  names text[],
  -- Which fields an update changed: 1 name, 2 category, 4 status, and sums of these.
  changed smallint[],
  -- The whole profiles after the change, in the form of the API. Null in events of other types.
  profiles jsonb[],
  -- The actor of each event. Without a request id, the change was made by hand in SQL.
  actor_ids bigint[],
  request_ids text[],
  -- The orders after the change.
  order_states jsonb[],
  -- The new entries of the ledger, with amounts as text.
  entries jsonb[]
)
-- Up to this size, PostgreSQL neither compresses a row nor splits it, which took 3 µs per created pet.
with (toast_tuple_target = 8160);

comment on table outbox is 'Events as the triggers write them. One row has the events of one statement, at most 1,000: one array element per event. A row is never changed';

create table event_numbers (
  first_number bigint primary key,
  outbox_id bigint,
  -- The state: all outbox ids up to `scanned_to` are numbered, except those in `gaps`. They belong to transactions that
  -- were in flight or were rolled back. Once all transactions before `gaps_end_at` have ended, the ids that are still
  -- missing were rolled back.
  scanned_to bigint,
  gaps_end_at xid8,
  gaps int8multirange,
  count integer not null,
  -- Null for a number without an event.
  type event_type
);

comment on table event_numbers is 'The numbers of the events of an outbox row: `count` numbers from `first_number`. The last row of each run of the sequencer also has the sequencer''s state: in a row of its own, each run would leave a dead version, which vacuum cannot remove during a long export. Rows are only appended, and deleted at the end of their retention';

create index event_numbers_by_type on event_numbers (type, first_number);

create table event_epochs (
  id bigint primary key generated always as identity,
  epoch text collate "C" not null unique default substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
  -- The events of the epoch have numbers above this one.
  after_number bigint not null,
  -- Whether the catalogue was empty at the start: the events of the epoch then describe the whole catalogue.
  starts_empty boolean not null,
  started_at timestamptz not null default now()
);

comment on table event_epochs is 'The newest row is the epoch. Positions in the feed are `<epoch>-<number>`, and those of earlier epochs are invalid. A restored backup reuses numbers for other events, so a new epoch must follow. Epochs are random, so that a backup cannot bring one back';

-- The number 1 has no event.
insert into event_numbers (first_number, count, scanned_to, gaps, gaps_end_at) values (1, 1, 0, '{}', '0');
insert into event_epochs (after_number, starts_empty) values (1, true);

create function event_actor_id() returns bigint language sql stable
  return nullif(current_setting('petstore.actor_id', true), '')::bigint;
create function event_request_id() returns text language sql stable
  return nullif(current_setting('petstore.request_id', true), '');

-- Who makes the changes of a statement that serves several requests: for each of its pets, the actor and the request. The arrays
-- are null for a statement with one actor.
create function event_actors() returns table (pet_ids bigint[], actor_ids bigint[], request_ids text[]) language sql stable
begin atomic
  select nullif(current_setting('petstore.pet_ids', true), '')::bigint[],
    nullif(current_setting('petstore.actor_ids', true), '')::bigint[],
    nullif(current_setting('petstore.request_ids', true), '')::text[];
end;

-- Also counts the pets, because a second trigger took 3 µs more per created pet. Most statements insert at most 1,000
-- pets and need no parts.
create function record_created_pets() returns trigger language plpgsql as $$
declare
  inserted_count bigint := (select count(*) from inserted);
begin
  if inserted_count = 0 then
    return null;
  end if;
  insert into pet_count_deltas (category_id, status, delta)
  select category_id, status, count(*) from inserted group by category_id, status;
  if inserted_count <= 1000 then
    insert into outbox (type, count, pet_ids, category_ids, statuses, names, actor_ids, request_ids)
    select 'pet.created', count(*), array_agg(id), array_agg(category_id), array_agg(status), array_agg(name),
      array_agg(created_by), array_agg(request_id)
    from inserted;
  else
    insert into outbox (type, count, pet_ids, category_ids, statuses, names, actor_ids, request_ids)
    select 'pet.created', count(*), array_agg(id), array_agg(category_id), array_agg(status), array_agg(name),
      array_agg(created_by), array_agg(request_id)
    from (select *, (row_number() over () - 1) / 1000 as part from inserted) as pets
    group by part;
  end if;
  return null;
end $$;

create function record_deleted_pets() returns trigger language plpgsql as $$
begin
  insert into outbox (type, count, pet_ids, actor_ids, request_ids)
  select 'pet.deleted', count(*), array_agg(id), array_agg(event_actor_id()), array_agg(event_request_id())
  from (select id, (row_number() over () - 1) / 1000 as part from deleted) as pets
  group by part;
  return null;
end $$;

-- An update of the id, which only SQL by hand can do, deletes one pet and creates another.
create function record_updated_pets() returns trigger language plpgsql as $$
declare
  made record;
begin
  select * into made from event_actors();
  insert into outbox (type, count, pet_ids, category_ids, statuses, names, changed, actor_ids, request_ids)
  select type, count(*), array_agg(id), array_agg(category_id), array_agg(status), array_agg(name),
    array_agg(changed),
    array_agg(case when made.pet_ids is null then event_actor_id() else made.actor_ids[array_position(made.pet_ids, id)] end),
    array_agg(case when made.pet_ids is null then event_request_id() else made.request_ids[array_position(made.pet_ids, id)] end)
  from (
    select *, (row_number() over (partition by type) - 1) / 1000 as part
    from (
      select id, after.category_id, after.status, after.name,
        case when before.version is null then 'pet.created' when after.version is null then 'pet.deleted'
          else 'pet.updated' end::event_type as type,
        case when before.name <> after.name then 1 else 0 end
          + case when before.category_id <> after.category_id then 2 else 0 end
          + case when before.status <> after.status then 4 else 0 end as changed
      from before full join after using (id)
    ) as pets
    where type <> 'pet.updated' or changed > 0
  ) as parts
  group by type, part;
  return null;
end $$;

-- TRUNCATE fires no other trigger and waits for all transactions that use the table. The events that are not numbered
-- yet describe pets that no longer exist, so they get no number.
create function record_truncated_pets() returns trigger language plpgsql as $$
declare
  last_outbox_id bigint;
  last_number bigint;
begin
  perform pg_advisory_xact_lock(hashtext('petstore sequence events'));
  select case when is_called then last_value else 0 end into last_outbox_id from outbox_id_seq;
  select first_number + count into last_number from event_numbers order by first_number desc limit 1;
  insert into event_numbers (first_number, count, scanned_to, gaps, gaps_end_at)
  values (last_number, 1, last_outbox_id, '{}', '0');
  insert into event_epochs (after_number, starts_empty) values (last_number, true);
  return null;
end $$;

create trigger record_created after insert on pets
  referencing new table as inserted for each statement execute function record_created_pets();
create trigger record_deleted after delete on pets
  referencing old table as deleted for each statement execute function record_deleted_pets();
create trigger record_updated after update on pets
  referencing old table as before new table as after for each statement execute function record_updated_pets();
create trigger record_truncated after truncate on pets
  for each statement execute function record_truncated_pets();

-- The price is text, because a JSON number would lose its decimal places. Fields of one word have the names of their columns.
-- Without an actor of the statement, a profile that was written together with its new pet has that of the pet: one statement
-- creates pets for several callers.
create function record_written_profiles() returns trigger language plpgsql as $$
begin
  insert into outbox (type, count, pet_ids, profiles, actor_ids, request_ids)
  select 'pet.profile_updated', count(*), array_agg(pet_id), array_agg(profile), array_agg(actor_id), array_agg(request_id)
  from (
    select pet_id, (row_number() over () - 1) / 1000 as part,
      coalesce(event_actor_id(), case when is_new then created_by end) as actor_id,
      coalesce(event_request_id(), case when is_new then pets.request_id end) as request_id,
      jsonb_strip_nulls(to_jsonb(written) - '{pet_id, version, born_on, chip_number}'::text[]
        || jsonb_build_object('price', price::text, 'bornOn', born_on, 'chipNumber', chip_number)) as profile
    from written join pets on pets.id = pet_id
    cross join lateral (select pets.created_at = now()) as creation (is_new)
  ) as profiles
  group by part;
  return null;
end $$;

create trigger record_inserted_profiles after insert on pet_profiles
  referencing new table as written for each statement execute function record_written_profiles();
create trigger record_updated_profiles after update on pet_profiles
  referencing new table as written for each statement execute function record_written_profiles();

-- Without a cast from text, which would keep PostgreSQL from inlining it: 60 µs per call.
create function order_event_type(status order_status) returns event_type language sql immutable
  return case status when 'open' then 'order.placed'::event_type when 'completed' then 'order.completed'::event_type
    when 'cancelled' then 'order.cancelled'::event_type else 'order.expired'::event_type end;

-- place_orders() has locked the pets. An order that SQL by hand inserts locks its pet only against its deletion: with an id drawn
-- then, "order.placed" could come before an older change of the pet.
create function record_placed_orders() returns trigger language plpgsql as $$
declare
  made record;
begin
  select * into made from event_actors();
  if made.pet_ids is null then
    perform from pets where id = any(array(select pet_id from placed)) order by id for update;
  end if;
  insert into outbox (type, count, pet_ids, actor_ids, request_ids, order_states)
  select type, count(*), array_agg(pet_id),
    array_agg(case when made.pet_ids is null then event_actor_id() else made.actor_ids[array_position(made.pet_ids, pet_id)] end),
    array_agg(case when made.pet_ids is null then event_request_id() else made.request_ids[array_position(made.pet_ids, pet_id)] end),
    array_agg(order_state)
  from (
    select order_event_type(status) as type, pet_id, to_jsonb(placed) as order_state, (row_number() over () - 1) / 1000 as part
    from placed
  ) as parts
  group by type, part;
  return null;
end $$;

-- A transaction that changes or ends an order has locked its pet.
create function record_changed_orders() returns trigger language plpgsql as $$
declare
  made record;
begin
  select * into made from event_actors();
  insert into outbox (type, count, pet_ids, actor_ids, request_ids, order_states)
  select type, count(*), array_agg(pet_id),
    array_agg(case when made.pet_ids is null then event_actor_id() else made.actor_ids[array_position(made.pet_ids, pet_id)] end),
    array_agg(case when made.pet_ids is null then event_request_id() else made.request_ids[array_position(made.pet_ids, pet_id)] end),
    array_agg(order_state)
  from (
    select case when before.status = after.status then 'order.updated' else order_event_type(after.status) end as type,
      after.pet_id, to_jsonb(after) as order_state, (row_number() over () - 1) / 1000 as part
    from before join after using (id)
    where (before.status, before.note, before.expires_at) is distinct from (after.status, after.note, after.expires_at)
  ) as parts
  group by type, part;
  return null;
end $$;

create trigger record_placed after insert on orders
  referencing new table as placed for each statement execute function record_placed_orders();
create trigger record_changed after update on orders
  referencing old table as before new table as after for each statement execute function record_changed_orders();

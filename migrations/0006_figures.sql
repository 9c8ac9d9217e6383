-- Figures per day: how many pets were added and sold. The trigger counts events when the sequencer numbers them, in the
-- same transaction. Each event is therefore counted once.

-- Only the sequencer writes the current row. Each run leaves a dead version of it, so half of each page stays free.
create table pet_figures (
  starts_at timestamptz primary key,
  added bigint not null,
  sold bigint not null
) with (fillfactor = 50);

comment on table pet_figures is 'How many pets were added and sold in each quarter of an hour. The offset of every time zone is a multiple of that, so the sum over a day is exact in every time zone';

create table pet_figures_start (
  is_only boolean primary key default true check (is_only),
  counted_since timestamptz not null
);

comment on table pet_figures_start is 'One row: since when all events are counted';

insert into pet_figures_start (counted_since) select started_at from event_epochs;

-- "limit 1" makes PostgreSQL look up single outbox rows, whatever number of rows it expects. 4 stands for the status in
-- `changed`.
create function count_numbered_events() returns trigger language plpgsql as $$
begin
  insert into pet_figures as figures (starts_at, added, sold)
  select date_bin('15 minutes', change.at, '2000-01-01 00:00:00+00'), sum(change.added), sum(change.sold)
  from numbered
  cross join lateral (
    select at,
      case when type = 'pet.created' then count else 0 end as added,
      case when type = 'pet.updated' then (
        select count(*) from unnest(statuses, changed) as pets (status, changed)
        where pets.status = 'sold' and pets.changed & 4 > 0
      ) else 0 end as sold
    from outbox where outbox.id = numbered.outbox_id limit 1
  ) as change
  where numbered.type in ('pet.created', 'pet.updated')
  group by 1
  having sum(change.added) + sum(change.sold) > 0
  order by 1
  on conflict (starts_at) do update set added = figures.added + excluded.added, sold = figures.sold + excluded.sold;
  return null;
end $$;

create trigger count_numbered after insert on event_numbers
  referencing new table as numbered for each statement execute function count_numbered_events();

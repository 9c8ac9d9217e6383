-- Counts the events that were numbered before the trigger of 0008_figures.sql. This takes longer than that migration can
-- hold the sequencer's lock, and needs no lock: the numbers below `first_number` are fixed.

insert into pet_figures as figures (starts_at, added, sold)
select date_bin('15 minutes', outbox.at, '2000-01-01 00:00:00+00'),
  sum(case when outbox.type = 'pet.created' then outbox.count else 0 end),
  sum(case when outbox.type = 'pet.updated' then (
    select count(*) from unnest(outbox.statuses, outbox.changed) as pets (status, changed)
    where pets.status = 'sold' and pets.changed & 4 > 0
  ) else 0 end)
from event_numbers
join outbox on outbox.id = event_numbers.outbox_id
where event_numbers.first_number < (select first_number from pet_figures_start)
  and event_numbers.type in ('pet.created', 'pet.updated')
group by 1
order by 1
on conflict (starts_at) do update set added = figures.added + excluded.added, sold = figures.sold + excluded.sold;

-- The first event has the number 2. If it is still stored, all events since the start of the feed were counted.
-- Otherwise, older ones were deleted: the first complete quarter of an hour starts after the oldest one.
update pet_figures_start set counted_since = least(counted_since, coalesce(
  (
    select case when event_numbers.first_number <= 2 then (select min(started_at) from event_epochs)
      else date_bin('15 minutes', outbox.at, '2000-01-01 00:00:00+00') + interval '15 minutes' end
    from event_numbers
    left join outbox on outbox.id = event_numbers.outbox_id
    order by event_numbers.first_number
    limit 1
  ),
  counted_since
));

// What can be wrong with the tables of the feed, for `petstore verify`. migrations/0005_events.sql explains the tables.
import { EPOCH_START, NEWEST_NUMBER } from './queries.ts'

export interface FeedFault {
  fault: string
  /** A statement that returns the column `id` of every row that has the fault. */
  text: string
  /** Readers cannot read events of earlier epochs, so a new epoch fixes damaged events. */
  isFixedByNewEpoch: boolean
}

/** An array of a row has one element per event, or is null. */
const arraysDiffer =
  'pet_ids category_ids statuses names changed profiles actor_ids request_ids order_states entries'
    .split(' ')
    .map((column) => `cardinality(outbox.${column}) <> outbox.count`)
    .join(' or ')

export const FEED_FAULTS: readonly FeedFault[] = [
  {
    fault: 'a feed without its state or its epoch, in the table',
    isFixedByNewEpoch: false,
    text: `select 'event_numbers' as id
        where (select scanned_to from event_numbers order by first_number desc limit 1) is null
      union all select 'event_epochs' where not exists (select from event_epochs)`,
  },
  {
    fault: 'an epoch that starts after the newest event',
    isFixedByNewEpoch: true,
    text: `select epoch as id from event_epochs
      where id = (select max(id) from event_epochs) and after_number > ${NEWEST_NUMBER}`,
  },
  {
    fault: 'a gap in the numbers of events, before the number',
    isFixedByNewEpoch: true,
    text: `select first_number as id from (
        select first_number, lag(first_number + count) over (order by first_number) as expected from event_numbers
      ) as numbers
      where first_number > ${EPOCH_START} and first_number <> expected`,
  },
  {
    fault: 'a number of an event without its outbox row',
    isFixedByNewEpoch: true,
    text: `select numbers.first_number as id from event_numbers as numbers
      left join outbox on outbox.id = numbers.outbox_id
      where numbers.first_number > ${EPOCH_START} and numbers.outbox_id is not null and outbox.id is null`,
  },
  {
    fault: 'a number of an event that differs from its outbox row',
    isFixedByNewEpoch: true,
    text: `select numbers.first_number as id from event_numbers as numbers
      join outbox on outbox.id = numbers.outbox_id
      where numbers.first_number > ${EPOCH_START}
        and (numbers.count <> outbox.count or numbers.type is distinct from outbox.type or ${arraysDiffer})`,
  },
  {
    fault: 'an outbox row with two numbers',
    isFixedByNewEpoch: true,
    text: `select outbox_id as id from event_numbers
      where first_number > ${EPOCH_START} and outbox_id is not null
      group by outbox_id having count(*) > 1`,
  },
  {
    // TRUNCATE leaves rows without a number: their ids are at or below the state that it adds. Rows at or below the
    // oldest stored state may be older than that.
    fault: 'an outbox row that got no number',
    isFixedByNewEpoch: true,
    text: `select outbox.id from outbox
      left join event_numbers as numbers on numbers.outbox_id = outbox.id
      cross join (
        select scanned_to, gaps from event_numbers order by first_number desc limit 1
      ) as state
      where numbers.first_number is null and outbox.id <= state.scanned_to and not outbox.id <@ state.gaps
        and outbox.id > (select min(scanned_to) from event_numbers)
        and outbox.id > coalesce((select max(scanned_to) from event_numbers where outbox_id is null), 0)
        and outbox.id > coalesce((select max(scanned_to) from event_numbers where first_number <= ${EPOCH_START}), 0)`,
  },
  {
    fault: 'an outbox row with an actor that does not exist',
    isFixedByNewEpoch: false,
    text: `select outbox_id as id from (
        select distinct id as outbox_id, unnest(actor_ids) as actor_id from outbox
      ) as made
      left join actors on actors.id = actor_id
      where actor_id is not null and actors.id is null`,
  },
  {
    fault: 'an entry of the ledger without its event',
    isFixedByNewEpoch: true,
    text: `select entries.id from entries
      left join (
        select (entry ->> 'id')::bigint as id from outbox cross join unnest(outbox.entries) as entry
        where type = 'order.entry_added'
      ) as events on events.id = entries.id
      where order_id is not null and entries.at > (select min(at) from outbox) and events.id is null`,
  },
]

// SQL statements on the event feed. migrations/0007_events.sql explains the tables.
// Knows nothing about HTTP.
import type { Reader, Tx, Writer } from '../db/database.ts'
import type { PetStatus } from '../pet-status.ts'
import type { EventType } from './schema.ts'

/** Max outbox rows that one run of the sequencer numbers. A row holds up to 1,000 events. */
const ROWS_PER_RUN = 2_000

/** The newest row of event_numbers, which holds the state of the sequencer. */
const STATE = `select first_number + count as next_number, scanned_to, gaps, gaps_end_at
  from event_numbers order by first_number desc limit 1`

/** The outbox rows that have no number yet. A gap is filled when its transaction commits. */
const UNNUMBERED = `select filled.id, filled.type, filled.count, filled.at
    from state cross join unnest(state.gaps) as gap
    cross join lateral (
      select id, type, count, at from outbox where id >= lower(gap) and id < upper(gap) order by id
    ) as filled
  union all
  (
    select id, type, count, at from outbox
    where id > (select scanned_to from state)
    order by id
    limit ${ROWS_PER_RUN}
  )`

export interface FeedState {
  epoch: string
  /** The number of the newest event. */
  head: bigint
  /** Age of the oldest change that has no number yet, in seconds; null if all changes have one. */
  unnumberedSeconds: number | null
}

/** Returns the state of the feed. Each process calls this many times a second. It reads a few index entries. */
export async function findFeedState(db: Reader): Promise<FeedState> {
  const [row] = await db.read<FeedState>({
    name: 'find_feed_state',
    text: `with state as materialized (${STATE})
      select state.next_number - 1 as head,
        (select epoch from event_epochs order by id desc limit 1) as epoch,
        extract(epoch from clock_timestamp() - (
          select at from (${UNNUMBERED}) as unnumbered order by id limit 1
        ))::float8 as "unnumberedSeconds"
      from state`,
    values: [],
  })
  return row as FeedState
}

/** Only one process numbers events at a time. Returns false while another process does. */
export async function tryLockSequencer(tx: Tx): Promise<boolean> {
  const [row] = await tx.read<{ locked: boolean }>({
    name: 'lock_sequencer',
    text: `select pg_try_advisory_xact_lock(hashtext('petstore sequence events')) as locked`,
    values: [],
  })
  return row?.locked === true
}

/**
 * Numbers the visible outbox rows, in the order of their ids; returns how many rows it numbered. The transaction must
 * hold the sequencer's lock and must not have a transaction id yet. PostgreSQL then assigns the id during this
 * statement, after its snapshot. Every transaction that has drawn one of the missing outbox ids has a lower id.
 */
export async function numberEvents(tx: Tx): Promise<number> {
  const rows = await tx.write({
    name: 'number_events',
    text: `with state as materialized (${STATE}), unnumbered as materialized (${UNNUMBERED}
      ), taken as materialized (
        select id, type, count from unnumbered order by id limit ${ROWS_PER_RUN}
      ), reached as materialized (
        select greatest(state.scanned_to, max(taken.id)) as id,
          range_agg(int8range(taken.id, taken.id, '[]')) as ids,
          -- A backup that was restored on another server may bring a transaction id that this server has not reached.
          (select count(*) from unnumbered) <= ${ROWS_PER_RUN} and (
            pg_snapshot_xmin(pg_current_snapshot()) >= state.gaps_end_at
            or pg_snapshot_xmax(pg_current_snapshot()) <= state.gaps_end_at
          ) as gaps_have_ended
        from state cross join taken
        group by state.scanned_to, state.gaps_end_at
      )
      insert into event_numbers (first_number, outbox_id, type, count, scanned_to, gaps, gaps_end_at)
      select state.next_number + sum(taken.count) over (order by taken.id) - taken.count,
        taken.id, taken.type, taken.count, kept.scanned_to, kept.gaps, kept.gaps_end_at
      from taken
      cross join state
      left join lateral (
        select reached.id as scanned_to, pg_current_xact_id() as gaps_end_at,
          case when reached.gaps_have_ended then '{}' else state.gaps end
            + int8multirange(int8range(state.scanned_to, reached.id, '(]')) - reached.ids as gaps
        from reached
      ) as kept on taken.id = (select max(id) from taken)
      returning 1`,
    values: [],
  })
  return rows.length
}

export interface EventRow {
  number: bigint
  type: EventType
  at: Date
  petId: bigint
  name: string | null
  categoryId: bigint | null
  status: PetStatus | null
  /** Sum of 1 (name), 2 (category) and 4 (status). */
  changed: number | null
  apiKeyId: bigint | null
  apiKeyName: string | null
  requestId: string | null
  orderState: string | null
  orderPlacedBy: string | null
}

export interface EventsPage {
  epoch: string
  /** The epoch starts after this number. */
  afterNumber: bigint
  startsEmpty: boolean
  /** The oldest number that is still stored. */
  oldest: bigint
  head: bigint
  rows: EventRow[]
}

/**
 * Returns up to `max` events of these types after the number, and the state of the feed in the same snapshot. Each type
 * is one range of the index. A plain filter on the type would scan all events between two rare ones.
 */
export async function findEvents(
  db: Reader,
  types: readonly EventType[],
  after: bigint,
  max: number,
): Promise<EventsPage> {
  const rows = await db.read<Omit<EventsPage, 'rows'> & Partial<EventRow>>({
    name: 'find_events',
    text: `with state as materialized (
        select first_number + count - 1 as head from event_numbers order by first_number desc limit 1
      ), spans as materialized (
        select span.first_number, span.outbox_id,
          sum(span.count) over (order by span.first_number) - span.count as events_before
        from unnest($1::event_type[]) as wanted (type)
        cross join lateral (
          -- The page may start within the events of a row.
          select first_number, outbox_id, count from (
            select first_number, outbox_id, count from event_numbers
            where event_numbers.type = wanted.type and first_number <= $2
            order by first_number desc
            limit 1
          ) as last
          where first_number + count - 1 > $2
          union all
          (
            select first_number, outbox_id, count from event_numbers
            where event_numbers.type = wanted.type and first_number > $2
            order by first_number
            limit $3
          )
        ) as span
      ), events as materialized (
        select spans.first_number + event.position - 1 as number, outbox.type, outbox.at, event.pet_id as "petId",
          event.name, event.category_id as "categoryId", event.status, event.changed,
          event.api_key_id as "apiKeyId", event.request_id as "requestId", outbox.order_state
        from spans
        join outbox on outbox.id = spans.outbox_id
        cross join lateral unnest(outbox.pet_ids, outbox.names, outbox.category_ids, outbox.statuses, outbox.changed,
            outbox.api_key_ids, outbox.request_ids)
          with ordinality as event (pet_id, name, category_id, status, changed, api_key_id, request_id, position)
        -- The first span may start up to 1,000 events before the page.
        where spans.events_before < $3 + 1000 and spans.first_number + event.position - 1 > $2
        order by number
        limit $3
      )
      select epoch.epoch, epoch.after_number as "afterNumber", epoch.starts_empty as "startsEmpty", state.head,
        (select first_number from event_numbers order by first_number limit 1) as oldest,
        events.number, events.type, events.at, events."petId", events.name, events."categoryId", events.status,
        events.changed, events."apiKeyId", events."requestId", actor.name as "apiKeyName",
        events.order_state::text as "orderState", buyer.name as "orderPlacedBy"
      from state
      cross join (
        select epoch, after_number, starts_empty from event_epochs order by id desc limit 1
      ) as epoch
      left join events on true
      left join api_keys as actor on actor.id = events."apiKeyId"
      left join api_keys as buyer on buyer.id = (events.order_state ->> 'placed_by')::bigint
      order by events.number`,
    values: [types, after, max],
  })
  const [{ epoch, afterNumber, startsEmpty, oldest, head }] = rows as [EventsPage]
  const found = rows.filter(({ number }) => number !== null) as EventRow[]
  return { epoch, afterNumber, startsEmpty, oldest, head, rows: found }
}

/** Starts a new epoch: all positions that readers hold become invalid. Returns its name. */
export async function insertEpoch(db: Writer): Promise<string> {
  const [row] = await db.write<{ epoch: string }>({
    name: 'insert_epoch',
    text: `insert into event_epochs (after_number, starts_empty)
      select first_number + count - 1, not exists (select from pets)
      from event_numbers order by first_number desc limit 1
      returning epoch`,
    values: [],
  })
  return (row as { epoch: string }).epoch
}

/**
 * Deletes up to `max` of the oldest numbers, with their outbox rows, until it meets an event within the retention.
 * Returns how many it deleted. Keeps the newest number, because it holds the state of the sequencer.
 */
export async function deleteOldEvents(db: Writer, retentionSeconds: number, max: number): Promise<number> {
  const rows = await db.write({
    name: 'delete_old_events',
    text: `with oldest as materialized (
        select numbers.first_number, numbers.outbox_id,
          bool_and(coalesce(outbox.at <= now() - make_interval(secs => $1), true)) over (order by first_number) as is_old
        from (select first_number, outbox_id from event_numbers order by first_number limit $2) as numbers
        left join outbox on outbox.id = numbers.outbox_id
        where numbers.first_number < (select max(first_number) from event_numbers)
      ), deleted as (
        delete from outbox where id = any(array(select outbox_id from oldest where is_old))
      )
      delete from event_numbers where first_number = any(array(select first_number from oldest where is_old))
      returning 1`,
    values: [retentionSeconds, max],
    isIdempotent: true,
  })
  return rows.length
}

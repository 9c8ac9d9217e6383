// SQL statements on the event feed. migrations/0005_events.sql explains the tables.
import type { PetStatus } from '../../contract/pet-status.ts'
import type { ProfileFields } from '../../contract/profile-fields.ts'
import type { Reader, Tx, Writer } from '../../db/database.ts'
import { BARRIER, INCARNATION } from '../../db/failover/incarnation.ts'
import { INT64_MAX } from '../../values/int64.ts'
import type { EventType } from './schema.ts'

/** Max outbox rows that one run of the sequencer numbers. */
export const ROWS_PER_RUN = 2_000
/** Max events in one outbox row. The triggers split larger statements. */
const EVENTS_PER_ROW_MAX = 1_000

/** SQL of the current epoch, of the number before its first event, and of the number of the newest event. */
export const CURRENT_EPOCH = '(select epoch from event_epochs order by id desc limit 1)'
export const EPOCH_START = '(select after_number from event_epochs order by id desc limit 1)'
export const NEWEST_NUMBER =
  '(select first_number + count - 1 from event_numbers order by first_number desc limit 1)'

/** SQL of the text of the newest position; see format.ts. */
export const NEWEST_POSITION = `${CURRENT_EPOCH} || '-' || ${NEWEST_NUMBER}`
/** SQL of the time of the newest change, which may have no number yet. */
export const NEWEST_CHANGE_AT = '(select at from outbox order by id desc limit 1)'
/** SQL of the highest outbox id ever used. The sequencer never numbers an id that it has scanned, also of a deleted row. */
export const NEWEST_OUTBOX_ID =
  'greatest((select max(id) from outbox), (select max(scanned_to) from event_numbers))'

/** SQL of the epoch of an event. */
export const epochOf = (number: string) =>
  `(select epoch from event_epochs where after_number < ${number} order by id desc limit 1)`

/** The newest row of event_numbers, which holds the state of the sequencer. */
const STATE = `select first_number + count as next_number, scanned_to, gaps, gaps_end_at
  from event_numbers order by first_number desc limit 1`

/**
 * The outbox rows that have no number yet, in no particular order: up to `max` after the scanned ids, and one more than
 * `max` in each gap. A gap is filled when its transaction commits.
 */
const unnumbered = (max: number) => `select filled.id, filled.type, filled.count, filled.at
    from state cross join unnest(state.gaps) as gap
    cross join lateral (
      select id, type, count, at from outbox where id >= lower(gap) and id < upper(gap) order by id limit ${max + 1}
    ) as filled
  union all
  (
    select id, type, count, at from outbox
    where id > (select scanned_to from state)
    order by id
    limit ${max}
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
        ${CURRENT_EPOCH} as epoch,
        extract(epoch from clock_timestamp() - (
          select at from (${unnumbered(1)}) as oldest order by id limit 1
        ))::float8 as "unnumberedSeconds"
      from state`,
    values: [],
  })
  return row as FeedState
}

/** Only one process numbers events at a time. Returns false while another process does. */
export async function tryLockSequencer(tx: Tx): Promise<boolean> {
  const [row] = await tx.read<{ locked: boolean }>({
    name: 'try_lock_sequencer',
    bounded: 'without a table',
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
    text: `with state as materialized (${STATE}), unnumbered as materialized (${unnumbered(ROWS_PER_RUN)}
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
  /** The whole profile after the change. */
  profile: ProfileFields | null
  actor: string | null
  requestId: string | null
  orderState: string | null
  orderPlacedBy: string | null
  /** As text: as a number of the state, it would lose its decimal places. */
  orderPrice: string | null
  /** The new entry of the ledger, as JSON. */
  entry: string | null
  entrySeller: string | null
}

export interface EventsPage {
  epoch: string
  /** The epoch starts after this number. */
  afterNumber: bigint
  startsEmpty: boolean
  /** The server that returned the page; null if its commits wait for no standby. */
  server: string | null
  /** Whether all events after the number are still stored. */
  isStored: boolean
  head: bigint
  /** Whether the page ends at a limit: more events may follow the last row. Otherwise, it has all of them up to `head`. */
  isFull: boolean
  /** About the size of the rows. */
  bytes: number
  rows: EventRow[]
}

/** The state of the feed with an event. If the page is empty, all columns of the event are null. */
type PageRow = Omit<EventsPage, 'rows' | 'isFull' | 'bytes'> & {
  [Column in keyof (EventRow & Sized)]: (EventRow & Sized)[Column] | null
}

/** The size of this event and of those before it on the page. */
interface Sized {
  bytes: number
}

const hasEvent = (row: PageRow): row is PageRow & EventRow & Sized => row.number !== null

/** The state of the feed for a page of events after the number $2. */
const PAGE_STATE = `select feed.*, exists (
    -- Numbers have no gaps, and the oldest are deleted first.
    select from event_numbers
    where first_number > feed.number - ${EVENTS_PER_ROW_MAX} and first_number <= least(feed.number, feed.head) + 1
  ) as is_stored
  from (
    select epoch, after_number, starts_empty, greatest(after_number, $2) as number,
      ${NEWEST_NUMBER} as head,
      case when current_setting('synchronous_standby_names') <> '' then ${INCARNATION} end as server
    from event_epochs order by id desc limit 1
  ) as feed`

/**
 * Rows of event_numbers that contain the events of the page: of the types $1, after the number of the state, $3 at most.
 *
 * Each type is one range of the index on types. The row comparisons rule out the index on numbers, with which PostgreSQL
 * would read all events between two rare ones. Rows that the retention has deleted stay in the indexes until vacuum
 * removes them, so no range reaches into them.
 */
const PAGE_SPANS = `select span.first_number, span.outbox_id,
    sum(span.wanted) over (order by span.first_number) - span.wanted as events_before
  from state
  cross join unnest($1::event_type[]) as wanted (type)
  cross join lateral (
    -- The page may start within the events of a row.
    select first_number, outbox_id, first_number + count - 1 - state.number as wanted from (
      select first_number, outbox_id, count from event_numbers
      where (event_numbers.type, first_number) > (wanted.type, state.number - ${EVENTS_PER_ROW_MAX})
        and (event_numbers.type, first_number) <= (wanted.type, state.number)
      order by event_numbers.type desc, first_number desc
      limit 1
    ) as last
    where first_number + count - 1 > state.number
    union all
    (
      select first_number, outbox_id, count as wanted from event_numbers
      where (event_numbers.type, first_number) > (wanted.type, state.number)
        and (event_numbers.type, first_number) <= (wanted.type, ${INT64_MAX})
      order by event_numbers.type, first_number
      limit $3
    )
  ) as span
  where state.is_stored`

/** About the bytes of an event in JSON, without its name, profile and order. */
const EVENT_BYTES = 300
/** The bytes of an event. An array has its elements uncompressed. Quotes and line breaks take one byte more in JSON. */
const SIZE = `${EVENT_BYTES} + coalesce(octet_length(event.name), 0) + coalesce(pg_column_size(event.profile), 0)
            + coalesce(pg_column_size(event.order_state), 0) + coalesce(pg_column_size(event.entry), 0)`
const NO_LIMIT = 2 ** 31 - 1

/**
 * Returns up to `max` events of these types after the number, and the state of the feed in the same snapshot. The page ends
 * after the event with which it reaches `maxBytes`. A number below the start of the epoch stands for the start.
 *
 * "limit 1" makes PostgreSQL look up single outbox rows: it expects many rows, because it plans without the value of `max`.
 * The spans are sorted, so that PostgreSQL sorts the events of one row at a time, and keeps only those of the page.
 */
export async function findEvents(
  db: Reader,
  types: readonly EventType[],
  after: bigint,
  max: number,
  maxBytes = NO_LIMIT,
): Promise<EventsPage> {
  const rows = await db.read<PageRow>({
    name: 'find_events',
    text: `with state as materialized (${PAGE_STATE}), spans as materialized (${PAGE_SPANS}), events as materialized (
        select * from (
          select spans.first_number + event.position - 1 as number, change.type, change.at, event.pet_id as "petId",
            event.name, event.category_id as "categoryId", event.status, event.changed, event.profile,
            event.actor_id as "actorId", event.request_id as "requestId", event.order_state, event.entry,
            spans.first_number, event.position, ${SIZE} as size,
            sum(${SIZE}) over (order by spans.first_number, event.position rows unbounded preceding)::int as bytes
          from state
          cross join (
            select first_number, outbox_id from spans where events_before < $3 order by first_number
          ) as spans
          cross join lateral (select * from outbox where outbox.id = spans.outbox_id limit 1) as change
          cross join lateral unnest(change.pet_ids, change.names, change.category_ids, change.statuses, change.changed,
              change.profiles, change.actor_ids, change.request_ids, change.order_states, change.entries)
            with ordinality as event (pet_id, name, category_id, status, changed, profile, actor_id, request_id, order_state, entry,
              position)
          where spans.first_number + event.position - 1 > state.number
        ) as sized
        where bytes - size < $4
        order by first_number, position
        limit $3
      )
      select state.epoch, state.after_number as "afterNumber", state.starts_empty as "startsEmpty", state.head,
        state.is_stored as "isStored", state.server,
        events.number, events.type, events.at, events."petId", events.name, events."categoryId", events.status,
        events.changed, events.profile, events."requestId", events.order_state::text as "orderState",
        events.order_state ->> 'price' as "orderPrice", events.entry::text as entry,
        (select name from actors where id = (events.entry ->> 'seller_id')::bigint) as "entrySeller",
        (select name from actors where id = events."actorId") as "actor",
        (select name from actors where id = (events.order_state ->> 'placed_by')::bigint) as "orderPlacedBy",
        events.bytes
      from state left join events on true
      order by events.number`,
    values: [types, after, max, maxBytes],
  })
  const [{ epoch, afterNumber, startsEmpty, isStored, server, head }] = rows as [PageRow]
  const events = rows.filter(hasEvent)
  const bytes = events.at(-1)?.bytes ?? 0
  const isFull = events.length === max || bytes >= maxBytes
  return { epoch, afterNumber, startsEmpty, isStored, server, head, isFull, bytes, rows: events }
}

/** Makes a commit, which waits for the synchronous standbys. They then have all earlier commits of the returned server. */
export async function commitBarrier(db: Writer): Promise<string | null> {
  const [row] = await db.write<{ server: string | null }>({
    name: 'commit_barrier',
    bounded: 'without a table',
    text: `select ${INCARNATION} as server, ${BARRIER}`,
    values: [],
  })
  return row?.server ?? null
}

/** Starts a new epoch: all positions that readers hold become invalid. Returns its name. */
export async function insertEpoch(db: Writer): Promise<string> {
  const [row] = await db.write<{ epoch: string }>({
    name: 'insert_epoch',
    bounded: 'by the given rows',
    text: `insert into event_epochs (after_number, starts_empty)
      select first_number + count - 1, not exists (select from pets)
      from event_numbers order by first_number desc limit 1
      returning epoch`,
    values: [],
    // A second new epoch does no harm.
    isIdempotent: true,
  })
  return (row as { epoch: string }).epoch
}

export interface Purge {
  deleted: number
  /** All rows below this number were deleted. */
  purgedTo: bigint
}

/**
 * Deletes up to `max` of the oldest numbers, with their outbox rows, until it meets an event within the retention.
 * Keeps the newest number, because it holds the state of the sequencer.
 *
 * `purgedTo` is the result of the previous call. Without it, each call would read all deleted rows that vacuum cannot
 * remove yet. A failover can bring the latest of them back: the statement then starts with the oldest row again, because
 * readers rely on numbers without gaps.
 */
export async function deleteOldEvents(
  db: Writer,
  retentionSeconds: number,
  max: number,
  purgedTo: bigint,
): Promise<Purge> {
  const [row] = await db.write<Purge>({
    name: 'delete_old_events',
    text: `with start as materialized (
        select case when exists (
          select from event_numbers where first_number >= $3::bigint - ${EVENTS_PER_ROW_MAX} and first_number < $3
        ) then 0 else $3 end as number
      ), oldest as materialized (
        select numbers.first_number, numbers.outbox_id,
          bool_and(coalesce(change.at <= now() - make_interval(secs => $1), true)) over (order by first_number) as is_old
        from (
          select first_number, outbox_id from event_numbers
          where first_number >= (select number from start)
          order by first_number
          limit $2
        ) as numbers
        left join lateral (select at from outbox where outbox.id = numbers.outbox_id limit 1) as change on true
        where numbers.first_number < (select first_number from event_numbers order by first_number desc limit 1)
      ), deleted_changes as (
        delete from outbox where id = any(array(select outbox_id from oldest where is_old))
      ), deleted_numbers as (
        delete from event_numbers where first_number = any(array(select first_number from oldest where is_old))
        returning first_number
      )
      select (select count(*) from deleted_numbers)::int as deleted,
        coalesce((select max(first_number) + 1 from oldest where is_old), start.number) as "purgedTo"
      from start`,
    values: [retentionSeconds, max, purgedTo],
    isIdempotent: true,
  })
  return row as Purge
}

/**
 * Returns the events with these numbers, in the same order; undefined for an event that is no longer stored.
 *
 * "||" makes PostgreSQL decompress the long arrays of an outbox row once, instead of once per event: 100 events of one row
 * with 8 MB of profiles took 1,000 ms, and take 50 ms.
 */
export async function findNumberedEvents(
  db: Reader,
  numbers: readonly bigint[],
): Promise<(EventRow | undefined)[]> {
  const rows = await db.read<EventRow>({
    name: 'find_numbered_events',
    bounded: 'by unique keys',
    text: `select spans.first_number + item - 1 as number, change.type, change.at, change.pet_ids[item] as "petId",
        change.names[item] as name, change.category_ids[item] as "categoryId", change.statuses[item] as status,
        change.changed[item] as changed, change.profiles[item] as profile,
        change.request_ids[item] as "requestId",
        change.order_states[item]::text as "orderState", change.order_states[item] ->> 'price' as "orderPrice",
        change.entries[item]::text as entry,
        (select name from actors where id = (change.entries[item] ->> 'seller_id')::bigint) as "entrySeller",
        (select name from actors where id = change.actor_ids[item]) as "actor",
        (select name from actors where id = (change.order_states[item] ->> 'placed_by')::bigint) as "orderPlacedBy"
      from (
        select span.first_number, span.outbox_id,
          array_agg((wanted.number - span.first_number + 1)::int) as items
        from unnest($1::bigint[]) as wanted (number)
        cross join lateral (
          select first_number, outbox_id, count from event_numbers
          where first_number <= wanted.number
          order by first_number desc
          limit 1
        ) as span
        where wanted.number < span.first_number + span.count
        group by span.first_number, span.outbox_id
      ) as spans
      cross join lateral (
        select type, at, pet_ids, category_ids, statuses, changed, actor_ids, request_ids,
          order_states || '{}' as order_states, entries || '{}' as entries, names || '{}' as names, profiles || '{}' as profiles
        from outbox where id = spans.outbox_id limit 1
      ) as change
      cross join lateral unnest(spans.items) as item`,
    values: [numbers],
  })
  const found = new Map(rows.map((row) => [row.number, row]))
  return numbers.map((number) => found.get(number))
}

/** The number before the oldest stored event after `number`; `number` itself if there is none. */
export async function findNumberBeforeStored(db: Reader, number: bigint): Promise<bigint> {
  const [row] = await db.read<{ before: bigint }>({
    name: 'find_number_before_stored',
    bounded: 'by unique keys',
    text: `select first_number - 1 as before from event_numbers where first_number > $1 order by first_number limit 1`,
    values: [number],
  })
  return row?.before ?? number
}

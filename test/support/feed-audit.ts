// Checks whether the event feed describes the store: a mirror that applies every event equals the pets, and every change
// in the history and every order has its event. The store must be quiet.
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import {
  compareOrders,
  comparePets,
  describeProfile,
  describeUpdate,
  type Difference,
  Mirror,
  type MirrorEvent,
  type PetFields,
  type StoredOrder,
  type StoredPet,
} from '../../lab/parts/mirror.ts'
import type { Db } from '../../src/db/database.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { toEvent } from '../../src/events/feed/feed.ts'
import { type EventRow, findEvents, findFeedState } from '../../src/events/feed/queries.ts'
import { EVENT_TYPES } from '../../src/events/feed/schema.ts'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { PROFILE_COLUMNS } from '../../src/store/profiles/queries.ts'
import { sql, TEST_TIMEOUTS, withServerTimeouts } from './database.ts'
import type { RunQuery } from './store-audit.ts'

/** Two readers with different pages must see the same events at the same positions. */
const PAGE_SIZES = [1_000, 701] as const
/** The second reader reads only the newest events of a large feed. */
const COMPARED_MAX = 20_000
const SHOWN_MAX = 5
const NUMBERED_WITHIN_MS = 300_000

/** Returns a description of every inconsistency; empty if the feed is correct. */
export async function auditFeed(databaseUrl: string): Promise<string[]> {
  const db = openDatabase({
    ...TEST_TIMEOUTS,
    databaseUrl: withServerTimeouts(databaseUrl),
    applicationName: 'petstore-audit',
    size: 2,
    onError: () => {},
  })
  try {
    return await auditFeedAfter(db, (text) => sql(databaseUrl, text))
  } finally {
    await db.close()
  }
}

/**
 * Like `auditFeed`, for events after a number at which the catalogue was empty. Default: where the catalogue was last
 * known to be empty, which is its creation or TRUNCATE.
 */
export async function auditFeedAfter(db: Db, run: RunQuery, after?: bigint): Promise<string[]> {
  await numberAllEvents(db)
  const start = after ?? (await findEmptyStart(run))
  if (start === undefined) return ['the feed does not start with an empty catalogue']
  const mirror = new Mirror()
  const misfits: string[] = []
  const seen = await readFeed(db, start, PAGE_SIZES[0], (event) => {
    const fault = mirror.apply(event)
    if (fault !== undefined) misfits.push(fault)
  })
  const skipped = Math.max(0, seen.checksums.length - COMPARED_MAX)
  const seenByOther = await readFeed(db, start + BigInt(skipped), PAGE_SIZES[1])
  const isSame = seen.checksums.slice(skipped).join() === seenByOther.checksums.join()
  return [
    ...shorten('an event that does not fit the state before it', misfits),
    ...seen.faults,
    ...(isSame ? [] : ['two readers saw different events']),
    ...shorten('a pet that differs from its mirror', await comparePetsIn(run, mirror)),
    ...shorten('a pet whose updates differ from its history', await compareHistory(mirror, run)),
    ...shorten('a profile that differs from its events', await compareProfiles(mirror, run)),
    ...shorten('an order that differs from its events', await compareOrdersIn(run, mirror)),
    ...(await auditNumbers(run, start)),
  ]
}

/** The running service may number events at the same time. */
export async function numberAllEvents(db: Db): Promise<void> {
  const giveUpAt = performance.now() + NUMBERED_WITHIN_MS
  while ((await findFeedState(db)).unnumberedSeconds !== null) {
    if (performance.now() > giveUpAt) throw new Error('some events have no number')
    await sequenceEvents(db)
    await sleep(1)
  }
}

async function findEmptyStart(run: RunQuery): Promise<bigint | undefined> {
  const [row] = await run<{ number: string }>(
    `select after_number::text as number from event_epochs where starts_empty order by id desc limit 1`,
  )
  return row === undefined ? undefined : BigInt(row.number)
}

/** Reads all events after the number, and returns the checksums of their positions and contents. */
async function readFeed(
  db: Db,
  start: bigint,
  pageSize: number,
  apply: (event: MirrorEvent) => void = () => {},
): Promise<{ checksums: number[]; faults: string[] }> {
  const checksums: number[] = []
  const faults: string[] = []
  let last = start
  for (let isLast = false; !isLast; ) {
    const { rows, epoch } = await findEvents(db, EVENT_TYPES, last, pageSize)
    for (const row of rows) {
      if (row.number !== last + 1n) faults.push(`event ${row.number} follows event ${last}`)
      last = row.number
      checksums.push(crc32(describe(row)))
      apply(toEvent(row, epoch, true))
    }
    isLast = rows.length < pageSize
  }
  return { checksums, faults: shorten('a gap', faults) }
}

function describe(row: EventRow): string {
  return `${[row.number, row.type, row.at.getTime(), row.petId, row.name, row.categoryId, row.status, row.changed].join()}
${[JSON.stringify(row.profile), row.actor, row.requestId, row.orderState].join()}\n`
}

/** Where the pets of the database and the mirror differ; empty if they are equal. */
export async function comparePetsIn(run: RunQuery, mirror: Mirror): Promise<string[]> {
  const rows = await run<StoredPet>(
    `select id::text, name, category_id::text as "categoryId", status::text from pets`,
  )
  return (await comparePets(mirror, [rows])).map(textOf)
}

/** An imported profile has its first version from the import, with one event too. */
async function compareProfiles({ pets }: Mirror, run: RunQuery): Promise<string[]> {
  const rows = await run<{ petId: string; version: number } & Record<string, unknown>>(
    `select pet_id::text as "petId", version, ${PROFILE_COLUMNS} from pet_profiles`,
  )
  const stored = new Map(rows.map(({ petId, version, ...fields }) => [petId, { version, fields }]))
  return [...pets].flatMap(([id, { profile, profileUpdates }]) => {
    const { version, fields } = stored.get(String(id)) ?? { version: 0, fields: {} }
    const [events, row] = [`${profileUpdates} ${profile}`, `${version} ${describeProfile(fields)}`]
    return events === row ? [] : [`pet ${id}: ${events} in the mirror, ${row} in the database`]
  })
}

async function compareOrdersIn(run: RunQuery, mirror: Mirror): Promise<string[]> {
  const rows = await run<StoredOrder>(
    `select id::text, pet_id::text as "petId", status::text, coalesce(price || ' ' || currency, '') as price from orders`,
  )
  return (await compareOrders(mirror, [rows])).map(textOf)
}

const textOf = ({ text }: Difference) => text

async function compareHistory({ pets }: Mirror, run: RunQuery): Promise<string[]> {
  const rows = await run<Partial<Record<keyof PetFields, string | null>> & { petId: string }>(
    `select pet_id::text as "petId", to_name as name, to_category_id::text as "categoryId", to_status::text as status
      from pet_history where from_profile is null and to_profile is null order by pet_id, id`,
  )
  const recorded = Map.groupBy(rows, ({ petId }) => petId)
  return [...pets].flatMap(([id, { updates }]) => {
    const entries = (recorded.get(String(id)) ?? []).map(({ petId: _petId, ...to }) => {
      const changed = Object.keys(to).filter((field) => to[field as keyof PetFields] !== null)
      return describeUpdate(changed, to as Partial<PetFields>)
    })
    const [events, history] = [updates.join('; '), entries.join('; ')]
    return events === history ? [] : [`pet ${id}, updated: ${events}; in its history: ${history}`]
  })
}

/** Checks in the tables that every outbox row has its numbers, once. */
async function auditNumbers(run: RunQuery, start: bigint): Promise<string[]> {
  const checks: Record<string, string> = {
    'outbox rows without a number': `select id from outbox
      where id > (select coalesce(max(scanned_to), 0) from event_numbers where first_number <= ${start})
        and not exists (select from event_numbers where outbox_id = outbox.id)`,
    'outbox rows with two numbers': `select outbox_id as id from event_numbers where first_number > ${start}
      group by outbox_id having count(*) > 1`,
    'numbers that do not fit their outbox row': `select event_numbers.first_number as id
      from event_numbers left join outbox on outbox.id = event_numbers.outbox_id
      where event_numbers.first_number > ${start} and event_numbers.outbox_id is not null
        and (event_numbers.count, event_numbers.type) is distinct from (cardinality(outbox.pet_ids), outbox.type)`,
  }
  const faults: string[] = []
  for (const [what, text] of Object.entries(checks)) {
    const rows = await run<{ id: unknown }>(text)
    faults.push(
      ...shorten(
        what,
        rows.map(({ id }) => String(id)),
      ),
    )
  }
  return faults
}

function shorten(what: string, faults: readonly string[]): string[] {
  return faults.length === 0 ? [] : [`${what} (${faults.length}): ${faults.slice(0, SHOWN_MAX).join('; ')}`]
}

// The events in memory that streams and webhooks share, and what a webhook reads that is further behind.
import { expect, test } from 'vitest'
import { openWebhookFeed } from '../../src/events/delivery/webhook-feed.ts'
import { durableEvents, type FindDurableEvents } from '../../src/events/feed/durable.ts'
import type { Position } from '../../src/events/feed/format.ts'
import { findFeedState, findNumberBeforeStored, insertEpoch } from '../../src/events/feed/queries.ts'
import { EVENT_TYPES } from '../../src/events/feed/schema.ts'
import { purgeEvents, sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { openFeedWindow } from '../../src/events/feed/window.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)
const find = durableEvents(db)

/** Adds pets, and returns the head of the feed. */
async function addPets(count: number): Promise<Position> {
  await sql(databaseUrl, `insert into pets (name, category_id) select 'Pet', 1 from generate_series(1, $1)`, [
    count,
  ])
  await sequenceEvents(db)
  return findHead()
}

async function findHead(): Promise<Position> {
  const { epoch, head } = await findFeedState(db)
  return { epoch, number: head }
}

const before = ({ epoch, number }: Position, count: bigint): Position => ({ epoch, number: number - count })
const numbersOf = (rows: readonly { number: bigint }[]) => rows.map(({ number }) => number)
const numbersAfter = (number: bigint, count: number) =>
  Array.from({ length: count }, (_, index) => number + BigInt(index) + 1n)

/** A window that has read the feed up to now, and the number of its reads since. */
async function openWindow(onPage?: () => Promise<void>) {
  let reads = 0
  const counted: FindDurableEvents = (...page) => {
    reads += 1
    return find(...page)
  }
  const window = openFeedWindow(counted, onPage)
  expect(await window.advance(await findHead())).toBe(true)
  return { window, reads: () => reads }
}

test('starts at the head of the feed, and keeps the events that follow', async () => {
  const start = await addPets(3)
  const { window, reads } = await openWindow()
  expect([window.newest(), reads()]).toEqual([start, 0])
  const head = await addPets(5)
  expect(window.covers(head)).toBe(false)
  expect(await window.advance(head)).toBe(true)
  expect(window.newest()).toEqual(head)
  expect(numbersOf(window.rowsAfter(start))).toEqual(numbersAfter(start.number, 5))
  expect(numbersOf(window.rowsAfter(before(head, 2n)))).toEqual(numbersAfter(head.number - 2n, 2))
  expect(window.rowsAfter(head)).toEqual([])
  expect(window.covers(before(start, 1n))).toBe(false)
  expect(window.covers({ ...head, epoch: '000000000000' })).toBe(false)
})

test('keeps the newest 2,000 events', async () => {
  const { window } = await openWindow()
  for (const count of [1_500, 1_500]) await window.advance(await addPets(count))
  const head = await findHead()
  expect(window.covers(before(head, 2_000n))).toBe(true)
  expect(numbersOf(window.rowsAfter(before(head, 2_000n)))).toEqual(numbersAfter(head.number - 2_000n, 2_000))
  expect(window.covers(before(head, 2_001n))).toBe(false)
})

test('reads more events than it keeps only if pages are sent meanwhile', async () => {
  const newest: (bigint | undefined)[] = []
  const sending = await openWindow(async () => {
    newest.push(sending.window.newest()?.number)
  })
  const skipping = await openWindow()
  const start = await findHead()
  const head = await addPets(2_500)
  await sending.window.advance(head)
  expect(newest).toEqual([start.number + 1_000n, start.number + 2_000n, head.number])
  await skipping.window.advance(head)
  expect(skipping.reads()).toBe(0)
  expect(skipping.window.newest()).toEqual(head)
})

test('starts again if a new epoch has begun or the head has moved back, and reports it', async () => {
  const { window } = await openWindow()
  const head = await addPets(10)
  await window.advance(head)
  const earlier = before(head, 4n)
  expect(await window.advance(earlier)).toBe(false)
  expect([window.newest(), window.covers(head)]).toEqual([earlier, false])
  await insertEpoch(db)
  // The state was read before the new epoch.
  expect(await window.advance(head)).toBe(false)
  expect(window.newest()).toEqual(await findHead())
  const next = await addPets(1)
  expect(next.epoch).not.toBe(head.epoch)
  expect(await window.advance(next)).toBe(true)
})

test('starts again at the head if the next events are no longer stored', async () => {
  const { window } = await openWindow()
  const start = await findHead()
  // The retention keeps the newest row.
  for (const count of [10, 1]) await addPets(count)
  await purgeEvents(db, 0)
  const head = await addPets(10)
  expect(await window.advance(head)).toBe(true)
  expect(window.newest()).toEqual(head)
  expect(window.covers(start)).toBe(false)
})

test('keeps no events with a gap, which only damaged data has', async () => {
  const { window } = await openWindow()
  const start = await findHead()
  for (const count of [1, 1, 1]) await addPets(count)
  const damage = 'delete from outbox where id = (select outbox_id from event_numbers where first_number = $1)'
  await sql(databaseUrl, damage, [start.number + 2n])
  const head = await findHead()
  expect(await window.advance(head)).toBe(true)
  expect([window.newest(), window.covers(start)]).toEqual([head, false])
})

test('keeps nothing after clear', async () => {
  const { window } = await openWindow()
  await window.advance(await addPets(1))
  window.clear()
  expect(window.newest()).toBeUndefined()
  expect(window.covers(await findHead())).toBe(false)
})

async function openWebhook() {
  const { window, reads } = await openWindow()
  let ownReads = 0
  const own: FindDurableEvents = (...page) => {
    ownReads += 1
    return find(...page)
  }
  const feed = openWebhookFeed(window, own, (number) => findNumberBeforeStored(db, number))
  return { window, reads, ownReads: () => ownReads, feed }
}

test('webhooks that keep up share the events in memory', async () => {
  const { window, feed, reads, ownReads } = await openWebhook()
  const start = await findHead()
  const head = await addPets(700)
  await window.advance(head)
  const first = await feed.after(start, EVENT_TYPES, 500)
  expect(first).toMatchObject({ rows: { length: 500 }, upTo: start.number + 500n })
  const second = await feed.after(before(head, 200n), ['pet.created'], 500)
  expect(second).toMatchObject({ rows: { length: 200 }, upTo: head.number })
  expect(await feed.after(start, ['pet.deleted'], 500)).toEqual({ rows: [], upTo: head.number })
  expect([reads(), ownReads()]).toEqual([1, 0])
})

test('a webhook that is further behind gets the same events from the database', async () => {
  const start = await findHead()
  const head = await addPets(600)
  const { feed, ownReads } = await openWebhook()
  const numbers: bigint[] = []
  for (let { number } = start; number < head.number; ) {
    const page = await feed.after({ epoch: head.epoch, number }, EVENT_TYPES, 500)
    if ('position' in page) throw new Error('the feed has not moved')
    numbers.push(...numbersOf(page.rows))
    number = page.upTo
  }
  expect(numbers).toEqual(numbersAfter(start.number, 600))
  expect(ownReads()).toBe(2)
})

test('a webhook learns where to continue if events are no longer stored or a new epoch has begun', async () => {
  const start = await findHead()
  // The retention keeps the newest row.
  for (const count of [10, 1]) await addPets(count)
  await purgeEvents(db, 0)
  const head = await findHead()
  const { feed } = await openWebhook()
  const moved = await feed.after(start, EVENT_TYPES, 500)
  expect(moved).toEqual({ isNewEpoch: false, position: before(head, 1n) })
  await insertEpoch(db)
  const { epoch } = await findHead()
  expect(await feed.after(before(head, 1n), EVENT_TYPES, 500)).toEqual({
    isNewEpoch: true,
    position: { epoch, number: head.number },
  })
})

test('keeps no more than 8 MiB of events', async () => {
  const { window } = await openWindow()
  const start = await findHead()
  await addPets(600)
  await sql(
    databaseUrl,
    `insert into outbox (type, count, pet_ids, profiles)
      select 'pet.profile_updated', 600, array_agg(id), array_agg(jsonb_build_object('description', repeat('x', 8000)))
      from (select id from pets order by id desc limit 600) as pets`,
  )
  await sequenceEvents(db)
  const head = await findHead()
  expect(await window.advance(head)).toBe(true)
  // Each of the last 600 events takes 16,512 bytes.
  expect(window.bytes()).toBe(508 * 16_512)
  expect(window.covers(before(head, 508n))).toBe(true)
  expect(numbersOf(window.rowsAfter(before(head, 508n)))).toEqual(numbersAfter(head.number - 508n, 508))
  expect(window.covers(before(head, 509n))).toBe(false)
  expect(window.covers(start)).toBe(false)
  window.clear()
  expect(window.bytes()).toBe(0)
})

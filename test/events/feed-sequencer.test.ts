// The sequencer: which events get a number, in which order, and when. Changes the tables by hand, as an operator may.
import { Client } from 'pg'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { findEvents, findFeedState, insertEpoch } from '../../src/events/feed/queries.ts'
import { EVENT_TYPES } from '../../src/events/feed/schema.ts'
import { purgeEvents, sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { createTestDatabase, openTestDatabase, sql, untilBlocked } from '../support/database.ts'
import { asSuperuser } from '../support/roles.ts'

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)
const run = (text: string) => sql(databaseUrl, text)

async function connect(): Promise<Client> {
  const client = new Client(asSuperuser(databaseUrl))
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

let start = 0n
beforeEach(async () => {
  await sequenceEvents(db)
  start = (await findFeedState(db)).head
})

/** The events since the start of the test, such as `pet.created 7 Rex`. */
async function events(max = 10_000): Promise<string[]> {
  const { rows } = await findEvents(db, EVENT_TYPES, start, max)
  expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => start + 1n + BigInt(index)))
  return rows.map(({ type, petId, name }) => `${type} ${petId}${name === null ? '' : ` ${name}`}`)
}

const insert = (id: number, name: string) =>
  `insert into pets (id, name, category_id) values (${id}, '${name}', 1)`
const rename = (id: number, name: string) => `update pets set name = '${name}' where id = ${id}`

test('numbers the changes of hand-written SQL', async () => {
  await run(insert(101, 'Ada'))
  await run(rename(101, 'Bo'))
  await run(`update pets set version = version + 1 where id = 101`)
  await run(`update pets set id = 102 where id = 101`)
  await run(`delete from pets where id = 102`)
  await sequenceEvents(db)
  const seen = await events()
  expect(seen.toSpliced(2, 2, ...seen.slice(2, 4).toSorted())).toEqual([
    'pet.created 101 Ada',
    'pet.updated 101 Bo',
    'pet.created 102 Bo',
    'pet.deleted 101',
    'pet.deleted 102',
  ])
})

test('numbers nothing of a transaction that was rolled back', async () => {
  const client = await connect()
  await client.query(`begin; ${insert(201, 'Ada')}; rollback`)
  await run(insert(202, 'Bo'))
  await sequenceEvents(db)
  expect(await events()).toEqual(['pet.created 202 Bo'])
})

test('numbers a change when it commits, even if later changes already have a number', async () => {
  const [slow, slower] = [await connect(), await connect()]
  await slower.query(`begin; ${insert(301, 'Ada')}`)
  await slow.query(`begin; ${insert(302, 'Bo')}`)
  await run(insert(303, 'Cy'))
  await sequenceEvents(db)
  expect(await events()).toEqual(['pet.created 303 Cy'])
  await slow.query('commit')
  await run(insert(304, 'Di'))
  await sequenceEvents(db)
  await sequenceEvents(db)
  await slower.query('commit')
  await sequenceEvents(db)
  expect(await events()).toEqual([
    'pet.created 303 Cy',
    'pet.created 302 Bo',
    'pet.created 304 Di',
    'pet.created 301 Ada',
  ])
})

test('stops waiting for the ids of transactions that were rolled back', async () => {
  const [aborted, open] = [await connect(), await connect()]
  await aborted.query(`begin; ${insert(401, 'Ada')}`)
  await open.query(`begin; ${insert(402, 'Bo')}`)
  await run(insert(403, 'Cy'))
  await sequenceEvents(db)
  await aborted.query('rollback')
  await open.query('commit')
  await sequenceEvents(db)
  expect(await events()).toEqual(['pet.created 403 Cy', 'pet.created 402 Bo'])
  // Transactions of other tests on this server can be older than the one that was rolled back.
  const gapsAfterChange = async () => {
    await run(`update pets set category_id = category_id + 1 where id = 403`)
    await sequenceEvents(db)
    const [state] = await run(`select gaps::text from event_numbers order by first_number desc limit 1`)
    return state
  }
  await expect.poll(gapsAfterChange).toEqual({ gaps: '{}' })
})

test('numbers the changes of a pet in the order in which they were made', async () => {
  const [first, second] = [await connect(), await connect()]
  await run(insert(501, 'Ada'))
  await first.query(`begin; ${rename(501, 'Bo')}`)
  const waiting = second.query(rename(501, 'Cy'))
  await run(insert(502, 'Di'))
  await first.query('commit')
  await waiting
  await sequenceEvents(db)
  const seen = await events()
  expect(seen.filter((event) => event.includes(' 501 '))).toEqual([
    'pet.created 501 Ada',
    'pet.updated 501 Bo',
    'pet.updated 501 Cy',
  ])
})

test('numbers "order.placed" of an order inserted by hand before the changes that another transaction makes afterwards', async () => {
  const [buyer, editor] = [await connect(), await connect()]
  await run(insert(601, 'Ada'))
  await buyer.query(`begin; insert into orders (pet_id, placed_by, created_at, expires_at)
    values (601, 1, now(), now() + interval '1 hour')`)
  // The event of the order has locked the pet.
  const renaming = editor.query(rename(601, 'Bo'))
  await untilBlocked(databaseUrl)
  await buyer.query(`update pets set status = 'pending' where id = 601; commit`)
  await renaming
  await run(`update orders set status = 'cancelled', closed_at = now() where pet_id = 601`)
  await sequenceEvents(db)
  expect(await events()).toEqual([
    'pet.created 601 Ada',
    'order.placed 601',
    'pet.updated 601 Ada',
    'pet.updated 601 Bo',
    'order.cancelled 601',
  ])
})

test('numbers each of many pets that one statement changes, and pages through them', async () => {
  await run(
    `insert into pets (id, name, category_id) select id, 'Pet ' || id, 1 from generate_series(10001, 12500) id`,
  )
  await run(`update pets set name = name || '!' where id between 10001 and 12500`)
  await sequenceEvents(db)
  const seen: string[] = []
  for (let after = start; ; ) {
    const { rows } = await findEvents(db, ['pet.updated'], after, 700)
    seen.push(...rows.map(({ petId, name }) => `${petId} ${name}`))
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.number
  }
  const ids = Array.from({ length: 2_500 }, (_, index) => 10_001 + index)
  expect(seen.toSorted()).toEqual(ids.map((id) => `${id} Pet ${id}!`).toSorted())
  expect(await run(`select max(count) from outbox`)).toEqual([{ max: 1_000 }])
})

test.each([1, 20_000, 100_000])(
  'ends a page at %i bytes, after at least one event, and pages through them',
  async (maxBytes) => {
    const from = (await findFeedState(db)).head
    // Two outbox rows with 20 profiles of 8 kB each, and 30 rows with one short name.
    const first = 20_001 + maxBytes
    await run(
      `insert into pets (id, name, category_id) select id, 'Pet', 1 from generate_series(${first}, ${first} + 39) id`,
    )
    for (const id of [first, first + 20])
      await run(`insert into pet_profiles (pet_id, description)
      select id, repeat('𠀀', 2000) from generate_series(${id}, ${id} + 19) id`)
    for (let id = first; id < first + 30; id += 1) await run(rename(id, 'Other'))
    await sequenceEvents(db)
    const all = await findEvents(db, EVENT_TYPES, from, 1_000)
    expect(all).toMatchObject({ isFull: false, rows: { length: 110 } })
    const sizes: number[] = []
    const seen: bigint[] = []
    for (let after = from, isFull = true; isFull; ) {
      const page = await findEvents(db, EVENT_TYPES, after, 1_000, maxBytes)
      const texts = page.rows.map(({ name, profile }) => `${name ?? ''}${profile?.description ?? ''}`)
      sizes.push(texts.slice(0, -1).reduce((sum, text) => sum + Buffer.byteLength(text), 0))
      seen.push(...page.rows.map(({ number }) => number))
      after = page.rows.at(-1)?.number ?? after
      isFull = page.isFull
    }
    expect(seen).toEqual(all.rows.map(({ number }) => number))
    // Every page but the last reaches the limit with its last event.
    expect(Math.max(...sizes)).toBeLessThan(maxBytes)
    expect(sizes.length).toBeGreaterThan((40 * 8_000) / (maxBytes + 8_000))
  },
)

test('starts a new epoch when all pets are removed by truncate, without the events before it', async () => {
  await run(insert(801, 'Ada'))
  const before = await findFeedState(db)
  await run('truncate pets cascade')
  await run(insert(802, 'Bo'))
  await sequenceEvents(db)
  const page = await findEvents(db, EVENT_TYPES, start, 100)
  expect(page.epoch).not.toBe(before.epoch)
  expect(page.startsEmpty).toBe(true)
  expect(page.rows.map(({ petId }) => petId)).toEqual([802n])
  expect(page.rows[0]?.number).toBeGreaterThan(page.afterNumber)
})

test('gives a new epoch another name', async () => {
  const before = await findFeedState(db)
  const epoch = await insertEpoch(db)
  const after = await findFeedState(db)
  expect(after).toMatchObject({ epoch, head: before.head })
  expect(epoch).not.toBe(before.epoch)
})

test('deletes events after their retention, oldest first, and goes on numbering', async () => {
  await run(insert(901, 'Ada'))
  await run(insert(902, 'Bo'))
  await run(insert(903, 'Cy'))
  await sequenceEvents(db)
  await run(`update outbox set at = now() - interval '2 days' where pet_ids <> '{902}'`)
  await purgeEvents(db, 24 * 3_600)
  expect(await findEvents(db, EVENT_TYPES, start, 100)).toMatchObject({ isStored: false, rows: [] })
  const page = await findEvents(db, EVENT_TYPES, start + 1n, 100)
  expect(page.isStored).toBe(true)
  expect(page.rows.map(({ petId }) => petId)).toEqual([902n, 903n])
  await run(`update outbox set at = now() - interval '2 days'`)
  await purgeEvents(db, 24 * 3_600)
  const emptied = await findEvents(db, EVENT_TYPES, start + 2n, 100)
  expect(emptied.rows.map(({ petId }) => petId)).toEqual([903n])
  await run(insert(904, 'Di'))
  await sequenceEvents(db)
  expect((await findFeedState(db)).head).toBe(page.head + 1n)
})

test('deletes all old events although a failover has undone the latest deletion', async () => {
  for (const id of [951, 952, 953, 954]) await run(insert(id, 'Ada'))
  await sequenceEvents(db)
  const makeOldExcept = (...ids: number[]) =>
    run(`update outbox set at = now() - interval '2 days' where pet_ids[1] <> all('{${ids.join()}}')`)
  await makeOldExcept(952, 953, 954)
  const undone = await run(`select * from event_numbers where first_number = ${start + 1n}`)
  const purgedTo = await purgeEvents(db, 24 * 3_600)
  expect(purgedTo).toBe(start + 2n)
  await run(
    `insert into event_numbers select * from json_populate_record(null::event_numbers, '${JSON.stringify(undone[0])}')`,
  )
  await makeOldExcept(953, 954)
  expect(await purgeEvents(db, 24 * 3_600, purgedTo)).toBe(start + 3n)
  expect(await run(`select min(first_number) from event_numbers`)).toEqual([{ min: String(start + 3n) }])
})

test('reports the age of the oldest change without a number', async () => {
  expect((await findFeedState(db)).unnumberedSeconds).toBeNull()
  await run(insert(1_001, 'Ada'))
  expect((await findFeedState(db)).unnumberedSeconds).toBeGreaterThan(0)
  await sequenceEvents(db)
  expect((await findFeedState(db)).unnumberedSeconds).toBeNull()
})

test('numbers events after the restore of a backup from a server with higher transaction ids', async () => {
  const open = await connect()
  await open.query(`begin; ${insert(1_101, 'Ada')}`)
  await run(insert(1_102, 'Bo'))
  await sequenceEvents(db)
  await open.query('rollback')
  await run(`update event_numbers set gaps_end_at = '9000000000' where gaps <> '{}'`)
  await run(insert(1_103, 'Cy'))
  await sequenceEvents(db)
  const [state] = await run(`select gaps::text from event_numbers order by first_number desc limit 1`)
  expect(state).toEqual({ gaps: '{}' })
})

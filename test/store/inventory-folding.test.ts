// Folding of pet counts: reads skip folded deltas. Counts stay exact with transactions in flight, old snapshots, several
// processes that fold, and after a restore.
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import type { Reader } from '../../src/db/database.ts'
import { foldAllCounts, foldDueCounts } from '../../src/store/inventory/inventory.ts'
import { countPets } from '../../src/store/inventory/queries.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { asSuperuser } from '../support/roles.ts'

const DEAD_DELTAS = 40_000
async function open() {
  const databaseUrl = await createTestDatabase()
  return { databaseUrl, db: openTestDatabase(databaseUrl) }
}

async function connect(databaseUrl: string): Promise<Client> {
  const client = new Client(asSuperuser(databaseUrl))
  await client.connect()
  afterAll(() => client.end())
  return client
}

const addPets = (databaseUrl: string, count: number) =>
  sql(
    databaseUrl,
    `insert into pets (name, category_id) select 'x', n from generate_series(1, $1::int) as n`,
    [count],
  )
const deltasIn = (databaseUrl: string) => sql(databaseUrl, 'select 1 from pet_count_deltas limit 1')

/** The number of 8 KiB pages that PostgreSQL reads for a query after planning it. */
async function pagesRead(client: Client, read: (db: Reader) => Promise<unknown>): Promise<number> {
  let pages = 0
  const explaining: Reader = {
    read: async ({ text, values }) => {
      const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values)
      const { Plan } = rows[0]['QUERY PLAN'][0]
      pages = Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']
      return []
    },
  }
  await read(explaining)
  await read(explaining)
  return pages
}

test('every table has a replica identity, so that counts can be folded with a publication for all tables', async () => {
  const { databaseUrl, db } = await open()
  await sql(databaseUrl, 'create publication everything for all tables')
  await addPets(databaseUrl, 5)
  await foldAllCounts(db)
  expect(await deltasIn(databaseUrl)).toEqual([])
  const without = await sql(
    databaseUrl,
    `select relname from pg_class as tables
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relreplident = 'd'
        and not exists (select from pg_index where indrelid = tables.oid and indisprimary)`,
  )
  expect(without).toEqual([])
})

test('reads skip folded deltas that an old snapshot keeps from vacuum', async () => {
  const { databaseUrl, db } = await open()
  const client = await connect(databaseUrl)
  const exporting = await connect(databaseUrl)
  await exporting.query('begin isolation level repeatable read')
  await exporting.query('select count(*) from pets')
  const append = `insert into pet_count_deltas (category_id, status, delta)
    select 1, 'available', 0 from generate_series(1, ${DEAD_DELTAS})`
  let added = 0n
  // A fold stops at the oldest transaction in flight, which may belong to another test. Fold until it has ended.
  const pagesAfterFold = async () => {
    await addPets(databaseUrl, 1)
    await foldAllCounts(db)
    await addPets(databaseUrl, 1)
    added += 2n
    return pagesRead(client, countPets)
  }
  // PostgreSQL has not planned the read yet in the first round, and has planned it in the second.
  for (let round = 0; round < 2; round += 1) {
    await client.query(append)
    await expect.poll(pagesAfterFold).toBeLessThan(40)
  }
  expect(await countPets(db)).toEqual({ available: added, pending: 0n, sold: 0n })
  // The function must be stable: a volatile one would not use the snapshot of the statement that calls it.
  const volatility = await sql(
    databaseUrl,
    `select provolatile from pg_proc where proname = 'unfolded_pet_counts'`,
  )
  expect(volatility).toEqual([{ provolatile: 's' }])
})

test('counts the pets of a transaction that commits after later transactions were folded', async () => {
  const { databaseUrl, db } = await open()
  const [first, second] = [await connect(databaseUrl), await connect(databaseUrl)]
  const add = `insert into pets (name, category_id) values ('x', 1)`
  for (const slow of [first, second]) {
    await slow.query('begin')
    await slow.query(add)
    await slow.query('savepoint nested')
    await slow.query(add)
    await addPets(databaseUrl, 3)
    await foldAllCounts(db)
  }
  expect(await countPets(db)).toMatchObject({ available: 6n })
  await second.query('commit')
  expect(await countPets(db)).toMatchObject({ available: 8n })
  await foldAllCounts(db)
  await addPets(databaseUrl, 1)
  await foldAllCounts(db)
  await first.query('commit')
  expect(await countPets(db)).toMatchObject({ available: 11n })
  await foldAllCounts(db)
  expect(await deltasIn(databaseUrl)).toEqual([])
  expect(await countPets(db)).toMatchObject({ available: 11n })
})

test('counts every pet if the fold position is missing or, as after a restore, from another server', async () => {
  const { databaseUrl, db } = await open()
  await addPets(databaseUrl, 2)
  await foldAllCounts(db)
  await sql(
    databaseUrl,
    `update pet_count_position
      set transaction_id = '9000000000000', server_started_at = server_started_at - interval '1 day'`,
  )
  await addPets(databaseUrl, 3)
  expect(await countPets(db)).toMatchObject({ available: 5n })
  await foldAllCounts(db)
  expect(await deltasIn(databaseUrl)).toEqual([])
  await addPets(databaseUrl, 4)
  expect(await countPets(db)).toMatchObject({ available: 9n })
  await sql(databaseUrl, 'delete from pet_count_position')
  expect(await countPets(db)).toMatchObject({ available: 9n })
  await foldAllCounts(db)
  expect(await countPets(db)).toMatchObject({ available: 9n })
})

test('folds if there are 1,000 deltas, or if the last fold was more than 2 seconds ago', async () => {
  const { databaseUrl, db } = await open()
  const lastFold = (interval: string) =>
    sql(databaseUrl, `update pet_count_position set folded_at = now() + $1::interval`, [interval])
  await addPets(databaseUrl, 1)
  await foldDueCounts(db)
  expect(await deltasIn(databaseUrl)).toEqual([])
  await lastFold('1 hour')
  await addPets(databaseUrl, 999)
  await foldDueCounts(db)
  expect(await deltasIn(databaseUrl)).toHaveLength(1)
  await addPets(databaseUrl, 1)
  await foldDueCounts(db)
  expect(await deltasIn(databaseUrl)).toEqual([])
  await lastFold('-1 hour')
  await addPets(databaseUrl, 1)
  await foldDueCounts(db)
  expect(await deltasIn(databaseUrl)).toEqual([])
  expect(await countPets(db)).toMatchObject({ available: 1002n })
})

test('counts stay exact while pets move and two processes fold', async () => {
  const { databaseUrl, db } = await open()
  const other = openTestDatabase(databaseUrl)
  await addPets(databaseUrl, 500)
  const mover = await connect(databaseUrl)
  const ending = new AbortController()
  const repeat = async (work: () => Promise<unknown>) => {
    while (!ending.signal.aborted) await work()
  }
  const working = [
    repeat(() => foldAllCounts(db)),
    repeat(() => foldAllCounts(other)),
    repeat(() => mover.query('update pets set category_id = 1 + category_id % 500')),
  ]
  for (let count = 0; count < 30; count += 1) {
    expect(await countPets(db)).toEqual({ available: 500n, pending: 0n, sold: 0n })
  }
  ending.abort()
  await Promise.all(working)
})

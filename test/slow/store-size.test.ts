// A store with hundreds of thousands of pets is about as fast as one with a few thousand.
import { performance } from 'node:perf_hooks'
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { foldAllCounts } from '../../src/store/inventory/inventory.ts'
import { countPets } from '../../src/store/inventory/queries.ts'
import { findPetsByName } from '../../src/store/pets/queries.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { asSuperuser } from '../support/roles.ts'
import { volume } from '../support/volume.ts'

const ROUNDS = 100
const PETS = volume(200_000, 5_000_000)
const PETS_SEARCHED = volume(20_000, 50_000)

async function open(pets: number) {
  const databaseUrl = await createTestDatabase()
  const client = new Client(asSuperuser(databaseUrl))
  await client.connect()
  afterAll(() => client.end())
  // Drop the indexes, because inserting first and building them afterwards takes a third of the time.
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
      where tablename = 'pets' and indexname <> 'pets_pkey'`,
  )
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  await client.query(
    `insert into pets (name, category_id, status)
      select (array['Luna','Milo','Rex','Zoë','Biscuit','Otis'])[1 + n % 6] || ' ' || md5(n::text), 1 + n % 1000,
        (array['available','pending','sold'])[1 + n % 3]::pet_status
      from generate_series(1, $1::int) as n`,
    [pets],
  )
  for (const { definition } of indexes) await client.query(definition)
  await client.query('vacuum analyze pets')
  const db = openTestDatabase(databaseUrl, 1)
  await foldAllCounts(db)
  return { db, client }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Compares the fastest rounds, which other load on the host affected least. */
async function ratio(small: () => Promise<unknown>, large: () => Promise<unknown>): Promise<number> {
  const [smallTimes, largeTimes]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    smallTimes.push(await time(small))
    largeTimes.push(await time(large))
  }
  const [before, after] = [Math.min(...smallTimes), Math.min(...largeTimes)]
  console.log({ smallMs: before, largeMs: after, ratio: after / before })
  return after / before
}

const large = await open(PETS)

test(`the inventory of ${PETS} pets is exact and takes less than 1.5 times as long as the inventory of 5,000`, async () => {
  const small = await open(5_000)
  expect(
    await ratio(
      () => countPets(small.db),
      () => countPets(large.db),
    ),
  ).toBeLessThan(1.5)
  const { rows } = await large.client.query('select status, count(*) from pets group by status')
  const counted = Object.fromEntries(rows.map(({ status, count }) => [status, BigInt(count)]))
  expect(await countPets(large.db)).toEqual(counted)
})

test.each([undefined, 'available' as const])(
  `a name search with the status %s among ${PETS} pets takes less than twice as long as among ${PETS_SEARCHED}`,
  async (status) => {
    const small = await open(PETS_SEARCHED)
    const search = (db: typeof small.db) => () =>
      findPetsByName(db, { prefix: 'lUNA 1', status }, undefined, 21)
    expect((await search(large.db)()).length).toBe(21)
    expect(await ratio(search(small.db), search(large.db))).toBeLessThan(2)
  },
)

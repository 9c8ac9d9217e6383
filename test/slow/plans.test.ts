// With a million pets, every list statement reads at most about twice the rows that it returns, and every statement about many
// pets a few rows for each. This holds for several
// distributions, with and without planner statistics, and with custom and generic plans.
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { PAGE_BYTES_MAX } from '../../src/contract/paging.ts'
import { PET_STATUSES } from '../../src/contract/pet-status.ts'
import type { Reader, Statement, Tx } from '../../src/db/database.ts'
import {
  deletePets,
  findHolds,
  findPetsWithOrders,
  lockPets,
  updatePets,
} from '../../src/store/pet-changes/queries.ts'
import { findHistoryBefore } from '../../src/store/history/queries.ts'
import { findFigures } from '../../src/store/figures/queries.ts'
import {
  findCompletedOrdersByClosing,
  findOpenOrdersByExpiry,
  findOrdersBefore,
} from '../../src/store/orders/queries.ts'
import { ORDER_STATUSES } from '../../src/store/orders/schema.ts'
import { INCLUDE_WORDS, includeOf } from '../../src/store/pets/included.ts'
import {
  FILTER_KINDS,
  filterKind,
  findPetPages,
  COUNTED_MAX,
  countMatchingPets,
  EXAMINED_MAX,
  findMatchingPets,
  findFilteredPetsByIds,
  findPetsByIds,
  findPetJsonByIds,
  findPetsByName,
  type PetPage,
  petByReference,
  petsByName,
  petsByWord,
  petsInRange,
} from '../../src/store/pets/queries.ts'
import { findOtherCurrencies } from '../../src/store/profiles/other-currencies.ts'
import { findEntriesBefore, sumCash, sumDeposits, sumEntries } from '../../src/store/till/queries.ts'
import { findProfilesByChipNumber } from '../../src/store/profiles/queries.ts'
import { createTestDatabase } from '../support/database.ts'
import { CHECKS_FIGURES } from '../support/figures.ts'
import { asSuperuser } from '../support/roles.ts'

const PETS = 1_000_000
const client = new Client(asSuperuser(await createTestDatabase()))
await client.connect()
afterAll(() => client.end())

/**
 * - `pending`: 100 old pets, the worst case for a scan from the newest
 * - `sold`: no pet in the first layout
 * - category 1: nine of ten pets; category 7: 50 old pets; category 9: no pet
 */
async function load(): Promise<void> {
  // Without triggers, whose counts and events do not matter here. The indexes are built afterwards, which is faster.
  await client.query(
    `set session_replication_role = replica; alter table pets set (autovacuum_enabled = off)`,
  )
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
      where tablename = 'pets' and indexname <> 'pets_pkey'`,
  )
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  await client.query(
    `insert into pets (name, category_id, status)
      select 'Pet ' || n,
        case when n <= 50 then 7 when n % 10 = 0 then 2 + n % 1000 else 1 end,
        case when n <= 100 then 'pending' else 'available' end::pet_status
      from generate_series(1, $1) as n`,
    [PETS],
  )
  for (const { definition } of indexes) await client.query(definition)
  // Building an index also counts the rows. The planner must not know that in the first test.
  await client.query(
    `set allow_system_table_mods = on;
    update pg_class set reltuples = -1, relpages = 0
      where oid = 'pets'::regclass
        or oid in (select indexrelid from pg_index where indrelid = 'pets'::regclass);
    reset allow_system_table_mods`,
  )
  // Three old orders are open, and none is cancelled. Two of three orders, and of three history entries, belong to one pet.
  // One order was closed in each of the last 100,000 minutes.
  await client.query(`alter table orders set (autovacuum_enabled = off); alter table pet_history set (autovacuum_enabled = off);
    insert into actors (id, kind, name) overriding system value values (1, 'program', 'x')`)
  await client.query(
    `insert into orders (pet_id, placed_by, created_at, expires_at, closed_at, status)
      select case when n % 3 = 0 then 100 + n else 1 end, 1, now(), now() + interval '1 hour',
        case when n <= 10 then null else now() - make_interval(mins => 100000 - n) end,
        case when n <= 10 then 'open' when n % 100 = 0 then 'expired' else 'completed' end::order_status
      from generate_series(1, 100000) as n
      where n > 10 or n % 3 = 0`,
  )
  // Many newer ones are open. They expire in random order.
  await client.query(
    `insert into orders (pet_id, placed_by, created_at, expires_at)
      select 500000 + n, 1, now(), now() + make_interval(secs => 1 + n * 7919 % 10000) from generate_series(1, 5000) as n`,
  )
  await client.query(
    `insert into pet_history (pet_id, event, actor_id, request_id)
      select case when n % 3 = 0 then 100 + n else 1 end, 'updated', 1, 'x' from generate_series(1, 100000) as n`,
  )
  // One of three profiles has no chip number, and one of three has the same.
  await client.query(`alter table pet_profiles set (autovacuum_enabled = off);
    insert into pet_profiles (pet_id, chip_number, price, currency)
      select n, case n % 3 when 0 then 'same' when 1 then 'chip' || n end, 5, 'USD' from generate_series(1, 100000) as n`)
  await loadTill()
  await client.query('reset session_replication_role')
}

/** 100,000 entries of a year. Every other pet has one; one of 50 is a deposit, and one of 100 is cash. */
async function loadTill(): Promise<void> {
  await client.query('alter table entries set (autovacuum_enabled = off)')
  await client.query(
    `insert into entries (order_id, pet_id, category_id, seller_id, actor_id, at, day, kind, method, currency, paid, sales, pets, note)
      select case when not is_cash then n end, case when not is_cash then 600000 + 2 * n end, case when not is_cash then 1 + n % 20 end,
        case when not is_cash then 1 end, 1, current_date - n % 365, current_date - n % 365,
        case when is_cash then 'cash' when is_deposit then 'deposit' else 'sale' end::entry_kind,
        case when is_cash or n % 3 = 0 then 'cash' else 'card' end::payment_method, 'EUR', 20,
        case when is_cash or is_deposit then 0 else 20 end, case when is_cash or is_deposit then 0 else 1 end,
        case when is_cash then 'change' end
      from generate_series(1, 100000) as n
      cross join lateral (select n % 100 = 7 as is_cash, n % 50 = 3 as is_deposit) as kinds`,
  )
}

/** The statement that a query function sends. */
async function statementOf(query: (db: Tx) => Promise<unknown>): Promise<Statement> {
  let sent: Statement | undefined
  const capture = async (statement: Statement) => {
    sent = statement
    return []
  }
  await query({ read: capture, write: capture } as unknown as Tx)
  return sent as Statement
}

interface Plan {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Node Type': string
  Plans?: Plan[]
}

/** Rows that the leaves of the plan read, whether kept or filtered out. */
function rowsRead(plan: Plan): number {
  const own = plan.Plans === undefined ? plan['Actual Rows'] * plan['Actual Loops'] : 0
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  return (plan.Plans ?? []).reduce(
    (total, child) => total + rowsRead(child),
    own + removed * plan['Actual Loops'],
  )
}

function literal(value: unknown): string {
  const text = Array.isArray(value) ? `{${value.map((item) => item ?? 'null').join(',')}}` : String(value)
  return value === null ? 'null' : client.escapeLiteral(text)
}

async function explain({
  text,
  values,
}: Statement): Promise<{ read: number; accepted: number; plan: string }> {
  await client.query(`prepare explained as ${text}`)
  const { rows } = await client.query(
    `explain (analyze, format json) execute explained (${values.map(literal).join(', ')})`,
  )
  await client.query('deallocate explained')
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: Plan }]
  return { read: rowsRead(plan), accepted: plan['Actual Rows'], plan: JSON.stringify(plan, null, 1) }
}

const LIMIT = 21
const DAY_MICROS = 86_400_000_000n
const STATUSES = ['available', 'pending', 'sold', undefined] as const
const CATEGORIES = [1n, 7n, 9n, 102n, undefined]
const POSITIONS = [undefined, BigInt(PETS - 1_000), BigInt(PETS / 2), 30n]

async function checkOne(
  state: string,
  mode: string,
  query: (db: Reader) => Promise<unknown>,
  ranges = 1,
  /** Rows that are read for each row that is returned, such as that of the actor. */
  each = ranges === 1 ? 2 : ranges,
): Promise<void> {
  const statement = await statementOf(query)
  const { read, accepted, plan } = await explain(statement)
  const where = `${state}, ${mode}: ${statement.name} ${statement.values.join(' ')}\n${plan}`
  expect(read, where).toBeLessThanOrEqual(each * accepted + ranges)
}

/** The figures read the orders of their days, and without sales none. */
async function checkFigures(state: string, mode: string): Promise<void> {
  for (const [withSales, orders] of [
    [true, 3 * 24 * 60],
    [false, 0],
  ] as const) {
    const { read, plan } = await explain(await statementOf((db) => findFigures(db, 3, 'UTC', withSales)))
    if (withSales) expect(plan, `${state}, ${mode}`).toContain('orders_completed_by_closing')
    // Each day is read several times, as a row of the statement itself.
    expect(read, `${state}, ${mode}: ${plan}`).toBeLessThanOrEqual(orders + 40)
  }
}

const dayAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

/** A list reads a page, and sums only the entries of their days, each once. */
async function checkTill(state: string, mode: string): Promise<number> {
  let checked = 0
  for (const from of [undefined, dayAgo(3)]) {
    for (const before of ['infinity', dayAgo(2), dayAgo(300)]) {
      const position = { day: before, id: 50_000n }
      await checkOne(state, mode, (db) => findEntriesBefore(db, { from }, position, LIMIT), 1, 3)
      await checkOne(state, mode, (db) => findEntriesBefore(db, { petId: 600_008n }, position, LIMIT), 3)
      checked += 2
    }
  }
  const ofDay = 100_000 / 365
  for (const [days, entries] of [
    [1, ofDay],
    [365, 100_000],
  ] as const) {
    for (const by of [undefined, 'day', 'seller', 'category', 'method', 'kind'] as const) {
      const statement = await statementOf((db) => sumEntries(db, by, dayAgo(days), dayAgo(1)))
      const startedAt = performance.now()
      await client.query(statement.text, statement.values)
      const ms = performance.now() - startedAt
      const { read, plan } = await explain(statement)
      const where = `${state}, ${mode}: ${statement.name}\n${plan}`
      if (days === 1) expect(plan, where).toContain('entries_by_day')
      expect(read, where).toBeLessThanOrEqual(entries * 1.02 + 500)
      if (CHECKS_FIGURES) expect(ms, where).toBeLessThanOrEqual(TOTALS_MS)
      checked += 1
    }
  }
  for (const [query, entries] of [
    [sumDeposits, 2_100],
    [(db: Reader, to: string) => sumCash(db, dayAgo(365), to), 1_100],
  ] as const) {
    const { read, plan } = await explain(await statementOf((db) => query(db, dayAgo(0))))
    if (state !== 'not analysed') expect(read, `${state}, ${mode}: ${plan}`).toBeLessThanOrEqual(40 * entries)
  }
  return checked
}

/** For the totals of a year with 100,000 entries. */
const TOTALS_MS = 100

/** Reads the newest and the oldest 1,000 profiles, and the pets of those with a price in another currency. */
async function checkCurrencies(state: string, mode: string): Promise<void> {
  const { read, plan } = await explain(await statementOf((db) => findOtherCurrencies(db, 'EUR')))
  expect(read, `${state}, ${mode}: ${plan}`).toBeLessThanOrEqual(4_000)
}

/** Many pets of one request: a few rows for each of them, also for the first pet, which has most orders. */
async function checkPetsByIds(state: string, mode: string): Promise<void> {
  const ids = Array.from({ length: 100 }, (_, index) => BigInt(index * 9_973 + 1))
  const pets = ids.map((id) => ({ id, name: 'Changed', categoryId: 1n, status: 'available' as const }))
  const actor = { actorId: 1n, requestId: 'x' }
  for (const query of [
    (db: Tx) => findPetsByIds(db, ids),
    (db: Tx) => findFilteredPetsByIds(db, ids, { status: 'sold' }),
    (db: Tx) => lockPets(db, ids),
    (db: Tx) => findHolds(db, ids),
    (db: Tx) => findPetsWithOrders(db, ids),
    (db: Tx) => updatePets(db, pets, actor),
    (db: Tx) => deletePets(db, ids, actor),
  ]) {
    const statement = await statementOf(query)
    // Without triggers, like `load`. Nothing is kept.
    await client.query('begin; set local session_replication_role = replica')
    const { read, plan } = await explain(statement)
    await client.query('rollback')
    // Besides the pet: its id, the actor, and what the rolled-back statements have left in the index.
    expect(read, `${state}, ${mode}: ${statement.name}\n${plan}`).toBeLessThanOrEqual(20 * ids.length)
  }
}

/** The ids in one range of the index on words (migrations/0002_pets.sql). */
const RANGE = 32_768

/**
 * A search by word looks into the ranges of the index until it has found a page, or has examined enough pets. It then has read
 * at most two ranges in which every pet has the word, and nothing in ranges without the word, except a row for each part of the
 * look.
 */
async function checkWords(state: string, mode: string): Promise<number> {
  let checked = 0
  for (const word of ['PET', '99999', 'nobody', 'pet 5']) {
    for (const filters of [{}, { status: 'pending' as const }, { status: 'sold' as const, categoryId: 9n }]) {
      for (const before of [undefined, BigInt(PETS / 2)]) {
        const statement = await statementOf((db) =>
          findMatchingPets(db, petsByWord(word, before), filters, LIMIT),
        )
        const { read, plan } = await explain(statement)
        const where = `${state}, ${mode}: ${statement.values.join(' ')}\n${plan}`
        expect(plan, where).toContain('pets_by_word')
        expect(read, where).toBeLessThanOrEqual(2 * RANGE + 5 * (PETS / RANGE))
        checked += 1
      }
    }
  }
  return checked
}

/** A count examines a limited number of pets of its range. */
async function checkCounts(state: string, mode: string): Promise<number> {
  const max = COUNTED_MAX + 1
  const sources = [
    [petsInRange({}, undefined, max), 1],
    [petsInRange({ status: 'available' }, undefined, max), 1],
    [petsInRange({ categoryId: 1n }, undefined, max), 1],
    [petsInRange({ status: 'available', categoryId: 1n }, undefined, max), 1],
    [petsByName({ prefix: 'pet', status: undefined }, undefined, max), PET_STATUSES.length],
    [petByReference('none', undefined), 1],
  ] as const
  for (const [source, ranges] of sources) {
    const { read, plan } = await explain(
      await statementOf((db) => countMatchingPets(db, source, { status: 'available' })),
    )
    expect(read, `${state}, ${mode}: ${source.name}\n${plan}`).toBeLessThanOrEqual((ranges + 1) * (max + 1))
  }
  return sources.length
}

/** What is included is found by an index: at most a row of each table for each pet, also for the one after the page. */
async function checkIncluding(state: string, mode: string): Promise<number> {
  const include = includeOf(INCLUDE_WORDS)
  const pages = POSITIONS.map((beforeId) => ({ filters: {}, beforeId, max: LIMIT, include }))
  const ids = Array.from({ length: LIMIT }, (_, index) => BigInt(1 + index * 7))
  const queries = [
    ...FILTER_KINDS.map((kind) => (db: Reader) => {
      const filters = {
        ...(kind.includes('status') && { status: 'available' as const }),
        ...(kind.includes('categoryId') && { categoryId: 1n }),
      }
      return findPetPages(
        db,
        kind,
        pages.map((page) => ({ ...page, filters })),
      )
    }),
    (db: Reader) => findPetJsonByIds(db, ids, {}, include),
    (db: Reader) => findPetsByName(db, { prefix: 'pet', status: 'sold' }, undefined, LIMIT, include),
  ]
  for (const query of queries) {
    const statement = await statementOf(query)
    const { read, plan } = await explain(statement)
    const found = (statement.name.startsWith('find_pet_pages') ? pages.length : 1) * (LIMIT + 1)
    // The pet, its profile, its newest change, and the positions of the last two.
    expect(read, `${state}, ${mode}: ${statement.name}\n${plan}`).toBeLessThanOrEqual(6 * found)
  }
  return queries.length
}

/** A list with a filter that has no index examines a limited number of pets of its range, and reads no others. */
async function checkExamined(state: string, mode: string): Promise<number> {
  let checked = 0
  for (const filters of [{ status: 'sold' as const }, { categoryId: 9n }]) {
    for (const before of [undefined, BigInt(PETS / 2)]) {
      const after = before === undefined ? undefined : { id: before, sortKey: 'pet 5' }
      for (const [source, ranges] of [
        [petsInRange({}, before), 1],
        [petsInRange({ status: 'available' }, before), 1],
        [petsInRange({ categoryId: 1n }, before), 1],
        [petsInRange({ status: 'available', categoryId: 1n }, before), 1],
        [petsByName({ prefix: 'pet', status: 'available' }, after), 1],
        [petsByName({ prefix: 'pet', status: undefined }, after), PET_STATUSES.length],
      ] as const) {
        const { read, plan } = await explain(
          await statementOf((db) => findMatchingPets(db, source, filters, LIMIT)),
        )
        // The pets that do not match count twice: as read, and as removed. Each range is a row too.
        expect(read, `${state}, ${mode}: ${source.name}\n${plan}`).toBeLessThanOrEqual(
          (ranges + 1) * (EXAMINED_MAX + 1),
        )
        checked += 1
      }
    }
  }
  return checked
}

async function checkAll(state: string): Promise<void> {
  let checked = 0
  for (const mode of ['force_generic_plan', 'force_custom_plan', 'auto']) {
    await client.query(`set plan_cache_mode = ${mode}`)
    for (const status of STATUSES) {
      for (const categoryId of CATEGORIES) {
        const filters = { status, categoryId }
        const pages = POSITIONS.map((beforeId) => ({ filters, beforeId, max: LIMIT }))
        const statement = await statementOf((db) => findPetPages(db, filterKind(filters), pages))
        const { rows } = await client.query<PetPage>(statement.text, statement.values)
        const returned = rows.flatMap(({ json }) => JSON.parse(`[${json}]`) as unknown[]).length
        const { read, plan } = await explain(statement)
        const where = `${state}, ${mode}: ${statement.name} ${statement.values.join(' ')}\n${plan}`
        // Each page is also a row that the statement reads.
        expect(read, where).toBeLessThanOrEqual(2 * returned + 2 * pages.length)
        checked += pages.length
      }
    }
    for (const prefix of ['', 'Pet 1', 'pET 99999', 'nobody', 'p']) {
      for (const after of [undefined, { sortKey: 'pet 5', id: 7n }]) {
        for (const status of STATUSES) {
          // Without a status, the statement reads a page of each status.
          const ranges = status === undefined ? PET_STATUSES.length : 1
          const search = (db: Reader) => findPetsByName(db, { prefix, status }, after, LIMIT)
          await checkOne(state, mode, search, ranges)
          checked += 1
        }
      }
    }
    checked += await checkWords(state, mode)
    checked += await checkExamined(state, mode)
    checked += await checkIncluding(state, mode)
    checked += await checkCounts(state, mode)
    for (const status of [...ORDER_STATUSES, undefined]) {
      for (const petId of [1n, 2n, 900_000n, undefined]) {
        for (const before of [undefined, 50_000n, 500n]) {
          await checkOne(state, mode, (db) => findOrdersBefore(db, { status, petId }, before, LIMIT))
          checked += 1
        }
      }
    }
    for (const after of [undefined, { atMicros: BigInt(Date.now()) * 1_000n, id: 5n }]) {
      // Sorting equal times by id reads the first order of the next time too, and its API key.
      await checkOne(state, mode, (db) => findOpenOrdersByExpiry(db, after, LIMIT), 2)
      checked += 1
    }
    const now = BigInt(Date.now()) * 1_000n
    for (const daysAgo of [-1n, 0n, 30n, 60n]) {
      const before = { atMicros: now - daysAgo * DAY_MICROS, id: 5n }
      for (const from of [0n, before.atMicros - DAY_MICROS, before.atMicros]) {
        await checkOne(state, mode, (db) => findCompletedOrdersByClosing(db, from, before, LIMIT))
        checked += 1
      }
    }
    checked += await checkTill(state, mode)
    await checkFigures(state, mode)
    await checkCurrencies(state, mode)
    for (const petId of [1n, 2n, 900_000n]) {
      await checkOne(state, mode, (db) =>
        findHistoryBefore(db, petId, undefined, { max: LIMIT, maxBytes: PAGE_BYTES_MAX }),
      )
      checked += 1
    }
    for (const chipNumber of ['same', 'chip1', 'chip99998', 'none', 'zzz']) {
      await checkOne(state, mode, (db) => findProfilesByChipNumber(db, chipNumber))
      checked += 1
    }
    await checkPetsByIds(state, mode)
  }
  console.log(`${checked} plans read at most about twice the rows they return (${state})`)
}

test('lists read few rows before analyze', async () => {
  await load()
  await checkAll('not analysed')
})

test('lists read few rows after analyze', async () => {
  await client.query('analyze')
  await checkAll('analysed')
})

test('lists read few rows if the newest pets of one category have another status', async () => {
  await client.query(`update pets set status = 'sold' where category_id = 1 and id > ${PETS * 0.9}`)
  await client.query('analyze pets')
  await checkAll('skewed')
})

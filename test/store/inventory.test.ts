// GET /v1/store/inventory: exact after every change, whether by the API or by SQL.
import { expect, test } from 'vitest'
import { trackHolds } from '../../src/store/holds/sweep.ts'
import { foldAllCounts } from '../../src/store/inventory/inventory.ts'
import { deleteEmptyCounts } from '../../src/store/inventory/queries.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { type Order, shareApiFixture, type ApiFixture } from '../support/api-fixture.ts'

const emptyApi = shareApiFixture()

const inventory = async (api: ApiFixture) => (await api.get('/store/inventory')).body

/** Counts the rows of the pets table, in total and by category. */
async function counted(api: ApiFixture) {
  const rows = (await api.sql(
    'select category_id::int as id, status, count(*)::int as count from pets group by 1, 2 order by 1',
  )) as { id: number; status: 'available' | 'pending' | 'sold'; count: number }[]
  const none = { available: 0, pending: 0, sold: 0 }
  const all = { ...none }
  const categories = new Map<number, typeof none>()
  for (const { id, status, count } of rows) {
    all[status] += count
    categories.set(id, { ...(categories.get(id) ?? none), [status]: count })
  }
  return { all, categories: [...categories].map(([id, counts]) => ({ id, counts })) }
}

async function expectExact(api: ApiFixture) {
  const { all, categories } = await counted(api)
  expect(await inventory(api)).toEqual(all)
  expect((await api.get('/categories')).body).toEqual(categories)
}

test('returns zero for every status when there are no pets', async () => {
  const api = await emptyApi()
  expect(await inventory(api)).toEqual({ available: 0, pending: 0, sold: 0 })
  await foldAllCounts(api.db)
  expect(await inventory(api)).toEqual({ available: 0, pending: 0, sold: 0 })
})

const SQL_STATEMENTS = [
  `insert into pets (name, category_id, status)
    select 'Hand', 1 + n % 5, (enum_range(null::pet_status))[1 + n % 3] from generate_series(1, 30) as n`,
  `copy pets (name, category_id, status) from program 'printf "A\\t1\\tsold\\nB\\t2\\tpending\\nC\\t2\\tavailable\\n"'`,
  `update pets set status = 'sold' where id % 7 = 0 and not exists (select 1 from orders where pet_id = pets.id)`,
  `update pets set category_id = 1 + id % 6 where id % 3 = 0`,
  `update pets set name = name || '!' where id % 2 = 0`,
  `update pets set status = status, category_id = category_id`,
  `delete from pets where id % 11 = 0 and not exists (select 1 from orders where pet_id = pets.id)`,
  `delete from pets where false`,
  `with moved as (delete from pets where id % 13 = 0 and not exists (select 1 from orders where pet_id = pets.id)
      returning name, category_id) insert into pets (name, category_id, status)
    select name, category_id, 'sold' from moved`,
  `do $$ begin
    insert into pets (name, category_id) values ('Undone', 1);
    raise exception 'undone';
  exception when raise_exception then null; end $$`,
]

const TITLED = SQL_STATEMENTS.map((statement) => [statement.replaceAll(/\s+/g, ' '), statement] as const)

test.each(TITLED)('is exact after the SQL statement: %s', async (_, statement) => {
  const api = await emptyApi()
  await api.sql(SQL_STATEMENTS[0] as string)
  await foldAllCounts(api.db)
  await api.sql(statement)
  await expectExact(api)
  await foldAllCounts(api.db)
  await expectExact(api)
})

test('is exact after truncating pets with folded and unfolded counts', async () => {
  const api = await emptyApi()
  await api.sql(SQL_STATEMENTS[0] as string)
  await foldAllCounts(api.db)
  await api.sql(SQL_STATEMENTS[0] as string)
  await api.sql('truncate pets cascade')
  await expectExact(api)
  await api.addPet()
  await foldAllCounts(api.db)
  await expectExact(api)
})

test('does not count a rolled-back insert', async () => {
  const api = await emptyApi()
  await api.addPet()
  await api.sql(`begin; insert into pets (name, category_id) values ('Undone', 1); rollback`)
  expect(await inventory(api)).toEqual({ available: 1, pending: 0, sold: 0 })
})

/** Random integers below `max`. The same seed gives the same integers. */
function seededRandom(seed: number): (max: number) => number {
  let state = seed
  return (max) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * max)
  }
}

test.each([1, 2, 3])('is exact after 240 random changes by 8 concurrent clients (seed %i)', async (seed) => {
  const api = await emptyApi()
  await api.sql(SQL_STATEMENTS[0] as string)
  const orders: Order[] = []
  const statuses = ['available', 'pending', 'sold']

  async function step(random: (max: number) => number): Promise<unknown> {
    const petId = 1 + random(60)
    const order = orders[random(orders.length)]
    switch (random(9)) {
      case 0:
      case 1:
        return api.addPet({ categoryId: 1 + random(5), status: statuses[random(3)] as string })
      case 2:
        return api.patch(petId, { status: statuses[random(3)], categoryId: 1 + random(5) })
      case 3:
        return api.remove(`/pets/${petId}`)
      case 4: {
        const placed = await api.post('/store/orders', { petId })
        return placed.status === 201 && orders.push(placed.body as Order)
      }
      case 5:
        return order && api.end(random(2) === 0 ? 'complete' : 'cancel', order.id)
      case 6:
        return order && api.makeOverdue(order.id).catch(() => {})
      case 7:
        return foldAllCounts(api.db)
      default:
        // Two SQL statements may deadlock; the one that PostgreSQL cancels changes nothing.
        return api.sql(SQL_STATEMENTS[random(SQL_STATEMENTS.length)] as string).catch(() => {})
    }
  }

  await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const random = seededRandom(seed * 100 + index)
      for (let count = 0; count < 30; count += 1) await step(random)
    }),
  )
  // Expire all overdue holds now, so that the reads below change nothing.
  await trackHolds(api.db, openLog('silent')).sweep()
  await expectExact(api)
  await foldAllCounts(api.db)
  expect(await api.sql('select 1 from pet_count_deltas')).toEqual([])
  await expectExact(api)
  await deleteEmptyCounts(api.db)
  await expectExact(api)
})

test('returns exact counts while they are being folded', async () => {
  const api = await emptyApi()
  await api.sql(`insert into pets (name, category_id) select 'x', n from generate_series(1, 500) as n`)
  const ending = new AbortController()
  const folder = (async () => {
    while (!ending.signal.aborted) await foldAllCounts(api.db)
  })()
  const mover = (async () => {
    while (!ending.signal.aborted) await api.sql(`update pets set category_id = 1 + category_id % 500`)
  })()
  for (let count = 0; count < 60; count += 1) {
    expect(await inventory(api)).toEqual({ available: 500, pending: 0, sold: 0 })
  }
  ending.abort()
  await Promise.all([folder, mover])
})

test('supports HEAD', async () => {
  const api = await emptyApi()
  expect((await api.call('HEAD', '/v1/store/inventory')).status).toBe(200)
})

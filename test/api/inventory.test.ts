// GET /v1/store/inventory: exact whatever happened, and by whose hand.
import { expect, test } from 'vitest'
import { foldAllCounts } from '../../src/inventory/inventory.ts'
import { deleteEmptyCounts } from '../../src/inventory/queries.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { trackHolds } from '../../src/orders/holds.ts'
import { type Order, shareApiFixture, type ApiFixture } from './fixture.ts'

const emptyApi = shareApiFixture()

const inventory = async (api: ApiFixture) => (await api.get('/store/inventory')).body

/** What the table itself says: in all, and by category. */
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

test('an empty shop has none of each', async () => {
  const api = await emptyApi()
  expect(await inventory(api)).toEqual({ available: 0, pending: 0, sold: 0 })
  await foldAllCounts(api.db)
  expect(await inventory(api)).toEqual({ available: 0, pending: 0, sold: 0 })
})

const BY_HAND = [
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

test.each(BY_HAND)('it is exact after a statement by hand: %s', async (statement) => {
  const api = await emptyApi()
  await api.sql(BY_HAND[0] as string)
  await foldAllCounts(api.db)
  await api.sql(statement)
  await expectExact(api)
  await foldAllCounts(api.db)
  await expectExact(api)
})

test('it is exact after everything was truncated, folded or not', async () => {
  const api = await emptyApi()
  await api.sql(BY_HAND[0] as string)
  await foldAllCounts(api.db)
  await api.sql(BY_HAND[0] as string)
  await api.sql('truncate pets cascade')
  await expectExact(api)
  await api.addPet()
  await foldAllCounts(api.db)
  await expectExact(api)
})

test('what was rolled back was never counted', async () => {
  const api = await emptyApi()
  await api.addPet()
  await api.sql(`begin; insert into pets (name, category_id) values ('Undone', 1); rollback`)
  expect(await inventory(api)).toEqual({ available: 1, pending: 0, sold: 0 })
})

/** Random, but the same in every run of one seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

test.each([1, 2, 3])('it is exact after 240 random steps by 8 hands at once (seed %i)', async (seed) => {
  const api = await emptyApi()
  await api.sql(BY_HAND[0] as string)
  const orders: Order[] = []
  const statuses = ['available', 'pending', 'sold']

  async function step(roll: (sides: number) => number): Promise<unknown> {
    const petId = 1 + roll(60)
    const order = orders[roll(orders.length)]
    switch (roll(9)) {
      case 0:
      case 1:
        return api.addPet({ categoryId: 1 + roll(5), status: statuses[roll(3)] as string })
      case 2:
        return api.patch(petId, { status: statuses[roll(3)], categoryId: 1 + roll(5) })
      case 3:
        return api.remove(`/pets/${petId}`)
      case 4: {
        const placed = await api.post('/store/orders', { petId })
        return placed.status === 201 && orders.push(placed.body as Order)
      }
      case 5:
        return order && api.end(roll(2) === 0 ? 'complete' : 'cancel', order.id)
      case 6:
        return order && api.makeOverdue(order.id).catch(() => {})
      case 7:
        return foldAllCounts(api.db)
      default:
        // Two by hand may lock rows in opposite sequences; the one that gives way changes nothing.
        return api.sql(BY_HAND[roll(BY_HAND.length)] as string).catch(() => {})
    }
  }

  await Promise.all(
    Array.from({ length: 8 }, async (_, hand) => {
      const roll = dice(seed * 100 + hand)
      for (let count = 0; count < 30; count += 1) await step(roll)
    }),
  )
  // Afterwards no hold is over any more, and no reader changes anything.
  await trackHolds(api.db, openLog('silent')).sweep()
  await expectExact(api)
  await foldAllCounts(api.db)
  expect(await api.sql('select 1 from pet_count_deltas')).toEqual([])
  await expectExact(api)
  await deleteEmptyCounts(api.db)
  await expectExact(api)
})

test('readers during folding never see a wrong sum', async () => {
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

test('HEAD works, and a query that nobody knows is ignored', async () => {
  const api = await emptyApi()
  expect((await api.call('HEAD', '/v1/store/inventory')).status).toBe(200)
  expect((await api.get('/store/inventory?status=sold')).status).toBe(200)
})

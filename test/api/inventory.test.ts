// GET /v1/store/inventory: exact whatever happened, and by whose hand.
import { expect, test } from 'vitest'
import { foldAllCounts } from '../../src/inventory/inventory.ts'
import { deleteEmptyCounts } from '../../src/inventory/queries.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { trackHolds } from '../../src/orders/holds.ts'
import { type Order, shareShop, type Shop } from './shop.ts'

const emptyShop = shareShop()

const inventory = async (shop: Shop) => (await shop.get('/store/inventory')).body

/** What the table itself says: in all, and by category. */
async function counted(shop: Shop) {
  const rows = (await shop.sql(
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

async function expectExact(shop: Shop) {
  const { all, categories } = await counted(shop)
  expect(await inventory(shop)).toEqual(all)
  expect((await shop.get('/categories')).body).toEqual(categories)
}

test('an empty shop has none of each', async () => {
  const shop = await emptyShop()
  expect(await inventory(shop)).toEqual({ available: 0, pending: 0, sold: 0 })
  await foldAllCounts(shop.db)
  expect(await inventory(shop)).toEqual({ available: 0, pending: 0, sold: 0 })
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
  const shop = await emptyShop()
  await shop.sql(BY_HAND[0] as string)
  await foldAllCounts(shop.db)
  await shop.sql(statement)
  await expectExact(shop)
  await foldAllCounts(shop.db)
  await expectExact(shop)
})

test('it is exact after everything was truncated, folded or not', async () => {
  const shop = await emptyShop()
  await shop.sql(BY_HAND[0] as string)
  await foldAllCounts(shop.db)
  await shop.sql(BY_HAND[0] as string)
  await shop.sql('truncate pets cascade')
  await expectExact(shop)
  await shop.addPet()
  await foldAllCounts(shop.db)
  await expectExact(shop)
})

test('what was rolled back was never counted', async () => {
  const shop = await emptyShop()
  await shop.addPet()
  await shop.sql(`begin; insert into pets (name, category_id) values ('Undone', 1); rollback`)
  expect(await inventory(shop)).toEqual({ available: 1, pending: 0, sold: 0 })
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
  const shop = await emptyShop()
  await shop.sql(BY_HAND[0] as string)
  const orders: Order[] = []
  const statuses = ['available', 'pending', 'sold']

  async function step(roll: (sides: number) => number): Promise<unknown> {
    const petId = 1 + roll(60)
    const order = orders[roll(orders.length)]
    switch (roll(9)) {
      case 0:
      case 1:
        return shop.addPet({ categoryId: 1 + roll(5), status: statuses[roll(3)] as string })
      case 2:
        return shop.patch(petId, { status: statuses[roll(3)], categoryId: 1 + roll(5) })
      case 3:
        return shop.remove(`/pets/${petId}`)
      case 4: {
        const placed = await shop.post('/store/orders', { petId })
        return placed.status === 201 && orders.push(placed.body as Order)
      }
      case 5:
        return order && shop.end(roll(2) === 0 ? 'complete' : 'cancel', order.id)
      case 6:
        return order && shop.makeOverdue(order.id).catch(() => {})
      case 7:
        return foldAllCounts(shop.db)
      default:
        // Two by hand may lock rows in opposite sequences; the one that gives way changes nothing.
        return shop.sql(BY_HAND[roll(BY_HAND.length)] as string).catch(() => {})
    }
  }

  await Promise.all(
    Array.from({ length: 8 }, async (_, hand) => {
      const roll = dice(seed * 100 + hand)
      for (let count = 0; count < 30; count += 1) await step(roll)
    }),
  )
  // Afterwards no hold is over any more, and no reader changes anything.
  await trackHolds(shop.db, openLog('silent')).sweep()
  await expectExact(shop)
  await foldAllCounts(shop.db)
  expect(await shop.sql('select 1 from pet_count_deltas')).toEqual([])
  await expectExact(shop)
  await deleteEmptyCounts(shop.db)
  await expectExact(shop)
})

test('readers during folding never see a wrong sum', async () => {
  const shop = await emptyShop()
  await shop.sql(`insert into pets (name, category_id) select 'x', n from generate_series(1, 500) as n`)
  const ending = new AbortController()
  const folder = (async () => {
    while (!ending.signal.aborted) await foldAllCounts(shop.db)
  })()
  const mover = (async () => {
    while (!ending.signal.aborted) await shop.sql(`update pets set category_id = 1 + category_id % 500`)
  })()
  for (let count = 0; count < 60; count += 1) {
    expect(await inventory(shop)).toEqual({ available: 500, pending: 0, sold: 0 })
  }
  ending.abort()
  await Promise.all([folder, mover])
})

test('HEAD works, and a query that nobody knows is ignored', async () => {
  const shop = await emptyShop()
  expect((await shop.call('HEAD', '/v1/store/inventory')).status).toBe(200)
  expect((await shop.get('/store/inventory?status=sold')).status).toBe(200)
})

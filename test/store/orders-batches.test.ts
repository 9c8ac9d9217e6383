// Holds and sales of concurrent requests in one statement. Alone or in a batch, an item has the same outcome.
import { Client } from 'pg'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../src/contract/errors.ts'
import type { Db } from '../../src/db/database.ts'
import {
  completeOrders,
  type OrderToComplete,
  type OrderToPlace,
  placeOrders,
} from '../../src/store/orders/queries.ts'
import { openSelling } from '../../src/store/orders/selling.ts'
import { openApiFixture, openApiFixtureOn, type Order } from '../support/api-fixture.ts'
import { untilBlocked } from '../support/database.ts'
import { asSuperuser } from '../support/roles.ts'
import { auditStore } from '../support/store-audit.ts'

const api = await openApiFixture()
const other = new Client(asSuperuser(api.databaseUrl))
await other.connect()
afterAll(() => other.end())
const [{ id: actorId } = {}] = await api.sql(`select id from actors where name = 'staff'`)

beforeEach(async () => {
  await api.sql('delete from idempotency_keys')
})

const toPlace = (petId: number | bigint, values: Partial<OrderToPlace> = {}): OrderToPlace => ({
  petId: BigInt(petId),
  actorId: BigInt(actorId as string),
  requestId: 'test',
  holdMinutes: 60,
  note: undefined,
  price: undefined,
  currency: undefined,
  shopCurrency: 'EUR',
  key: undefined,
  ...values,
})

const toComplete = (orderId: number | bigint, values: Partial<OrderToComplete> = {}): OrderToComplete => ({
  orderId: BigInt(orderId),
  actorId: BigInt(actorId as string),
  requestId: 'test',
  isValid: true,
  note: undefined,
  method: 'card',
  reason: undefined,
  price: undefined,
  currency: undefined,
  shopCurrency: 'EUR',
  ...values,
})

const keyOf = (text: string, value = 1) => ({ text, fingerprint: Buffer.alloc(32, value) })
const outcomesOf = (rows: readonly { outcome: string }[]) => rows.map(({ outcome }) => outcome)

/** Runs the work while another transaction has changed the name of the pet. */
async function whileChanged<Result>(petId: number, work: () => Promise<Result>): Promise<Result> {
  await other.query('begin')
  await other.query(`update pets set name = 'Renamed', version = version + 1 where id = $1`, [petId])
  try {
    return await work()
  } finally {
    await other.query('commit')
  }
}

test('a hold and a sale are one statement each, with their keys and entries', async () => {
  const sent: string[] = []
  const unexpected = () => Promise.reject(new Error('a transaction of several statements'))
  const write: Db['write'] = (statement) => {
    sent.push(statement.name)
    return api.db.write<never>(statement)
  }
  const { id } = await api.addPet()
  const selling = openSelling({ ...api.db, write, transaction: unexpected })
  const busy = await openApiFixtureOn(api.databaseUrl, api.db, { selling })
  const order = (await busy.post('/store/orders', { petId: id }, { 'idempotency-key': 'one' })).body as Order
  const completed = await busy.post(`/store/orders/${order.id}/complete`, { price: '5.00', method: 'cash' })
  expect(completed).toMatchObject({ status: 200, body: { netPrice: '5.00' } })
  expect(sent).toEqual(['place_orders', 'complete_orders'])
})

test('holds of different requests in one statement have their own actors, histories, events and responses', async () => {
  const [one, two] = [await api.addPet({ name: 'One' }), await api.addPet({ name: 'Two' })]
  const [{ id: robot } = {}] = await api.sql(
    `insert into actors (kind, name) values ('program', 'robot') returning id`,
  )
  const rows = await placeOrders(
    api.db,
    [
      toPlace(one.id, { requestId: 'r1', note: 'first' }),
      toPlace(two.id, { requestId: 'r2', actorId: BigInt(robot as string), price: '7.50' }),
    ],
    'never',
  )
  expect(outcomesOf(rows)).toEqual(['placed', 'placed'])
  const orders = rows.map(({ response }) => JSON.parse(response as string) as Order)
  expect(orders).toMatchObject([
    { petId: one.id, note: 'first', status: 'open' },
    { petId: two.id, price: '7.50', currency: 'EUR' },
  ])
  const sales = orders.map(({ id }, index) => toComplete(id, { requestId: `s${index + 1}` }))
  expect(outcomesOf(await completeOrders(api.db, sales, 'never'))).toEqual(['completed', 'completed'])
  const makers = async (text: string) =>
    (await api.sql(text, [[one.id, two.id]])).map((row) => Object.values(row).join(' '))
  const history = `select pet_id, event, actors.name, request_id from pet_history join actors on actors.id = actor_id
    where pet_id = any($1) order by pet_history.id`
  const placed = [`${one.id} order_placed staff r1`, `${two.id} order_placed robot r2`]
  const sold = [`${one.id} order_completed staff s1`, `${two.id} order_completed staff s2`]
  expect(await makers(history)).toEqual([...placed, ...sold])
  const events = `select pet_id, type, actors.name, request_id, coalesce(order_state ->> 'pet_id', '-') as of_pet
    from outbox cross join unnest(pet_ids, actor_ids, request_ids, order_states)
      with ordinality as event (pet_id, actor_id, request_id, order_state, position)
    join actors on actors.id = event.actor_id
    where pet_id = any($1) and type <> 'pet.created' order by outbox.id, position`
  expect(await makers(events)).toEqual([
    `${one.id} pet.updated staff r1 -`,
    `${two.id} pet.updated robot r2 -`,
    `${one.id} order.placed staff r1 ${one.id}`,
    `${two.id} order.placed robot r2 ${two.id}`,
    ...['order.completed', 'order.entry_added'].flatMap((type) => [
      `${one.id} ${type} staff s1 ${one.id}`,
      `${two.id} ${type} staff s2 ${two.id}`,
    ]),
    `${one.id} pet.updated staff s1 -`,
    `${two.id} pet.updated staff s2 -`,
  ])
  expect(await auditStore(api.databaseUrl)).toEqual([])
})

test('the same pet twice in a batch: the first item gets it', async () => {
  const { id } = await api.addPet()
  const rows = await placeOrders(api.db, [toPlace(id), toPlace(id, { key: keyOf('second') })], 'never')
  expect(outcomesOf(rows)).toEqual(['placed', 'not_available'])
  expect(rows[1]?.petStatus).toBe('pending')
  expect(await api.sql('select from orders where pet_id = $1', [id])).toHaveLength(1)
  expect(await api.sql('select from idempotency_keys')).toEqual([])
})

test('the same key twice in a batch: the second item is replayed afterwards, with the same bytes', async () => {
  const pets = [(await api.addPet()).id, (await api.addPet()).id]
  const items = pets.map((id) => toPlace(id, { key: keyOf('same') }))
  const rows = await placeOrders(api.db, items, 'never')
  expect(outcomesOf(rows)).toEqual(['placed', 'undecided'])
  const [replay] = await placeOrders(api.db, items.slice(1), 'for the pet')
  expect(replay).toMatchObject({ outcome: 'replayed', response: rows[0]?.response })
  expect(await api.sql('select from orders where pet_id = $1', [pets[1]])).toEqual([])
})

test('the same order twice in a batch is sold once, and both requests get the sale', async () => {
  const { id } = await api.hold({ price: '5.00' })
  const items = [toComplete(id), toComplete(id, { price: '6.00' })]
  expect(outcomesOf(await completeOrders(api.db, items, 'never'))).toEqual(['completed', 'undecided'])
  expect(outcomesOf(await completeOrders(api.db, items.slice(1), 'for the pet'))).toEqual(['ended'])
  expect(await api.sql('select from entries where order_id = $1', [id])).toHaveLength(1)
})

test('alone or among others, each hold has the same outcome, and rejected ones change nothing', async () => {
  const held = await api.hold()
  const sold = await api.hold()
  await api.end('complete', sold.id)
  const free = async () => (await api.addPet()).id
  const overdue = await api.hold()
  const stored = await free()
  await placeOrders(api.db, [toPlace(stored, { key: keyOf('stored') })], 'never')
  const itemsOf = async () => {
    await api.makeOverdue(overdue.id)
    return [
      toPlace(await free()),
      toPlace(await free(), { key: keyOf(`new ${performance.now()}`) }),
      toPlace(held.petId),
      toPlace(sold.petId),
      toPlace(9_000_000_000n),
      toPlace(await free(), { price: '1.00', currency: 'USD' }),
      toPlace(stored, { key: keyOf('stored') }),
      toPlace(stored, { key: keyOf('stored', 2) }),
    ]
  }
  const expected =
    'placed placed not_available not_available not_found other_currency replayed key_reused'.split(' ')
  expect(outcomesOf(await placeOrders(api.db, await itemsOf(), 'never'))).toEqual(expected)
  const alone = []
  for (const item of await itemsOf()) alone.push(...(await placeOrders(api.db, [item], 'for the pet')))
  expect(outcomesOf(alone)).toEqual(expected)
  expect(await auditStore(api.databaseUrl)).toEqual([])
})

test('an expired hold that is not swept yet ends in the same batch', async () => {
  const pets = [await api.hold(), await api.hold()]
  for (const { id } of pets) await api.makeOverdue(id)
  const rows = await placeOrders(
    api.db,
    pets.map(({ petId }) => toPlace(petId)),
    'never',
  )
  expect(outcomesOf(rows)).toEqual(['placed', 'placed'])
  const [newest, expired] = await api.history(pets[1]?.petId as number)
  expect([newest?.event, newest?.actor, expired?.event, expired?.actor]).toEqual([
    'order_placed',
    'staff',
    'order_expired',
    'petstore',
  ])
  expect(await auditStore(api.databaseUrl)).toEqual([])
})

test('alone or among others, each sale has the same outcome', async () => {
  const open = async () => (await api.hold({ price: '5.00' })).id
  const [ended, overdue] = [await open(), await open()]
  await api.end('cancel', ended)
  await api.makeOverdue(overdue)
  const itemsOf = async () => [
    toComplete(await open()),
    toComplete(ended),
    toComplete(overdue),
    toComplete(9_000_000_000n),
    toComplete(await open(), { price: '5.000', isValid: false }),
    toComplete(await open(), { price: '5.00', currency: 'USD' }),
  ]
  const expected = ['completed', 'ended', 'ended', 'not_found', 'invalid_price', 'other_currency']
  expect(outcomesOf(await completeOrders(api.db, await itemsOf(), 'never'))).toEqual(expected)
  const alone = []
  for (const item of await itemsOf()) alone.push(...(await completeOrders(api.db, [item], 'for the pet')))
  expect(outcomesOf(alone)).toEqual(expected)
  expect(await auditStore(api.databaseUrl)).toEqual([])
})

test('a batch does not wait for a pet that another transaction changes; its request does', async () => {
  const [locked, free] = [(await api.addPet()).id, (await api.addPet()).id]
  const holds = await whileChanged(locked, async () => {
    const rows = await placeOrders(api.db, [toPlace(locked), toPlace(free)], 'never')
    expect(outcomesOf(rows)).toEqual(['undecided', 'placed'])
    const waiting = api.post('/store/orders', { petId: locked })
    await untilBlocked(api.databaseUrl)
    return { waiting }
  })
  const order = (await holds.waiting).body as Order
  expect(order).toMatchObject({ petId: locked, status: 'open' })
  const neighbour = await api.hold()
  const sales = await whileChanged(locked, async () => {
    const rows = await completeOrders(api.db, [toComplete(order.id), toComplete(neighbour.id)], 'never')
    expect(outcomesOf(rows)).toEqual(['undecided', 'completed'])
    const waiting = api.end('complete', order.id)
    await untilBlocked(api.databaseUrl)
    return { waiting }
  })
  expect((await sales.waiting).status).toBe(200)
})

test('a hold whose key another request has locked is rejected in a batch, and placed after it', async () => {
  const item = toPlace((await api.addPet()).id, { key: keyOf('locked') })
  await other.query('begin')
  await other.query('select pg_advisory_xact_lock(idempotency_lock($1, $2))', [actorId, 'locked'])
  expect(outcomesOf(await placeOrders(api.db, [item], 'never'))).toEqual(['key_in_use'])
  const waiting = placeOrders(api.db, [item], 'for the key and the pet')
  await untilBlocked(api.databaseUrl)
  await other.query('commit')
  expect(outcomesOf(await waiting)).toEqual(['placed'])
})

test('while a day is closed, a batch of sales decides nothing and does not wait; each sale waits for the closing', async () => {
  const { id } = await api.hold({ price: '5.00' })
  await other.query('begin')
  await other.query(`select pg_advisory_xact_lock(hashtext('petstore till'))`)
  expect(outcomesOf(await completeOrders(api.db, [toComplete(id)], 'never'))).toEqual(['undecided'])
  const waiting = api.end('complete', id)
  await untilBlocked(api.databaseUrl)
  await other.query('commit')
  expect((await waiting).status).toBe(200)
})

/** The connection is lost after the first batch: it was committed, or not. */
function losing(db: Db, isCommitted: boolean): Db {
  let isFirst = true
  return {
    ...db,
    write: async (statement) => {
      const isLost = isFirst
      isFirst = false
      if (!isLost) return db.write<never>(statement)
      if (isCommitted) await db.write(statement)
      throw new AppError('outcome_unknown')
    },
  }
}

test.each([true, false])(
  'after a lost connection, holds with a key and sales are decided alone (committed: %s)',
  async (isCommitted) => {
    const { id } = await api.addPet()
    const item = toPlace(id, { key: keyOf('retried') })
    const placed = await openSelling(losing(api.db, isCommitted)).place(item)
    expect(placed.outcome).toBe(isCommitted ? 'replayed' : 'placed')
    expect(await api.sql('select from orders where pet_id = $1', [id])).toHaveLength(1)
    const order = JSON.parse(placed.response as string) as Order
    const sold = await openSelling(losing(api.db, isCommitted)).complete(toComplete(order.id))
    expect(sold.outcome).toBe(isCommitted ? 'ended' : 'completed')
    expect(await api.sql('select from entries where order_id = $1', [order.id])).toHaveLength(1)
  },
)

test('after a lost connection, a hold waits for the lock of its key, which the first attempt may still have', async () => {
  const item = toPlace((await api.addPet()).id, { key: keyOf('kept') })
  await other.query('begin')
  await other.query('select pg_advisory_xact_lock(idempotency_lock($1, $2))', [actorId, 'kept'])
  const placing = openSelling(losing(api.db, false)).place(item)
  await untilBlocked(api.databaseUrl)
  await other.query('commit')
  expect(await placing).toMatchObject({ outcome: 'placed' })
})

test('after a lost connection, the outcome of a hold without a key is unknown', async () => {
  const { id } = await api.addPet()
  const placing = openSelling(losing(api.db, true)).place(toPlace(id))
  await expect(placing).rejects.toMatchObject({ code: 'outcome_unknown' })
})

test('a fault of one hold does not affect its neighbours', async () => {
  const [good, bad] = [(await api.addPet()).id, (await api.addPet()).id]
  // No rule of the function: a pet that is available although an order holds it.
  await api.sql(
    `insert into orders (pet_id, placed_by, created_at, expires_at) values ($1, 1, now(), now() + interval '1 day')`,
    [bad],
  )
  const selling = openSelling(api.db)
  const first = selling.place(toPlace((await api.addPet()).id))
  const [placed, failed] = await Promise.allSettled([
    selling.place(toPlace(good)),
    selling.place(toPlace(bad)),
  ])
  await first
  expect(placed).toMatchObject({ status: 'fulfilled', value: { outcome: 'placed' } })
  expect(failed.status).toBe('rejected')
  expect((await api.post('/store/orders', { petId: bad })).status).toBe(409)
  await api.sql('delete from orders where pet_id = $1', [bad])
})

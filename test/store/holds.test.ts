// Expiry of holds. The app has no background sweep, so an overdue hold stays open until the test itself sends a request
// or sweeps. test/store/holds.process.test.ts starts `petstore serve`, which sweeps in the background.
import { describe, expect, test } from 'vitest'
import { trackHolds } from '../../src/store/holds/sweep.ts'
import { openLog } from '../../src/telemetry/log.ts'
import {
  type Order,
  openApiFixture,
  openApiFixtureOn,
  shareApiFixture,
  type ApiFixture,
} from '../support/api-fixture.ts'
import { NO_TIMEOUT_MS } from '../support/app.ts'
import type { TestResponse } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

/** An empty store whose requests do not sweep. */
const openUnswept = shareApiFixture(() => openApiFixture({ holds: { waitUntilFresh: () => undefined } }))

describe('while a hold is overdue and not yet swept,', () => {
  let api: ApiFixture
  const overdue = async () => {
    api ??= await openUnswept()
    const order = await api.hold()
    await api.makeOverdue(order.id)
    return order
  }
  const orderOf = async (id: number) => (await api.get(`/store/orders/${id}`)).body as Order

  test('the next buyer can order the pet, which expires the old order as of its expiresAt', async () => {
    const { id, petId } = await overdue()
    const next = await api.hold({ petId })
    const expired = await orderOf(id)
    expect(expired).toMatchObject({ status: 'expired', closedAt: expired.expiresAt })
    expect(await orderOf(next.id)).toMatchObject({ status: 'open' })
    expect(await api.findPet(petId)).toMatchObject({ status: 'pending' })
    const events = (await api.history(petId)).map(({ event, actor }) => `${event} by ${actor}`)
    expect(events).toEqual([
      'order_placed by staff',
      'order_expired by petstore',
      'order_placed by staff',
      'created by staff',
    ])
  })

  test('exactly one of 16 concurrent buyers can order the pet', async () => {
    const { petId } = await overdue()
    const responses = await Promise.all(
      Array.from({ length: 16 }, () => api.post('/store/orders', { petId })),
    )
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(15)
  })

  test.each(['complete', 'cancel'] as const)('a request to %s the order is rejected (409)', async (verb) => {
    const { id, petId } = await overdue()
    expect(await api.end(verb, id)).toMatchObject({ status: 409, body: { code: 'order_closed' } })
    await api.hold({ petId })
    expect(await api.end(verb, id)).toMatchObject({ status: 409, body: { code: 'order_closed' } })
  })

  test.each(['sold', 'pending', 'available'])(
    'an update can set the status of the pet to %s',
    async (status) => {
      const { id, petId } = await overdue()
      const response = await api.patch(petId, { status })
      expect(response).toMatchObject({ status: 200, body: { id: petId, status } })
      expect(await orderOf(id)).toMatchObject({ status: 'expired' })
      expect((await api.history(petId)).filter(({ event }) => event === 'order_expired')).toHaveLength(1)
      // The pet was created (1), held (2) and freed (3). The update is version 4, unless the status was already available.
      expect(response.headers.get('etag')).toBe(status === 'available' ? '"3"' : '"4"')
    },
  )

  test('the pet cannot be deleted (409), and its ETag from before the expiry returns 412', async () => {
    const { petId: other } = await overdue()
    expect(await api.remove(`/pets/${other}`)).toMatchObject({ body: { code: 'pet_has_orders' } })
    const { petId } = await overdue()
    const held = await api.remove(`/pets/${petId}`, { 'if-match': '"2"' })
    expect(held).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    const freed = await api.remove(`/pets/${petId}`, { 'if-match': '"3"' })
    expect(freed).toMatchObject({ status: 409, body: { code: 'pet_has_orders' } })
  })
})

describe('more than a second after the last sweep, no overdue hold is visible in', () => {
  let clock = 0
  const emptyApi = shareApiFixture(async () => {
    const databaseUrl = await createTestDatabase()
    const db = openTestDatabase(databaseUrl)
    return openApiFixtureOn(databaseUrl, db, {
      holds: trackHolds(db, openLog('silent'), () => clock, NO_TIMEOUT_MS),
    })
  })

  test.each<{
    operation: string
    read: (api: ApiFixture, order: Order) => Promise<TestResponse>
    seen: unknown
  }>([
    {
      operation: 'listPets',
      read: (api, { petId }) => api.get(`/pets?id=${petId}`),
      seen: [{ status: 'available' }],
    },
    { operation: 'listPets by status', read: (api) => api.get('/pets?status=pending'), seen: [] },
    {
      operation: 'listPets by name',
      read: (api) => api.get('/pets?name=bis'),
      seen: [{ status: 'available' }],
    },
    {
      operation: 'getPet',
      read: (api, { petId }) => api.get(`/pets/${petId}`),
      seen: { status: 'available' },
    },
    {
      operation: 'getOrder',
      read: (api, { id }) => api.get(`/store/orders/${id}`),
      seen: { status: 'expired' },
    },
    { operation: 'listOrders', read: (api) => api.get('/store/orders?status=open'), seen: [] },
    {
      operation: 'getInventory',
      read: (api) => api.get('/store/inventory'),
      seen: { available: 1, pending: 0, sold: 0 },
    },
    {
      operation: 'listCategories',
      read: (api) => api.get('/categories'),
      seen: [{ counts: { available: 1, pending: 0, sold: 0 } }],
    },
    {
      operation: 'putCategory',
      read: (api) => api.put('/categories/1', { name: 'Dogs' }),
      seen: { counts: { available: 1, pending: 0, sold: 0 } },
    },
    {
      operation: 'getPetHistory',
      read: (api, { petId }) => api.get(`/pets/${petId}/history?limit=1`),
      seen: [{ event: 'order_expired', from: { status: 'pending' }, to: { status: 'available' } }],
    },
  ])('$operation', async ({ read, seen }) => {
    const api = await emptyApi()
    const order = await api.hold()
    // The next request sweeps before the hold is overdue.
    clock += 1_001
    await api.get('/pets')
    await api.makeOverdue(order.id)
    clock += 1_001
    const response = await read(api, order)
    expect(response.status).toBeLessThan(300)
    expect(response.body).toMatchObject(seen as object)
    if (Array.isArray(seen)) expect(response.body).toHaveLength(seen.length)
  })
})

test('a sweep expires any number of overdue holds and no others', async () => {
  const api = await openUnswept()
  const orders = await Promise.all(Array.from({ length: 40 }, () => api.hold()))
  await api.sql(
    `update orders set created_at = now() - interval '1 day', expires_at = now() - interval '1 ms' where id % 2 = 0`,
  )
  // Insert more overdue holds than one batch of the sweep.
  await api.sql(`insert into pets (name, category_id, status)
    select 'Held', 2, 'pending' from generate_series(1, 1200)`)
  await api.sql(`insert into orders (pet_id, placed_by, created_at, expires_at)
    select id, 1, now() - interval '1 day', now() - interval '1 hour' from pets where category_id = 2`)
  await trackHolds(api.db, openLog('silent')).sweep()
  const open = (await api.get('/store/orders?status=open&limit=100')).body as Order[]
  const odd = orders.map(({ id }) => id).filter((id) => id % 2 === 1)
  expect(new Set(open.map(({ id }) => id))).toEqual(new Set(odd))
  expect((await api.get('/store/inventory')).body).toEqual({ available: 1220, pending: 20, sold: 0 })
})

test('a hold that expired while no instance was running is swept before the next instance responds', async () => {
  const former = await openUnswept()
  const { db, databaseUrl } = former
  const { id, petId } = await former.hold()
  await former.makeOverdue(id)
  // Its clock stands still: the first read sweeps although no time has passed since the start.
  const holds = trackHolds(db, openLog('silent'), () => 0, NO_TIMEOUT_MS)
  const next = await openApiFixtureOn(databaseUrl, db, { holds })
  expect(await next.findPet(petId)).toMatchObject({ status: 'available' })
})

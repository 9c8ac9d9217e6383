// A hold ends by itself. The application of these tests has no background work, so that each test chooses who
// meets an over-due hold first; the last ones run the real service.
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { SCOPES } from '../../src/scopes.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { trackHolds } from '../../src/orders/holds.ts'
import { issueApiKey } from '../support/app.ts'
import type { TestResponse } from '../support/client.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { startService } from '../support/service.ts'
import {
  type Order,
  openApiFixture,
  openApiFixtureOn,
  shareApiFixture,
  type ApiFixture,
  apiFixtureAt,
} from './fixture.ts'

describe('nobody has swept yet, and', () => {
  let api: ApiFixture
  const overdue = async () => {
    api ??= await openApiFixture({ holds: { waitUntilFresh: () => undefined } })
    const order = await api.hold()
    await api.makeOverdue(order.id)
    return order
  }
  const orderOf = async (id: number) => (await api.get(`/store/orders/${id}`)).body as Order

  test('the next buyer gets the animal; the old order is expired, at its end', async () => {
    const { id, petId } = await overdue()
    const next = await api.hold({ petId })
    const expired = await orderOf(id)
    expect(expired).toMatchObject({ status: 'expired', closedAt: expired.expiresAt })
    expect(await orderOf(next.id)).toMatchObject({ status: 'open' })
    expect(await api.findPet(petId)).toMatchObject({ status: 'pending' })
    const events = (await api.history(petId)).map(({ event, apiKeyName }) => `${event} by ${apiKeyName}`)
    expect(events).toEqual([
      'order_placed by counter',
      'order_expired by petstore',
      'order_placed by counter',
      'created by counter',
    ])
  })

  test('of 16 buyers who race for it exactly one gets it', async () => {
    const { petId } = await overdue()
    const responses = await Promise.all(
      Array.from({ length: 16 }, () => api.post('/store/orders', { petId })),
    )
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(15)
  })

  test.each(['complete', 'cancel'] as const)('it is too late to %s it', async (verb) => {
    const { id, petId } = await overdue()
    expect(await api.end(verb, id)).toMatchObject({ status: 409, body: { code: 'order_closed' } })
    await api.hold({ petId })
    expect(await api.end(verb, id)).toMatchObject({ status: 409, body: { code: 'order_closed' } })
  })

  test.each(['sold', 'pending', 'available'])('the animal can be made %s', async (status) => {
    const { id, petId } = await overdue()
    const response = await api.patch(petId, { status })
    expect(response).toMatchObject({ status: 200, body: { id: petId, status } })
    expect(await orderOf(id)).toMatchObject({ status: 'expired' })
    expect((await api.history(petId)).filter(({ event }) => event === 'order_expired')).toHaveLength(1)
    // As made, held, freed, and once more where that was a change.
    expect(response.headers.get('etag')).toBe(status === 'available' ? '"3"' : '"4"')
  })

  test('the animal still cannot be deleted', async () => {
    const { petId } = await overdue()
    expect(await api.remove(`/pets/${petId}`)).toMatchObject({ body: { code: 'pet_has_orders' } })
  })

  test('who would delete the held animal hears that it has changed since', async () => {
    const { petId } = await overdue()
    const held = await api.remove(`/pets/${petId}`, { 'if-match': '"2"' })
    expect(held).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    const freed = await api.remove(`/pets/${petId}`, { 'if-match': '"3"' })
    expect(freed).toMatchObject({ status: 409, body: { code: 'pet_has_orders' } })
  })
})

describe('whoever looks more than a second after the last sweep sees no over-due hold:', () => {
  let clock = 0
  const emptyApi = shareApiFixture(async () => {
    const databaseUrl = await createTestDatabase()
    const db = openTestDatabase(databaseUrl)
    return openApiFixtureOn(databaseUrl, db, { holds: trackHolds(db, openLog('silent'), () => clock) })
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
    // Sweeps, and finds nothing.
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

test('a sweep ends any number of holds and leaves the others', async () => {
  const api = await openApiFixture()
  const orders = await Promise.all(Array.from({ length: 40 }, () => api.hold()))
  await api.sql(
    `update orders set created_at = now() - interval '1 day', expires_at = now() - interval '1 ms' where id % 2 = 0`,
  )
  // More than one batch of the sweep, by hand.
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

test('in `petstore serve` a hold ends within a second of its end, not before, on every instance', async () => {
  const DATABASE_URL = await createTestDatabase()
  const db = openTestDatabase(DATABASE_URL)
  const { text: apiKey } = await issueApiKey(db, { scopes: SCOPES })
  const services = await Promise.all([startService({ DATABASE_URL }), startService({ DATABASE_URL })])
  const [one, two] = services.map(({ origin }) => apiFixtureAt({ origin, apiKey }, DATABASE_URL, db)) as [
    ApiFixture,
    ApiFixture,
  ]
  const { id, petId } = await one.hold({ holdMinutes: 1 })
  const [row] = await sql<{ end: Date }>(
    DATABASE_URL,
    `update orders set expires_at = now() + interval '2 s' where id = $1 returning expires_at as end`,
    [id],
  )
  const end = row?.end.getTime() ?? 0
  const freed = new Set<ApiFixture>()
  // On a busy host one look may take longer than all of this.
  while (freed.size < 2 || Date.now() < end + 1_500) {
    for (const api of [one, two]) {
      const askedAt = Date.now()
      const pet = await api.findPet(petId)
      if (pet?.status === 'available') {
        expect(Date.now()).toBeGreaterThanOrEqual(end)
        freed.add(api)
      } else {
        expect(askedAt - end, 'ms after the end').toBeLessThan(1_000)
        expect(freed.has(api), 'a freed animal stays free').toBe(false)
      }
    }
    await sleep(25)
  }
  expect(freed.size).toBe(2)
  expect((await two.get(`/store/orders/${id}`)).body).toMatchObject({ status: 'expired' })
  expect((await two.history(petId)).map(({ event }) => event)).toEqual([
    'order_expired',
    'order_placed',
    'created',
  ])
  await Promise.all(services.map((service) => service.stop()))
})

test('a hold that ended while no instance ran is over before the first answer of the next one', async () => {
  const DATABASE_URL = await createTestDatabase()
  const db = openTestDatabase(DATABASE_URL)
  const { text: apiKey } = await issueApiKey(db, { scopes: SCOPES })
  const open = (origin: string) => apiFixtureAt({ origin, apiKey }, DATABASE_URL, db)
  const crashed = await startService({ DATABASE_URL })
  const { id, petId } = await open(crashed.origin).hold()
  crashed.kill('SIGKILL')
  await crashed.ended
  await open('http://127.0.0.1:1').makeOverdue(id)
  const service = await startService({ DATABASE_URL }, { untilReady: false })
  expect(await open(service.origin).findPet(petId)).toMatchObject({ status: 'available' })
  await service.stop()
})

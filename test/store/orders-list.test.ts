// GET /v1/store/orders: newest first, filtered by status and pet, in pages.
import { describe, expect, test } from 'vitest'
import { cursorOf, type Order, openApiFixture, walkPages } from '../support/api-fixture.ts'
import { faultyFields } from '../support/pets.ts'

const api = await openApiFixture()

test('returns orders newest first, filtered by status and pet; each order is on exactly one page', async () => {
  const own = await openApiFixture()
  const petId = (await own.addPet()).id
  for (const verb of ['complete', 'cancel', 'cancel', 'complete'] as const) {
    await own.end(verb, (await own.hold({ petId })).id)
    await own.patch(petId, { status: 'available' })
    await own.hold()
  }
  await own.makeOverdue((await own.hold({ petId })).id)
  await own.hold({ petId })
  const [all = []] = await walkPages<Order>(own, '/store/orders?limit=100')
  expect(all).toHaveLength(10)
  expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => b - a))
  for (const status of [undefined, 'open', 'completed', 'cancelled', 'expired']) {
    for (const pet of [undefined, petId, 999_999]) {
      const expected = all.filter(
        (order) => (status ?? order.status) === order.status && (pet ?? order.petId) === order.petId,
      )
      const query = `${status ? `status=${status}&` : ''}${pet ? `petId=${pet}&` : ''}`
      for (const limit of [1, 3, 100]) {
        const pages = await walkPages<Order>(own, `/store/orders?${query}limit=${limit}`)
        expect(pages.flat()).toEqual(expected)
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
      }
    }
  }
})

describe('open orders by expiry', () => {
  test('come with the order that expires next first, then by id, across pages of any size', async () => {
    const own = await openApiFixture()
    for (const holdMinutes of [50, 10, 30, 10, 90, 20]) await own.hold({ holdMinutes })
    await own.end('complete', (await own.hold({ holdMinutes: 5 })).id)
    // Some expire in the same microsecond, and two within the same millisecond.
    await own.sql(
      `update orders set expires_at = date_trunc('hour', now()) + interval '2 hours' where id in (2, 4, 5)`,
    )
    await own.sql(
      `update orders set expires_at = date_trunc('hour', now()) + interval '2 hours 1 microsecond' where id = 1`,
    )
    const [all = []] = await walkPages<Order>(own, '/store/orders?status=open&sort=expiresAt&limit=100')
    const [open = []] = await walkPages<Order>(own, '/store/orders?status=open&limit=100')
    const rows = await own.sql(`select id from orders where status = 'open' order by expires_at, id`)
    expect(all.map(({ id }) => id)).toEqual(rows.map(({ id }) => Number(id)))
    expect(all.toSorted((a, b) => b.id - a.id)).toEqual(open)
    expect(all).toHaveLength(6)
    for (const limit of [1, 2, 3, 5]) {
      const pages = await walkPages<Order>(own, `/store/orders?status=open&sort=expiresAt&limit=${limit}`)
      expect(pages.flat()).toEqual(all)
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
    }
  })

  test('do not contain an expired order', async () => {
    const { id } = await api.hold({ holdMinutes: 1 })
    await api.makeOverdue(id)
    const { body } = await api.get('/store/orders?status=open&sort=expiresAt&limit=100')
    expect((body as Order[]).map((order) => order.id)).not.toContain(id)
  })

  test('can be filtered by pet, which has at most one', async () => {
    const { id, petId } = await api.hold()
    const { body } = await api.get(`/store/orders?status=open&sort=expiresAt&petId=${petId}`)
    expect(body).toMatchObject([{ id }])
  })

  test('have cursors of their own (400)', async () => {
    await Promise.all([api.hold(), api.hold()])
    const sorted = cursorOf(await api.get('/store/orders?status=open&sort=expiresAt&limit=1'), api)
    const newest = cursorOf(await api.get('/store/orders?status=open&limit=1'), api)
    const bytes = Buffer.from(sorted, 'base64url')
    const forged = ['', 'x', '-1', '1'.repeat(17), '2026-11-16'].map((sortKey) =>
      Buffer.concat([bytes.subarray(0, 15), Buffer.from(sortKey)]).toString('base64url'),
    )
    for (const cursor of [newest, ...forged]) {
      const response = await api.get(`/store/orders?status=open&sort=expiresAt&cursor=${cursor}`)
      expect(response).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
    }
    const response = await api.get(`/store/orders?status=open&cursor=${sorted}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  })
})

test('returns 20 orders by default', async () => {
  await Promise.all(Array.from({ length: 21 }, () => api.hold()))
  expect((await api.get('/store/orders')).body).toHaveLength(20)
})

test.each([
  'limit=0',
  'limit=101',
  'limit=',
  'status=gone',
  'status=',
  'petId=0',
  'petId=x',
  'petId=1&petId=2',
  'sort=expiresAt',
  'status=completed&sort=expiresAt',
  'status=open&sort=id',
  'status=open&sort=',
])('rejects ?%s (400)', async (query) => {
  const response = await api.get(`/store/orders?${query}`)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  expect(faultyFields(response)).toHaveLength(1)
})

test('rejects a cursor made with other filters or for another list (400)', async () => {
  await Promise.all([api.hold(), api.hold()])
  const orders = cursorOf(await api.get('/store/orders?limit=1'), api)
  const open = cursorOf(await api.get('/store/orders?limit=1&status=open'), api)
  const pets = cursorOf(await api.get('/pets?limit=1'), api)
  for (const query of [`status=open&cursor=${orders}`, `cursor=${open}`, `cursor=${pets}`, 'cursor=x']) {
    const response = await api.get(`/store/orders?${query}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  }
  expect((await api.get(`/store/orders?cursor=${orders}`)).status).toBe(200)
})

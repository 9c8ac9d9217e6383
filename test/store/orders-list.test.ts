// GET /v1/store/orders: newest first or sorted by a time, filtered by status, pet and time, in pages.
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

describe('completed orders by the time of closing', () => {
  const SORTED = '/store/orders?status=completed&sort=closedAt'
  const idsOf = (orders: readonly Order[]) => orders.map(({ id }) => id)

  /** Orders that were closed at these times, in the order of their ids. The last one is cancelled. */
  async function openWith(...times: string[]) {
    const own = await openApiFixture()
    for (const time of times) {
      const { id } = await own.hold()
      await own.end('complete', id)
      await own.sql('update orders set closed_at = $2 where id = $1', [id, time])
    }
    await own.end('cancel', (await own.hold()).id)
    await own.hold()
    return own
  }

  test('come with the last one first, then by id, across pages of any size', async () => {
    const own = await openWith(
      '2026-11-15T10:00:00.000001Z',
      '2026-11-15T10:00:00.000002Z',
      '2026-11-15T09:00:00Z',
      '2026-11-15T10:00:00.000001Z',
      '2026-11-15T10:00:00.000001Z',
      '2026-11-16T00:00:00Z',
    )
    const [all = []] = await walkPages<Order>(own, `${SORTED}&limit=100`)
    expect(idsOf(all)).toEqual([6, 2, 5, 4, 1, 3])
    const [completed = []] = await walkPages<Order>(own, '/store/orders?status=completed&limit=100')
    expect(all.toSorted((a, b) => b.id - a.id)).toEqual(completed)
    for (const limit of [1, 2, 3, 5]) {
      const pages = await walkPages<Order>(own, `${SORTED}&limit=${limit}`)
      expect(pages.flat()).toEqual(all)
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
    }
  })

  test('are those from closedFrom, inclusive, to closedTo, exclusive', async () => {
    const own = await openWith(
      '2026-11-15T09:59:59.999999Z',
      '2026-11-15T10:00:00Z',
      '2026-11-15T10:00:00.000001Z',
      '2026-11-15T11:00:00Z',
      '2026-11-15T11:00:00.000001Z',
    )
    const idsWith = async (query: string) => {
      const found = [1, 2, 100].map((limit) => walkPages<Order>(own, `${SORTED}&${query}&limit=${limit}`))
      const [one, ...others] = (await Promise.all(found)).map((pages) => idsOf(pages.flat()))
      for (const other of others) expect(other).toEqual(one)
      return one
    }
    expect(await idsWith('closedFrom=2026-11-15T10:00:00Z&closedTo=2026-11-15T11:00:00Z')).toEqual([3, 2])
    expect(await idsWith('closedFrom=2026-11-15T10:00:00.000001Z')).toEqual([5, 4, 3])
    expect(await idsWith('closedTo=2026-11-15T11:00:00.000001Z')).toEqual([4, 3, 2, 1])
    expect(await idsWith('closedTo=2026-11-15T12:00:00.000001%2B01:00')).toEqual([4, 3, 2, 1])
    expect(await idsWith('closedFrom=2026-11-15T05:00:00-06:00')).toEqual([5, 4])
    expect(await idsWith('closedFrom=0000-01-01T00:00:00Z&closedTo=9999-12-31T23:59:59Z')).toHaveLength(5)
    expect(await idsWith('closedFrom=2026-11-15T11:00:00Z&closedTo=2026-11-15T10:00:00Z')).toEqual([])
  })

  test('contain an order as soon as it is completed', async () => {
    const { id } = await api.hold()
    const { body } = await api.end('complete', id)
    expect(((await api.get(SORTED)).body as Order[])[0]).toEqual(body)
  })

  test('have cursors of their own (400)', async () => {
    const own = await openWith('2026-11-15T10:00:00Z', '2026-11-15T11:00:00Z', '2026-11-15T12:00:00Z')
    const filtered = `${SORTED}&closedFrom=2026-11-15T10:00:00Z`
    const sorted = cursorOf(await own.get(`${SORTED}&limit=1`), own)
    const byId = cursorOf(await own.get('/store/orders?status=completed&limit=1'), own)
    for (const path of [
      `/store/orders?status=completed&cursor=${sorted}`,
      `${SORTED}&cursor=${byId}`,
      `${filtered}&cursor=${sorted}`,
    ]) {
      expect(await own.get(path)).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
    }
    expect((await own.get(`${SORTED}&cursor=${sorted}`)).body).toHaveLength(2)
  })
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
  'sort=closedAt',
  'status=open&sort=closedAt',
  'status=completed&sort=closedAt&petId=1',
  'closedFrom=2026-11-15T00:00:00Z',
  'status=open&sort=expiresAt&closedTo=2026-11-15T00:00:00Z',
  'status=completed&sort=closedAt&closedFrom=2026-11-15',
  'status=completed&sort=closedAt&closedTo=',
  'status=completed&sort=closedAt&closedTo=infinity',
  'status=completed&sort=closedAt&closedTo=2026-11-15T00:00:00%2B01',
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

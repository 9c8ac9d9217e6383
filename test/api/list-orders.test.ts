// GET /v1/store/orders: newest first, filtered by status and pet, in pages.
import { expect, test } from 'vitest'
import { cursorOf, type Order, openApiFixture, walkPages } from './fixture.ts'

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
])('rejects ?%s (400)', async (query) => {
  const response = await api.get(`/store/orders?${query}`)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
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

// The other operations that a key with the scopes pets:read and pets:write can call: updates, deletions, history,
// categories, inventory and search by name. Operations on orders and other keys return 403.
import { randomUUID } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import {
  addPet,
  addPets,
  faultyFields,
  newCategoryId,
  newestFirst,
  type Pet,
  petsOf,
  rows,
  walk,
} from '../support/pets.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })
const patch = (id: number, body: unknown, headers: Record<string, string> = {}) =>
  petstore.call('PATCH', `/v1/pets/${id}`, { body, headers })
const remove = (id: number | string, headers: Record<string, string> = {}) =>
  petstore.call('DELETE', `/v1/pets/${id}`, { headers })
const UNKNOWN_IDS = [
  '9223372036854775807',
  '9223372036854775808',
  '0',
  '-1',
  'abc',
  '1.5',
  '%zz',
  '9'.repeat(400),
]

interface Category {
  id: number | bigint
  name?: string
  counts: Record<string, number>
}

/** Pages through the whole list, because the service may contain other categories. */
async function findCategory(id: number): Promise<Category | undefined> {
  const all = await walk(petstore, '/v1/categories?limit=100')
  return (all as unknown as Category[]).find((category) => category.id === id)
}

describe('an update', () => {
  test('returns the whole pet and its new ETag', async () => {
    const pet = await addPet(petstore)
    const response = await patch(pet.id, { name: 'Rex', status: 'sold', reason: 'walk-in' })
    expect(response).toMatchObject({ status: 200, body: { ...pet, name: 'Rex', status: 'sold' } })
    expect(response.headers.get('etag')).toBe((await petstore.get(`/pets/${pet.id}`)).headers.get('etag'))
    expect(petsOf(await petstore.get(`/pets?id=${pet.id}`))).toEqual([response.body])
  })

  test('with the ETag of an earlier version in If-Match returns 412', async () => {
    const created = await petstore.post('/pets', { name: 'Rex', categoryId: newCategoryId() })
    const { id } = created.body as Pet
    const seen = created.headers.get('etag') ?? ''
    expect((await patch(id, { name: 'First' }, { 'if-match': seen })).status).toBe(200)
    const late = await patch(id, { name: 'Second' }, { 'if-match': seen })
    expect(late).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    expect(await remove(id, { 'if-match': seen })).toMatchObject({ status: 412 })
    expect(petsOf(await petstore.get(`/pets?id=${id}`))).toMatchObject([{ name: 'First' }])
  })

  test('from sold to pending returns 409', async () => {
    const { id } = await addPet(petstore, { status: 'sold' })
    const response = await patch(id, { status: 'pending' })
    expect(response).toMatchObject({ status: 409, body: { code: 'invalid_transition' } })
  })

  test('with invalid values returns 400 with every invalid field', async () => {
    const { id } = await addPet(petstore)
    const response = await patch(id, { name: '', categoryId: 0, status: 'gone', reason: '' })
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(faultyFields(response)).toEqual(['categoryId', 'name', 'reason', 'status'])
  })
})

describe('a deletion', () => {
  test('returns 204, and every later request for the pet returns 404', async () => {
    const { id, categoryId } = await addPet(petstore)
    expect((await remove(id)).status).toBe(204)
    expect(petsOf(await petstore.get(`/pets?categoryId=${categoryId}`))).toEqual([])
    for (const response of [
      await remove(id),
      await patch(id, {}),
      await petstore.get(`/pets/${id}/history`),
    ]) {
      expect(response).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
    }
  })
})

test.each(rows(UNKNOWN_IDS))('returns 404 for the pet id $shown', async ({ value }) => {
  const responses = [
    await petstore.call('PATCH', `/v1/pets/${value}`, { body: {} }),
    await remove(value),
    await petstore.get(`/pets/${value}/history`),
  ]
  for (const { status, body } of responses) {
    expect({ status, body }).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
  }
})

test('the history returns each change with its request id and reason, newest first, on pages of any size', async () => {
  const { id } = await addPet(petstore)
  await patch(id, { name: 'Rex' }, { 'x-request-id': 'second' })
  await patch(id, { status: 'sold', reason: 'walk-in' }, { 'x-request-id': 'third' })
  const whole = (await petstore.get(`/pets/${id}/history`)).body
  expect(whole).toMatchObject([
    {
      event: 'updated',
      from: { status: 'available' },
      to: { status: 'sold' },
      requestId: 'third',
      reason: 'walk-in',
    },
    { event: 'updated', from: { name: 'Biscuit' }, to: { name: 'Rex' }, requestId: 'second' },
    { event: 'created' },
  ])
  for (const limit of [1, 2, 3]) {
    expect(await walk(petstore, `/v1/pets/${id}/history?limit=${limit}`)).toEqual(whole)
  }
})

describe('a category', () => {
  test('is listed with its counts from its first pet on, and can be named and renamed', async () => {
    const categoryId = newCategoryId()
    expect(await findCategory(categoryId)).toBeUndefined()
    const pet = await addPet(petstore, { categoryId })
    await addPet(petstore, { categoryId, status: 'sold' })
    const counts = { available: 1, pending: 0, sold: 1 }
    expect(await findCategory(categoryId)).toEqual({ id: categoryId, counts })
    const named = await petstore.call('PUT', `/v1/categories/${categoryId}`, { body: { name: 'Cats' } })
    expect(named).toMatchObject({ status: 201, body: { id: categoryId, name: 'Cats', counts } })
    const renamed = await petstore.call('PUT', `/v1/categories/${categoryId}`, { body: { name: 'Dogs' } })
    expect(renamed).toMatchObject({ status: 200, body: { name: 'Dogs' } })
    await remove(pet.id)
    expect((await findCategory(categoryId))?.counts).toEqual({ available: 0, pending: 0, sold: 1 })
  })

  test('needs a name of 1 to 100 code points and a valid id', async () => {
    const put = (id: string, name: string) => petstore.call('PUT', `/v1/categories/${id}`, { body: { name } })
    const id = String(newCategoryId())
    expect((await put(id, '🐕'.repeat(100))).status).toBe(201)
    expect(await put(id, '🐕'.repeat(101))).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(await put(id, ' ')).toMatchObject({ status: 400 })
    for (const none of ['0', 'abc', '9223372036854775808']) expect((await put(none, 'x')).status).toBe(404)
  })
})

test('the inventory counts a new pet', async () => {
  const before = (await petstore.get('/store/inventory')).body as Record<string, number>
  expect(Object.keys(before).toSorted()).toEqual(['available', 'pending', 'sold'])
  await addPets(petstore, 5, () => ({ status: 'pending' }))
  const after = (await petstore.get('/store/inventory')).body as Record<string, number>
  // Other tests may add pending pets at the same time, but none deletes a pending pet.
  expect(after['pending']).toBeGreaterThanOrEqual((before['pending'] ?? 0) + 5)
})

describe('search by name', () => {
  const own = randomUUID()

  test('finds names by prefix, ignoring case, sorted by name, on pages of any size', async () => {
    const names = ['Émile', 'émilie', 'ÉMILE', 'emile'].map((name) => `${own} ${name}`)
    const pets = await addPets(petstore, names.length, (index) => ({ name: names[index] as string }))
    const query = encodeURIComponent(`${own.toUpperCase()} ÉMI`)
    const found = petsOf(await petstore.get(`/pets?name=${query}`))
    const [first, second, third] = pets as [Pet, Pet, Pet]
    const equalNames = newestFirst([first.id, third.id]).toReversed()
    expect(found.map(({ id }) => id)).toEqual([...equalNames, second.id])
    expect(await walk(petstore, `/v1/pets?name=${query}&limit=1`)).toEqual(found)
  })

  test.each(['name=%zz', 'name=a%ff', 'name=%ed%a0%80', 'name=%e9'])(
    'rejects ?%s, which cannot be decoded (400)',
    async (query) => {
      const response = await petstore.get(`/pets?${query}`)
      expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
      expect(faultyFields(response)).toEqual(['name'])
    },
  )

  test.each(['name=a&categoryId=1', 'name=a&id=1', 'name=', 'name=a&name=b'])(
    'rejects ?%s (400)',
    async (query) => {
      const response = await petstore.get(`/pets?${query}`)
      expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    },
  )
})

describe('a key with the pets scopes', () => {
  test.each([
    { method: 'GET', path: '/store/orders', scope: 'orders:read' },
    { method: 'GET', path: '/store/orders/1', scope: 'orders:read' },
    { method: 'POST', path: '/store/orders', scope: 'orders:write' },
    { method: 'POST', path: '/store/orders/1/complete', scope: 'orders:write' },
    { method: 'POST', path: '/store/orders/1/cancel', scope: 'orders:write' },
    { method: 'GET', path: '/api-keys', scope: 'admin' },
    { method: 'POST', path: '/api-keys', scope: 'admin' },
    { method: 'POST', path: '/api-keys/1/rotate', scope: 'admin' },
    { method: 'DELETE', path: '/api-keys/1', scope: 'admin' },
  ])('cannot call $method $path, which needs $scope (403)', async ({ method, path, scope }) => {
    const response = await petstore.call(method, `/v1${path}`)
    expect(response).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    expect(response.headers.get('www-authenticate')).toContain(`scope="${scope}"`)
    expect((await petstore.call(method, `/v1${path}`, { apiKey: null })).status).toBe(401)
  })

  test('can read its own scopes', async () => {
    const { body } = await petstore.get('/api-keys/self')
    expect((body as { scopes: string[] }).scopes).toEqual(expect.arrayContaining(['pets:read', 'pets:write']))
  })
})

// POST /v1/pets: accepted pets, and the errors for rejected ones.
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { faultyFields, idsOf, newCategoryId, newPet, type Pet, petsOf } from '../support/pets.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })

test('returns 201 with the pet, its id and its Location', async () => {
  const pet = newPet({ status: 'pending' })
  const { status, body, headers } = await petstore.post('/pets', pet)
  expect(status).toBe(201)
  const { id } = body as Pet
  expect(body).toEqual({ ...pet, id })
  expect(id).toBeGreaterThan(0)
  expect(new URL(headers.get('location') ?? '', petstore.origin).pathname).toBe(`/v1/pets/${id}`)
})

test('the Location of a new pet returns that pet', async () => {
  const { body, headers } = await petstore.post('/pets', newPet())
  const { pathname } = new URL(headers.get('location') ?? '', petstore.origin)
  expect((await petstore.call('GET', pathname)).body).toEqual(body)
})

test.each(['available', 'pending', 'sold'])('creates a pet with the status %s', async (status) => {
  const { body } = await petstore.post('/pets', newPet({ status }))
  expect(body).toMatchObject({ status })
})

test('creates an available pet if no status is sent', async () => {
  const { name, categoryId } = newPet()
  const { status, body } = await petstore.post('/pets', { name, categoryId })
  expect(status).toBe(201)
  expect(body).toMatchObject({ name, categoryId, status: 'available' })
  expect(petsOf(await petstore.get(`/pets?status=available&categoryId=${categoryId}`))).toEqual([body])
})

test('creates two pets from two requests with the same values', async () => {
  const pet = newPet()
  const [one, two] = await Promise.all([petstore.post('/pets', pet), petstore.post('/pets', pet)])
  expect((one.body as Pet).id).not.toBe((two.body as Pet).id)
  expect(petsOf(await petstore.get(`/pets?categoryId=${pet.categoryId}`))).toHaveLength(2)
})

test('ignores unknown fields, does not return them, and names them in a header', async () => {
  const pet = newPet()
  const { status, body, headers } = await petstore.post('/pets', {
    ...pet,
    age: 3,
    tags: ['x'],
    Status: 'sold',
    'größe, cm': { name: 1 },
  })
  expect(status).toBe(201)
  expect(body).toEqual({ ...pet, id: (body as Pet).id })
  expect(headers.get('petstore-ignored-fields')).toBe('age, tags, Status, gr%C3%B6%C3%9Fe%2C%20cm')
})

describe('a profile', () => {
  const profile = { price: '129.00', breed: 'Beagle', bornOn: '2025-05-31', description: 'a\n"b"' }

  test('is stored together with the pet, as if it had been sent later', async () => {
    const pet = newPet()
    const { status, body, headers } = await petstore.post('/pets', { ...pet, profile })
    expect(status).toBe(201)
    const { id } = body as Pet
    expect(body).toEqual({ ...pet, status: 'available', id })
    expect(headers.get('etag')).toBe('"1"')
    expect(headers.has('petstore-ignored-fields')).toBe(false)
    const stored = await petstore.get(`/pets/${id}/profile`)
    expect(stored.body).toEqual({ petId: id, currency: 'EUR', ...profile })
    expect(stored.headers.get('etag')).toBe('"1"')
    expect((await petstore.get(`/pets/${id}/history`)).body).toMatchObject([
      { event: 'updated', to: { ...profile, currency: 'EUR' } },
      { event: 'created' },
    ])
  })

  test('without a fact stores nothing', async () => {
    const { body } = await petstore.post('/pets', { ...newPet(), profile: {} })
    const stored = await petstore.get(`/pets/${(body as Pet).id}/profile`)
    expect(stored.headers.get('etag')).toBe('"0"')
  })

  test('belongs to the request of an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const pet = newPet()
    const first = await petstore.post('/pets', { ...pet, profile }, headers)
    const second = await petstore.post('/pets', { ...pet, profile }, headers)
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    const { id } = first.body as Pet
    expect((await petstore.get(`/pets/${id}/profile`)).body).toMatchObject(profile)
    const others = [undefined, { ...profile, breed: 'Pug' }]
    for (const other of others)
      expect((await petstore.post('/pets', { ...pet, profile: other }, headers)).body).toMatchObject({
        code: 'idempotency_key_reused',
      })
  })

  test.each([
    ['profile', 'wrong_type', null],
    ['profile', 'wrong_type', 'Beagle'],
    ['profile.bred', 'unknown_field', { bred: 'Beagle' }],
    ['profile.breed', 'wrong_type', { breed: null }],
    ['profile.price', 'invalid_format', { price: '129' }],
    ['profile.bornOn', 'out_of_range', { bornOn: '9999-01-01' }],
    ['profile.currency', 'currency_mismatch', { price: '129.00', currency: 'USD' }],
  ])('with the fault %s %s creates no pet (400)', async (field, code, faulty) => {
    const pet = newPet()
    const { status, body } = await petstore.post('/pets', { ...pet, profile: faulty })
    expect(status).toBe(400)
    expect(body).toMatchObject({
      details: [{ field, code, message: expect.stringContaining(field) as string }],
    })
    expect(petsOf(await petstore.get(`/pets?categoryId=${pet.categoryId}`))).toEqual([])
  })
})

test('names at most ten ignored fields, the start of a long name, and none if there are none', async () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `field${index}`)
  const many = await petstore.post('/pets', {
    ...newPet(),
    ...Object.fromEntries(names.map((name) => [name, 1])),
  })
  expect(many.headers.get('petstore-ignored-fields')).toBe(names.slice(0, 10).join(', '))
  const long = await petstore.post('/pets', { ...newPet(), ['x'.repeat(1_000)]: 1 })
  expect(long.headers.get('petstore-ignored-fields')).toBe(`${'x'.repeat(60)}${encodeURIComponent('…')}`)
  const lone = await petstore.post('/pets', `{"name": "Rex", "categoryId": ${newCategoryId()}, "\\ud800": 1}`)
  expect(lone.headers.get('petstore-ignored-fields')).toBe('%EF%BF%BD')
  expect((await petstore.post('/pets', newPet())).headers.has('petstore-ignored-fields')).toBe(false)
})

test.each([1, 9_007_199_254_740_000, '1', -1, null, { id: 1 }])(
  'ignores the id %j in the body',
  async (id) => {
    const pet = newPet()
    const { status, body } = await petstore.post('/pets', { ...pet, id })
    expect(status).toBe(201)
    expect((body as Pet).id).not.toEqual(id)
  },
)

test.each([
  '"__proto__": {"name": "Mallory", "status": "sold", "admin": true}',
  '"constructor": {"prototype": {"status": "sold"}}',
  '"toString": 1, "hasOwnProperty": 2, "toJSON": 3',
])('ignores the fields %s', async (field) => {
  const categoryId = newCategoryId()
  const response = await petstore.post('/pets', `{"name": "Rex", "categoryId": ${categoryId}, ${field}}`)
  expect(response.status).toBe(201)
  expect(response.body).toEqual({
    id: (response.body as Pet).id,
    name: 'Rex',
    categoryId,
    status: 'available',
  })
  const next = await petstore.post('/pets', { name: 'Rex', categoryId })
  expect(next.body).toMatchObject({ name: 'Rex', status: 'available' })
})

test('does not read values from __proto__', async () => {
  const response = await petstore.post('/pets', '{"__proto__": {"name": "Mallory", "categoryId": 5}}')
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
  expect(faultyFields(response)).toEqual(['categoryId', 'name'])
})

describe('an invalid pet', () => {
  const good = { name: 'Biscuit', categoryId: 5, status: 'sold' }

  test.each([
    { sent: {}, fields: ['categoryId', 'name'] },
    { sent: { name: 'Biscuit' }, fields: ['categoryId'] },
    { sent: { categoryId: 5 }, fields: ['name'] },
    { sent: { status: 'sold' }, fields: ['categoryId', 'name'] },
    { sent: { name: '', categoryId: 0, status: 'gone' }, fields: ['categoryId', 'name', 'status'] },
    { sent: { name: null, categoryId: null, status: null }, fields: ['categoryId', 'name', 'status'] },
    { sent: { name: 7, categoryId: '5', status: 1 }, fields: ['categoryId', 'name', 'status'] },
    { sent: { name: ['a'], categoryId: [5], status: ['sold'] }, fields: ['categoryId', 'name', 'status'] },
    { sent: { name: {}, categoryId: {}, status: {} }, fields: ['categoryId', 'name', 'status'] },
    { sent: { categoryId: 1.5, status: 'SOLD' }, fields: ['categoryId', 'name', 'status'] },
    { sent: { Name: 'Biscuit', CategoryId: 5 }, fields: ['categoryId', 'name'] },
  ])('$sent returns 400 with every invalid field: $fields', async ({ sent, fields }) => {
    const response = await petstore.post('/pets', sent)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(faultyFields(response)).toEqual(fields)
  })

  const wrongStatuses = [
    '',
    'SOLD',
    'Available',
    'gone',
    ' sold',
    'sold ',
    'sold\n',
    null,
    0,
    true,
    [],
    ['sold'],
    {},
  ]

  test.each(wrongStatuses.map((status) => ({ status, shown: JSON.stringify(status) })))(
    'with the status $shown returns 400',
    async ({ status }) => {
      const response = await petstore.post('/pets', { ...good, status })
      expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
      expect(faultyFields(response)).toEqual(['status'])
    },
  )

  test('returns a field, a code and a message for each problem', async () => {
    const { body } = await petstore.post('/pets', {})
    for (const detail of (body as { details: unknown[] }).details) {
      expect(detail).toEqual({
        field: expect.stringMatching(/^(name|categoryId)$/),
        code: expect.stringMatching(/^[a-z]+(_[a-z]+)*$/),
        message: expect.stringMatching(/\S/),
      })
    }
  })

  test('is not stored', async () => {
    const categoryId = newCategoryId()
    await petstore.post('/pets', { categoryId, name: '' })
    await petstore.post('/pets', { categoryId, name: 'Biscuit', status: 'gone' })
    expect(idsOf(petsOf(await petstore.get(`/pets?categoryId=${categoryId}`)))).toEqual([])
  })
})

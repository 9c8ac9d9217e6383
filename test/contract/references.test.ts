// The shop's own id of a pet: unique in every way to write it, a filter, and PUT /v1/pets/by-reference/{reference}.
import { randomUUID } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { addPet, idsOf, newCategoryId, type Pet, petsOf } from '../support/pets.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })
const newReference = () => `${randomUUID()} / ä`
const put = (reference: string, body: object) =>
  petstore.call('PUT', `/v1/pets/by-reference/${encodeURIComponent(reference)}`, { body })
const profileOf = async (id: number) => (await petstore.get(`/pets/${id}/profile`)).body
const find = async (reference: string, more = '') =>
  petsOf(await petstore.get(`/pets?reference=${encodeURIComponent(reference)}${more}`))

describe('PUT /v1/pets/by-reference', () => {
  test('creates the pet (201), then changes it (200), and never its status', async () => {
    const [reference, categoryId] = [newReference(), newCategoryId()]
    const body = { name: 'Rex', categoryId, status: 'pending', profile: { price: '5.00', breed: 'Pug' } }
    const created = await put(reference, body)
    expect(created.status).toBe(201)
    const { id } = created.body as Pet
    expect(created.body).toEqual({ id, name: 'Rex', categoryId, status: 'pending' })
    expect(created.headers.get('location')).toMatch(new RegExp(`/v1/pets/${id}$`))
    expect(created.headers.get('etag')).toBe('"1"')
    expect(await profileOf(id)).toEqual({
      petId: id,
      price: '5.00',
      currency: 'EUR',
      breed: 'Pug',
      reference,
    })

    const changed = await put(reference, {
      ...body,
      name: 'Tom',
      status: 'sold',
      profile: { sex: 'male', breed: null },
    })
    expect([changed.status, changed.headers.get('etag'), changed.headers.get('location')]).toEqual([
      200,
      '"2"',
      null,
    ])
    expect(changed.body).toEqual({ id, name: 'Tom', categoryId, status: 'pending' })
    expect(await profileOf(id)).toEqual({ petId: id, price: '5.00', currency: 'EUR', sex: 'male', reference })
  })

  test('changes nothing when it is repeated', async () => {
    const reference = newReference()
    const body = { name: 'Rex', categoryId: newCategoryId(), profile: { price: '5.00', reference } }
    const { id } = (await put(reference, body)).body as Pet
    const history = async () => (await petstore.get(`/pets/${id}/history`)).body
    const before = await history()
    const again = await put(reference, body)
    expect([again.status, again.headers.get('etag')]).toEqual([200, '"1"'])
    expect(await history()).toEqual(before)
  })

  test('of several at the same time, one creates the pet and the others change it', async () => {
    const [reference, categoryId] = [newReference(), newCategoryId()]
    const breeds = Array.from({ length: 8 }, (_, index) => `Breed ${index}`)
    const responses = await Promise.all(
      breeds.map((breed) => put(reference, { name: 'Rex', categoryId, profile: { breed } })),
    )
    expect(responses.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      ...breeds.slice(1).map(() => 200),
      201,
    ])
    expect(new Set(responses.map(({ body }) => (body as Pet).id)).size).toBe(1)
    expect(petsOf(await petstore.get(`/pets?categoryId=${categoryId}`))).toHaveLength(1)
  })

  test('keeps the price without a price, and clears it with its currency', async () => {
    const reference = newReference()
    const body = { name: 'Rex', categoryId: newCategoryId() }
    const { id } = (await put(reference, { ...body, profile: { price: '5.00' } })).body as Pet
    await put(reference, { ...body, profile: { currency: 'EUR' } })
    expect(await profileOf(id)).toMatchObject({ price: '5.00', currency: 'EUR' })
    await put(reference, { ...body, profile: { price: null } })
    expect(await profileOf(id)).toEqual({ petId: id, reference })
  })

  test.each([
    ['profile.reference', { reference: 'another' }],
    ['profile.reference', { reference: null }],
    ['profile.price', { price: '5' }],
    ['profile.sex', { sex: 'x' }],
    ['profile.bred', { bred: 'Pug' }],
    ['profile.currency', { price: '5.00', currency: 'USD' }],
  ])('rejects a fault in %s (400), and creates no pet', async (field, profile) => {
    const [reference, categoryId] = [newReference(), newCategoryId()]
    const { status, body } = await put(reference, { name: 'Rex', categoryId, profile })
    expect(status).toBe(400)
    expect(body).toMatchObject({ details: [{ field }] })
    expect(await find(reference)).toEqual([])
  })

  test.each([['%20'], ['a%00'], ['a%0A'], ['x'.repeat(101)]])(
    'rejects the reference %s (400)',
    async (text) => {
      const { status, body } = await petstore.call('PUT', `/v1/pets/by-reference/${text}`, {
        body: { name: 'Rex', categoryId: 1 },
      })
      expect([status, (body as { code: string }).code]).toEqual([400, 'invalid_parameter'])
    },
  )

  test('creates a new pet after the pet with the reference was deleted', async () => {
    const reference = newReference()
    const body = { name: 'Rex', categoryId: newCategoryId() }
    const first = (await put(reference, body)).body as Pet
    await petstore.call('DELETE', `/v1/pets/${first.id}`)
    const second = await put(reference, body)
    expect(second.status).toBe(201)
    expect((second.body as Pet).id).toBeGreaterThan(first.id)
  })
})

test('every other way to give a reference to a second pet is rejected (409), and changes nothing', async () => {
  const [reference, categoryId] = [newReference(), newCategoryId()]
  const pet = { name: 'Rex', categoryId, profile: { reference } }
  expect((await petstore.post('/pets', pet)).status).toBe(201)
  const other = await addPet(petstore, { categoryId })
  const used = { status: 409, body: { code: 'reference_in_use' } }
  expect(await petstore.post('/pets', pet)).toMatchObject(used)
  expect(await petstore.post('/pets', pet, { 'idempotency-key': randomUUID() })).toMatchObject(used)
  expect(
    await petstore.call('PUT', `/v1/pets/${other.id}/profile`, { body: { reference, breed: 'Pug' } }),
  ).toMatchObject(used)
  expect(await profileOf(other.id)).toEqual({ petId: other.id })
  const own = newReference()
  const create = (name: string) => ({ create: { ...pet, name, profile: { reference: own } } })
  const { body } = await petstore.post('/pet-changes', {
    changes: [create('A'), { create: pet }, create('B')],
  })
  const { results } = body as { results: { status: number; error?: object }[] }
  expect(results.map(({ status }) => status)).toEqual([201, 409, 409])
  expect(results[1]?.error).toMatchObject({ code: 'reference_in_use' })
  expect(petsOf(await petstore.get(`/pets?categoryId=${categoryId}`))).toHaveLength(3)
})

test('of many creates with one reference at the same time, one succeeds', async () => {
  const [reference, categoryId] = [newReference(), newCategoryId()]
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      petstore.post(
        '/pets',
        { name: 'Rex', categoryId, profile: { reference } },
        index % 2 === 0 ? {} : { 'idempotency-key': randomUUID() },
      ),
    ),
  )
  expect(responses.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
    201,
    ...Array(11).fill(409),
  ])
  expect(petsOf(await petstore.get(`/pets?categoryId=${categoryId}`))).toHaveLength(1)
})

test('a pet can take the reference that another one has lost', async () => {
  const reference = newReference()
  const [one, other] = [await addPet(petstore, {}), await addPet(petstore, {})]
  const set = async (id: number, body: object) =>
    (await petstore.call('PUT', `/v1/pets/${id}/profile`, { body })).status
  expect([await set(one.id, { reference }), await set(other.id, { reference })]).toEqual([200, 409])
  expect([await set(one.id, {}), await set(other.id, { reference })]).toEqual([200, 200])
  expect(idsOf(await find(reference))).toEqual([other.id])
})

test('the filter finds the pet with exactly this reference, also with other filters', async () => {
  const [reference, categoryId] = [newReference(), newCategoryId()]
  const { body } = await put(reference, { name: 'Rex', categoryId })
  const { id } = body as Pet
  for (const more of [
    '',
    '&status=available',
    `&categoryId=${categoryId}`,
    '&name=rex',
    '&word=rex',
    `&id=${id}`,
  ])
    expect(idsOf(await find(reference, more))).toEqual([id])
  for (const more of ['&status=sold', '&name=tom', '&word=tom', `&id=${id + 1}`])
    expect(await find(reference, more)).toEqual([])
  expect(await find(reference.toUpperCase())).toEqual([])
  const { text, headers } = await petstore.get(`/pets?limit=1&reference=${encodeURIComponent(reference)}`)
  expect(JSON.parse(text)).toEqual([body])
  expect(headers.get('link')).not.toContain('next')
})

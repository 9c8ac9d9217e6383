// The parameter `include` of listPets, getPet and exportPets: what it adds to each pet.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { addPet, newCategoryId, type Pet, petsOf, walk } from '../support/pets.ts'
import { FULL_PROFILE } from '../support/profile.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })
const categoryId = newCategoryId()
const name = `inc${categoryId}`
const facts = { ...FULL_PROFILE, reference: `SKU-${categoryId}`, description: 'a "b" \\ },{"id":1\r\n😀' }
/** With all facts, with one, and with none; the newest is last. */
let pets: [Pet, Pet, Pet]
/** What every list has with include=profile, newest first. */
let included: Record<string, unknown>[]

beforeAll(async () => {
  const add = async () => addPet(petstore, { name: `${name} pet`, categoryId })
  pets = [await add(), await add(), await add()]
  const put = (pet: Pet, body: object) => petstore.call('PUT', `/v1/pets/${pet.id}/profile`, { body })
  await put(pets[0], facts)
  await put(pets[1], { breed: 'Pug' })
  included = [
    { ...pets[2], profile: {} },
    { ...pets[1], profile: { breed: 'Pug' } },
    { ...pets[0], profile: { currency: 'EUR', ...facts } },
  ]
})

const LISTS = [
  `categoryId=${categoryId}`,
  `categoryId=${categoryId}&status=available`,
  `name=${name}&status=available`,
  `word=${name}`,
  `word=${name}&status=available`,
]

test.each(LISTS)('include=profile adds the profile to each pet of a list: %s', async (query) => {
  const response = await petstore.get(`/pets?${query}&include=profile`)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const found = petsOf(response)
  expect(query.startsWith('name') ? found.toReversed() : found).toEqual(included)
  expect(petsOf(await petstore.get(`/pets?${query}`))).not.toContainEqual(
    expect.objectContaining({ profile: expect.anything() as unknown }),
  )
})

test('the pages of a list keep what they include', async () => {
  const first = await petstore.get(`/pets?categoryId=${categoryId}&include=times,profile&limit=2`)
  expect(petsOf(first)).toHaveLength(2)
  const walked = await walk(petstore, `/v1/pets?limit=1&categoryId=${categoryId}&include=profile`)
  expect(walked).toEqual(included)
})

test('the pets of a list with ids have the same', async () => {
  const ids = pets.map(({ id }) => `id=${id}`).join('&')
  expect((await petstore.get(`/pets?${ids}&include=profile`)).body).toEqual(included)
  expect((await petstore.get(`/pets?${ids}&status=sold&include=profile`)).body).toEqual([])
  const unknown = await petstore.get('/pets?id=9223372036854775807&include=profile')
  expect([unknown.status, unknown.text]).toEqual([200, '[]'])
})

test('getPet has the same, and 404 for an unknown pet', async () => {
  expect((await petstore.get(`/pets/${pets[0].id}?include=profile`)).body).toEqual(included[2])
  const unknown = await petstore.get('/pets/9223372036854775807?include=profile')
  expect(unknown.body).toMatchObject({ code: 'pet_not_found' })
})

describe('include=times', () => {
  const timesOf = async (id: number) =>
    (await petstore.get(`/pets/${id}?include=times`)).body as { createdAt: string; updatedAt: string }

  test('has the times of the creation and of the last change of the pet or its profile', async () => {
    const { body } = await petstore.post('/pets', {
      name: 'Rex',
      categoryId: newCategoryId(),
      profile: { breed: 'Beagle' },
    })
    const { id } = body as Pet
    const created = await timesOf(id)
    expect(created.updatedAt).toBe(created.createdAt)
    expect(created.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const seen = [created]
    for (const change of [
      () => petstore.call('PATCH', `/v1/pets/${id}`, { body: { status: 'sold' } }),
      () => petstore.call('PUT', `/v1/pets/${id}/profile`, { body: { breed: 'Pug' } }),
    ]) {
      await change()
      const [{ at } = { at: '' }] = (await petstore.get(`/pets/${id}/history`)).body as { at: string }[]
      const times = await timesOf(id)
      expect(times).toMatchObject({ createdAt: created.createdAt, updatedAt: at })
      seen.push(times)
    }
    expect(new Set(seen.map(({ updatedAt }) => updatedAt)).size).toBe(3)
  })
})

test('the ETag of one pet changes with what is included, and can be sent with If-Match', async () => {
  const pet = await addPet(petstore, {})
  const etagOf = async (path: string) => (await petstore.get(path)).headers.get('etag') ?? ''
  const [plain, before] = [await etagOf(`/pets/${pet.id}`), await etagOf(`/pets/${pet.id}?include=profile`)]
  expect(await etagOf(`/pets?id=${pet.id}`)).toBe(plain)
  await petstore.call('PUT', `/v1/pets/${pet.id}/profile`, { body: { breed: 'Pug' } })
  const after = await etagOf(`/pets?id=${pet.id}&include=profile`)
  expect(after).toBe(await etagOf(`/pets/${pet.id}?include=profile`))
  expect(await etagOf(`/pets/${pet.id}`)).toBe(plain)
  expect(new Set([plain, before, after]).size).toBe(3)
  const patch = (etag: string, path = '', method = 'PATCH', body: object = { name: 'Tom' }) =>
    petstore.call(method, `/v1/pets/${pet.id}${path}`, { body, headers: { 'if-match': etag } })
  expect((await patch(after, '/profile', 'PUT', {})).status).toBe(412)
  expect((await patch(after)).status).toBe(200)
  expect((await patch(after)).status).toBe(412)
})

test('exports have the columns of what they include, in the order of the document', async () => {
  const read = async (query: string) =>
    (await petstore.get(`/pet-export?categoryId=${categoryId}&${query}`)).text
  expect((await read('include=times,profile')).split('\n')[0]).toBe(
    'id,name,categoryId,status,price,currency,breed,sex,bornOn,chipNumber,reference,description,createdAt,updatedAt',
  )
  const [line = ''] = (await read('format=ndjson&include=times')).split('\n')
  const times = (await petstore.get(`/pets/${pets[2].id}?include=times`)).body
  expect(JSON.parse(line)).toEqual(times)
})

test.each([
  ['include=', 'not_allowed'],
  ['include=profiles', 'not_allowed'],
  ['include=profile,', 'not_allowed'],
  ['include=profile,profile', 'repeated'],
  ['include=profile&include=times', 'repeated'],
])('rejects %s (400)', async (query, code) => {
  for (const path of ['/pets', `/pets/${pets[0].id}`, '/pet-export']) {
    const { status, body } = await petstore.get(`${path}?${query}`)
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid_parameter', details: [{ field: 'include', code }] })
  }
})

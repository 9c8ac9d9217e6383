// GET /v1/pets?id=…: the successor of getPet.
import { beforeAll, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import {
  addPets,
  faultyFields,
  idsOf,
  linkTo,
  newCategoryId,
  newestFirst,
  newPet,
  type Pet,
  petsOf,
  rows,
} from '../support/pets.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })
const categoryId = newCategoryId()
/** The largest int64: the sequence never reaches it. */
const UNKNOWN_ID = '9223372036854775807'
const NOT_IDS = [
  '',
  '0',
  '-1',
  '1.5',
  '1e1',
  '0x1',
  '+1',
  '%201',
  'abc',
  '1,2',
  '9223372036854775808',
  '9'.repeat(400),
  '%00',
  '%zz',
]
let pets: Pet[]

beforeAll(async () => {
  pets = await addPets(petstore, 101, (index) => ({
    categoryId,
    status: index % 2 === 0 ? 'sold' : 'pending',
  }))
})

function query(ids: readonly (number | string)[]): string {
  return ids.map((id) => `id=${id}`).join('&')
}

test('returns the pet with the id, in an array', async () => {
  const [pet] = pets as [Pet]
  expect(petsOf(await petstore.get(`/pets?id=${pet.id}`))).toEqual([pet])
})

test('returns the ETag of the pet for exactly one id, including on HEAD', async () => {
  const created = await petstore.post('/pets', newPet({ status: 'sold' }))
  const { id } = created.body as Pet
  const tag = async (path: string) => (await petstore.get(path)).headers.get('etag')
  expect(await tag(`/pets?id=${id}`)).toBe(created.headers.get('etag'))
  const changed = await petstore.call('PATCH', `/v1/pets/${id}`, { body: { name: 'Renamed' } })
  for (const filters of ['', '&status=sold', '&limit=1']) {
    expect(await tag(`/pets?id=${id}${filters}`)).toBe(changed.headers.get('etag'))
  }
  const head = await petstore.call('HEAD', `/v1/pets?id=${id}`)
  expect(head.headers.get('etag')).toBe(changed.headers.get('etag'))
  const seen = (await tag(`/pets?id=${id}`)) ?? ''
  const update = { body: { name: 'Rex' }, headers: { 'if-match': seen } }
  expect((await petstore.call('PATCH', `/v1/pets/${id}`, update)).status).toBe(200)
  expect((await petstore.call('PATCH', `/v1/pets/${id}`, update)).status).toBe(412)
})

test('returns no ETag if no pet is found, and for several ids or none', async () => {
  const [pet, other] = pets as [Pet, Pet]
  for (const filters of [
    `id=${UNKNOWN_ID}`,
    `id=${pet.id}&status=available`,
    `id=${pet.id}&id=${other.id}`,
    `id=${pet.id}&id=${UNKNOWN_ID}`,
    `categoryId=${categoryId}&limit=1`,
  ]) {
    expect((await petstore.get(`/pets?${filters}`)).headers.get('etag'), filters).toBeNull()
  }
})

test('returns up to 100 pets by id, newest first, on one page without a Link', async () => {
  const ids = idsOf(pets).slice(0, 100)
  const response = await petstore.get(`/pets?${query(ids)}`)
  expect(idsOf(petsOf(response))).toEqual(newestFirst(ids))
  expect(response.headers.get('link')).toBeNull()
})

test('rejects more than 100 ids (400)', async () => {
  const response = await petstore.get(`/pets?${query(idsOf(pets))}`)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  expect(faultyFields(response)).toEqual(['id'])
})

test('omits ids that do not exist', async () => {
  const [pet] = pets as [Pet]
  expect(petsOf(await petstore.get(`/pets?${query([UNKNOWN_ID, pet.id])}`))).toEqual([pet])
  expect(petsOf(await petstore.get(`/pets?id=${UNKNOWN_ID}`))).toEqual([])
})

test('returns a pet once if its id is sent twice', async () => {
  const [pet] = pets as [Pet]
  expect(petsOf(await petstore.get(`/pets?${query([pet.id, pet.id])}`))).toEqual([pet])
})

test('combines ids with the filters status and categoryId', async () => {
  const some = pets.slice(0, 10)
  const sold = some.filter((pet) => pet.status === 'sold')
  const ids = query(idsOf(some))
  expect(idsOf(petsOf(await petstore.get(`/pets?${ids}&status=sold`)))).toEqual(newestFirst(idsOf(sold)))
  expect(petsOf(await petstore.get(`/pets?${ids}&status=available`))).toEqual([])
  expect(petsOf(await petstore.get(`/pets?${ids}&categoryId=${categoryId}`))).toHaveLength(10)
  expect(petsOf(await petstore.get(`/pets?${ids}&categoryId=${newCategoryId()}`))).toEqual([])
  const both = `status=pending&categoryId=${categoryId}`
  expect(petsOf(await petstore.get(`/pets?${ids}&${both}`))).toHaveLength(5)
})

test('applies a limit to the pets found by id', async () => {
  const ids = idsOf(pets).slice(0, 10)
  const accepted = petsOf(await petstore.get(`/pets?${query(ids)}&limit=3`))
  expect(idsOf(accepted)).toEqual(newestFirst(ids).slice(0, 3))
  const sold = idsOf(pets.slice(0, 10).filter((pet) => pet.status === 'sold'))
  const filtered = petsOf(await petstore.get(`/pets?${query(ids)}&status=sold&limit=3`))
  expect(idsOf(filtered)).toEqual(newestFirst(sold).slice(0, 3))
})

test.each(rows(NOT_IDS))('rejects id=$shown (400), alone and with a valid id', async ({ value }) => {
  for (const ids of [[value], [pets[0]?.id ?? 0, value]]) {
    const response = await petstore.get(`/pets?${query(ids)}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  }
})

test('rejects ids with a cursor (400)', async () => {
  const page = await petstore.get(`/pets?categoryId=${categoryId}&limit=1`)
  const next = new URL(linkTo('next', page, petstore.origin) ?? '', petstore.origin)
  const cursor = next.searchParams.get('cursor') ?? ''
  const response = await petstore.get(`/pets?id=${pets[0]?.id}&categoryId=${categoryId}&cursor=${cursor}`)
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  expect((await petstore.get(`/pets?id=${pets[0]?.id}&cursor=nonsense`)).status).toBe(400)
})

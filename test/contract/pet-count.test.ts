// GET /v1/pet-count: as many pets as listPets has with the same parameters.
import { beforeAll, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { addPet, newCategoryId, walk } from '../support/pets.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })
const categoryId = newCategoryId()
const word = `cnt${categoryId}`
let ids: number[] = []

beforeAll(async () => {
  for (const status of ['available', 'available', 'sold'])
    ids.push((await addPet(petstore, { name: `${word} rex`, categoryId, status })).id)
  await petstore.call('PUT', `/v1/pets/${ids[0]}/profile`, { body: { reference: word } })
})

test.each([
  [`categoryId=${categoryId}`, 3],
  [`categoryId=${categoryId}&status=sold`, 1],
  [`name=${word}`, 3],
  [`name=${word}&status=available`, 2],
  [`word=${word}`, 3],
  [`word=${word}%20rex&status=sold`, 1],
  [`word=${word}%20tom`, 0],
  [`reference=${word}`, 1],
  [`reference=${word}&status=sold`, 0],
])('counts the pets of the list: %s', async (query, count) => {
  const { status, body } = await petstore.get(`/pet-count?${query}`)
  expect([status, body]).toEqual([200, { count, more: false }])
  expect(await walk(petstore, `/v1/pets?${query}`)).toHaveLength(count)
})

test('counts the given pets', async () => {
  const query = ids.map((id) => `id=${id}`).join('&')
  expect((await petstore.get(`/pet-count?${query}`)).body).toEqual({ count: 3, more: false })
  expect((await petstore.get(`/pet-count?${query}&status=sold`)).body).toEqual({ count: 1, more: false })
})

test.each(['limit=1', 'sort=name', 'cursor=x', 'include=times'])(
  'has no parameter for pages: %s (400)',
  async (query) => {
    expect((await petstore.get(`/pet-count?${query}`)).body).toMatchObject({ code: 'unknown_parameter' })
  },
)

test('has every filter of listPets', async () => {
  for (const query of ['name=x&categoryId=1', 'id=1&word=x', 'statuss=sold'])
    expect((await petstore.get(`/pet-count?${query}`)).status).toBe(400)
})

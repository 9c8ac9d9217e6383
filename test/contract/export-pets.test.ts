// GET /v1/pet-export: pets as a CSV file or as lines of JSON.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import {
  addPet,
  addPets,
  faultyFields,
  idsOf,
  newCategoryId,
  type Pet,
  petsOf,
  walk,
} from '../support/pets.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })
const categoryId = newCategoryId()
const OF_CATEGORY = `categoryId=${categoryId}`
/** More than two pages. */
const PETS = 230

const exported = (query: string) => petstore.get(`/pet-export?${query}`)
const linesOf = (text: string) => text.split('\n').slice(0, -1)
const readLines = (text: string) => linesOf(text).map((line) => JSON.parse(line) as Pet)

beforeAll(async () => {
  const statuses = ['available', 'pending', 'sold']
  await addPets(petstore, PETS, (index) => ({
    name: `${categoryId} ${index % 7}`,
    categoryId,
    status: statuses[index % 3] as string,
  }))
})

describe('an export', () => {
  test('is a CSV file with a header, newest pet first', async () => {
    const others = newCategoryId()
    const first = await addPet(petstore, { name: 'Rex, the "great"', categoryId: others, status: 'sold' })
    const second = await addPet(petstore, { name: 'two\r\nlines', categoryId: others })
    const { status, headers, text } = await exported(`categoryId=${others}`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="pets.csv"')
    expect(text).toBe(
      `id,name,categoryId,status\n${second.id},"two\r\nlines",${others},available\n` +
        `${first.id},"Rex, the ""great""",${others},sold\n`,
    )
  })

  test('has one JSON object per line with format=ndjson', async () => {
    const pet = await addPet(petstore)
    const { headers, text } = await exported(`format=ndjson&categoryId=${pet.categoryId}`)
    expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="pets.ndjson"')
    expect(text).toBe(`${JSON.stringify(pet)}\n`)
  })

  test('also has the profiles with include=profile, and leaves out what they lack', async () => {
    const others = newCategoryId()
    const without = await addPet(petstore, { name: 'Tom', categoryId: others })
    const pet = await addPet(petstore, { name: 'Biscuit', categoryId: others })
    const profile = { breed: 'Beagle', sex: 'female', bornOn: '2025-05-31', description: 'a\nb' }
    await petstore.call('PUT', `/v1/pets/${pet.id}/profile`, { body: profile })
    const query = `include=profile&categoryId=${others}`
    expect((await exported(query)).text).toBe(
      'id,name,categoryId,status,price,currency,breed,sex,bornOn,chipNumber,reference,description\n' +
        `${pet.id},Biscuit,${others},available,,,Beagle,female,2025-05-31,,,"a\nb"\n` +
        `${without.id},Tom,${others},available,,,,,,,,\n`,
    )
    expect(readLines((await exported(`${query}&format=ndjson`)).text)).toEqual([
      { ...pet, ...profile },
      without,
    ])
  })

  test.each([
    OF_CATEGORY,
    `${OF_CATEGORY}&status=sold`,
    `name=${categoryId}`,
    `name=${categoryId}&status=pending`,
    `name=${categoryId}&sort=name`,
    `word=${categoryId}`,
    `word=${categoryId}&status=available&${OF_CATEGORY}`,
  ])('has every pet of listPets once, in the same order: %s', async (query) => {
    const listed = await walk(petstore, `/v1/pets?limit=100&${query}`)
    expect(listed.length).toBeGreaterThan(PETS / 4)
    expect(readLines((await exported(`format=ndjson&${query}`)).text)).toEqual(listed)
  })

  test.each([1, 100, 101, PETS, PETS + 1])('has at most limit pets: %d', async (limit) => {
    const newest = idsOf(petsOf(await petstore.get(`/pets?${OF_CATEGORY}&limit=1`)))
    const ids = idsOf(readLines((await exported(`format=ndjson&${OF_CATEGORY}&limit=${limit}`)).text))
    expect(ids).toHaveLength(Math.min(limit, PETS))
    expect(ids.slice(0, 1)).toEqual(newest)
  })

  test('without a matching pet has only the header, or nothing', async () => {
    const query = `categoryId=${newCategoryId()}`
    expect((await exported(query)).text).toBe('id,name,categoryId,status\n')
    expect((await exported(`format=ndjson&${query}`)).text).toBe('')
  })

  test('can be requested with HEAD', async () => {
    const { status, headers } = await petstore.call('HEAD', '/v1/pet-export?format=ndjson')
    expect([status, headers.get('content-disposition')]).toEqual([200, 'attachment; filename="pets.ndjson"'])
  })
})

test('an export has every filter of listPets except id', async () => {
  interface Operation {
    parameters: { name: string; in: string }[]
  }
  const { body } = await petstore.call('GET', '/openapi.json', { apiKey: null })
  const { paths } = body as { paths: Record<string, { get: Operation }> }
  const filtersOf = (path: string) => {
    const names =
      paths[path]?.get.parameters.filter((one) => one.in === 'query').map(({ name }) => name) ?? []
    return names.filter((name) => !['limit', 'cursor', 'id', 'format', 'include'].includes(name))
  }
  expect(filtersOf('/pet-export')).toEqual(filtersOf('/pets'))
  expect(filtersOf('/pets')).toContain('status')
})

test.each([
  ['format=xml', ['format']],
  ['limit=100001', ['limit']],
  ['include=orders', ['include']],
  ['name=a&categoryId=1', ['name']],
  ['name=a&word=b', ['word']],
  ['sort=name&categoryId=1', ['sort']],
])('rejects invalid parameters of an export (400): %s', async (query, fields) => {
  const response = await exported(query)
  expect([response.status, faultyFields(response)]).toEqual([400, fields])
})

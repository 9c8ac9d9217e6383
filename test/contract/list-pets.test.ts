// GET /v1/pets: what a list holds, and what it refuses to be asked.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import {
  addPets,
  faultyFields,
  idsOf,
  linkTo,
  newCategoryId,
  newestFirst,
  type Pet,
  petsOf,
  rows,
} from './pets.ts'

const petstore = openTestClient(inject('contract'))
const categoryId = newCategoryId()
const STATUSES = ['available', 'pending', 'sold']
const NOT_LIMITS = [
  ...'0 101 -1 1e1 0x10 %2010 10%20 +5 %2B5 20abc abc 1.0 1,000 null NaN %zz %00'.split(' '),
  '5&limit=6',
  '5&limit=5',
  '',
  '9223372036854775808',
  '9'.repeat(400),
  encodeURIComponent('١٠'),
]
const NOT_IDS = [
  ...'0 -1 1.5 5.0 1e3 0x10 +5 %205 abc true null %zz %00 9223372036854775808'.split(' '),
  '5&categoryId=5',
  '',
  '9'.repeat(400),
]
let pets: Pet[]

beforeAll(async () => {
  pets = await addPets(petstore, 102, (index) => ({ categoryId, status: STATUSES[index % 3] as string }))
})

function list(query: string) {
  return petstore.get(`/pets?categoryId=${categoryId}&${query}`)
}

test('a list is a bare array with status 200', async () => {
  const { status, body } = await petstore.get('/pets')
  expect(status).toBe(200)
  expect(body).toBeInstanceOf(Array)
})

test('an animal in a list has exactly its four fields', async () => {
  const [pet] = petsOf(await list('limit=1'))
  expect(Object.keys(pet as Pet).sort()).toEqual(['categoryId', 'id', 'name', 'status'])
})

test('a list is answered newest first', async () => {
  const ids = idsOf(petsOf(await list('limit=100')))
  expect(ids).toEqual(newestFirst(idsOf(pets)).slice(0, 100))
})

test('an animal that was just added is the first of every list that it belongs to', async () => {
  const ownCategory = newCategoryId()
  for (const status of STATUSES) {
    const [added] = await addPets(petstore, 1, () => ({ categoryId: ownCategory, status }))
    for (const query of [`categoryId=${ownCategory}`, `categoryId=${ownCategory}&status=${status}`]) {
      expect(petsOf(await petstore.get(`/pets?${query}`))[0]).toEqual(added)
    }
    // Others may have been added since, but nothing older comes first.
    for (const query of ['', `?status=${status}`]) {
      const [first] = petsOf(await petstore.get(`/pets${query}`))
      expect(first?.id).toBeGreaterThanOrEqual(added?.id ?? 0)
    }
  }
})

test('a list of which nothing matches is an empty array without a Link', async () => {
  for (const query of ['', '&status=sold', '&limit=1']) {
    const response = await petstore.get(`/pets?categoryId=${newCategoryId()}${query}`)
    expect(response).toMatchObject({ status: 200, body: [] })
    expect(response.headers.get('link')).toBeNull()
  }
})

describe('limit', () => {
  test.each([
    { query: '', count: 20 },
    { query: 'limit=1', count: 1 },
    { query: 'limit=7', count: 7 },
    { query: 'limit=100', count: 100 },
    { query: 'status=sold', count: 20 },
    { query: 'status=sold&limit=100', count: 34 },
  ])('"$query" answers $count animals', async ({ query, count }) => {
    expect(petsOf(await list(query))).toHaveLength(count)
  })

  test.each(rows(NOT_LIMITS))('limit=$shown is refused, never clamped', async ({ value }) => {
    const response = await list(`limit=${value}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect(faultyFields(response)).toEqual(['limit'])
  })

  test('a limit without a value is refused', async () => {
    expect(await list('limit')).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  })
})

describe('status', () => {
  test.each(STATUSES)('only %s animals are answered', async (status) => {
    const expected = pets.filter((pet) => pet.status === status)
    expect(idsOf(petsOf(await list(`status=${status}&limit=100`)))).toEqual(newestFirst(idsOf(expected)))
  })

  test('without a category, a status is kept to as well', async () => {
    const accepted = petsOf(await petstore.get('/pets?status=pending&limit=100'))
    expect(new Set(accepted.map((pet) => pet.status))).toEqual(new Set(['pending']))
  })

  test.each([
    '',
    'SOLD',
    'Sold',
    'gone',
    'sold%20',
    '%20sold',
    'sold,pending',
    '0',
    '%00',
    '%zz',
    'sold&status=sold',
  ])('status=%s is refused', async (status) => {
    const response = await list(`status=${status}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect(faultyFields(response)).toEqual(['status'])
  })
})

describe('categoryId', () => {
  test.each(rows(NOT_IDS))('categoryId=$shown is refused', async ({ value }) => {
    const response = await petstore.get(`/pets?categoryId=${value}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect(faultyFields(response)).toEqual(['categoryId'])
  })
})

test('every fault of a query is named at once', async () => {
  const response = await petstore.get('/pets?limit=0&status=gone&categoryId=x&id=y')
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  const fields = faultyFields(response).map((field) => field.split('.')[0])
  expect(fields).toEqual(['categoryId', 'id', 'limit', 'status'])
})

test.each([
  'page=2&offset=10',
  'Limit=5',
  'limit[]=5',
  'nickname=Biscuit',
  '__proto__=x',
  'constructor=x',
  'x=%zz',
  '&&=',
])('parameters that nobody knows are ignored: %s', async (query) => {
  expect(idsOf(petsOf(await list(query)))).toEqual(newestFirst(idsOf(pets)).slice(0, 20))
})

test.each(['text/html', 'application/xml', 'application/json;q=0', 'image/*', '*/*', '', 'nonsense;;;'])(
  'Accept: %s changes nothing',
  async (accept) => {
    expect(petsOf(await petstore.get('/pets?limit=1', { headers: { accept } }))).toHaveLength(1)
    expect((await petstore.get('/pets?limit=0', { headers: { accept } })).status).toBe(400)
  },
)

test('a content type or encoding on a request without a body changes nothing', async () => {
  for (const headers of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-encoding': 'gzip' },
  ]) {
    expect(petsOf(await petstore.get('/pets?limit=1', { headers }))).toHaveLength(1)
  }
})

test('HEAD answers as GET does, without the body', async () => {
  const get = await list('limit=5&status=sold')
  const head = await petstore.call('HEAD', `/v1/pets?categoryId=${categoryId}&limit=5&status=sold`)
  expect(head).toMatchObject({ status: 200, text: '' })
  for (const name of ['content-type', 'content-length', 'link']) {
    expect(head.headers.get(name)).toBe(get.headers.get(name))
  }
  expect(linkTo('next', head, petstore.origin)).toBeDefined()
  expect((await petstore.call('HEAD', '/v1/pets?limit=0')).status).toBe(400)
  expect((await petstore.call('HEAD', '/v1/pets', { apiKey: null })).status).toBe(401)
})

// GET /v1/pets: the content of a list, and the errors for invalid parameters.
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
} from '../support/pets.ts'

const petstore = openTestClient(inject('contract'), { retriesBusy: true })
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

test('returns 200 and an array', async () => {
  const { status, body } = await petstore.get('/pets')
  expect(status).toBe(200)
  expect(body).toBeInstanceOf(Array)
})

test('returns exactly four fields of each pet', async () => {
  const [pet] = petsOf(await list('limit=1'))
  expect(Object.keys(pet as Pet).sort()).toEqual(['categoryId', 'id', 'name', 'status'])
})

test('returns the newest pet first', async () => {
  const ids = idsOf(petsOf(await list('limit=100')))
  expect(ids).toEqual(newestFirst(idsOf(pets)).slice(0, 100))
})

test('returns a new pet first in every list that it matches', async () => {
  const ownCategory = newCategoryId()
  for (const status of STATUSES) {
    const [added] = await addPets(petstore, 1, () => ({ categoryId: ownCategory, status }))
    for (const query of [`categoryId=${ownCategory}`, `categoryId=${ownCategory}&status=${status}`]) {
      expect(petsOf(await petstore.get(`/pets?${query}`))[0]).toEqual(added)
    }
    // Other tests may have added newer pets since.
    for (const query of ['', `?status=${status}`]) {
      const [first] = petsOf(await petstore.get(`/pets${query}`))
      expect(first?.id).toBeGreaterThanOrEqual(added?.id ?? 0)
    }
  }
})

test('returns an empty array and no next page if no pet matches', async () => {
  for (const query of ['', '&status=sold', '&limit=1']) {
    const response = await petstore.get(`/pets?categoryId=${newCategoryId()}${query}`)
    expect(response).toMatchObject({ status: 200, body: [] })
    expect(response.headers.get('link')).toMatch(/^<[^>]+>; rel="first"$/)
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
  ])('the query "$query" returns a list of $count', async ({ query, count }) => {
    expect(petsOf(await list(query))).toHaveLength(count)
  })

  test.each(rows(NOT_LIMITS))('rejects limit=$shown (400)', async ({ value }) => {
    const response = await list(`limit=${value}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect(faultyFields(response)).toEqual(['limit'])
  })

  test('rejects a limit without a value (400)', async () => {
    expect(await list('limit')).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  })
})

describe('status', () => {
  test.each(STATUSES)('returns only %s pets', async (status) => {
    const expected = pets.filter((pet) => pet.status === status)
    expect(idsOf(petsOf(await list(`status=${status}&limit=100`)))).toEqual(newestFirst(idsOf(expected)))
  })

  test('can be used without categoryId', async () => {
    const pending = petsOf(await petstore.get('/pets?status=pending&limit=100'))
    expect(new Set(pending.map((pet) => pet.status))).toEqual(new Set(['pending']))
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
  ])('rejects status=%s (400)', async (status) => {
    const response = await list(`status=${status}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect(faultyFields(response)).toEqual(['status'])
  })
})

describe('categoryId', () => {
  test.each(rows(NOT_IDS))('rejects categoryId=$shown (400)', async ({ value }) => {
    const response = await petstore.get(`/pets?categoryId=${value}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect(faultyFields(response)).toEqual(['categoryId'])
  })
})

test('names every invalid parameter in one response', async () => {
  const response = await petstore.get('/pets?limit=0&status=gone&categoryId=x&id=y')
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  expect(faultyFields(response)).toEqual(['categoryId', 'id', 'limit', 'status'])
})

test('names a parameter that was sent more than once, and the other invalid parameters', async () => {
  const response = await petstore.get(
    '/pets?limit=5&limit=6&status=sold&status=sold&cursor=a&cursor=b&id=x&id=y',
  )
  expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  const { details } = response.body as { details: { field: string; code: string; message: string }[] }
  expect(details.filter(({ code }) => code !== 'not_allowed')).toEqual(
    expect.arrayContaining([
      { field: 'limit', code: 'repeated', message: 'limit can be sent only once.' },
      { field: 'status', code: 'repeated', message: 'status can be sent only once.' },
      { field: 'cursor', code: 'repeated', message: 'cursor can be sent only once.' },
      {
        field: 'id',
        code: 'invalid_integer',
        message: 'id must be an integer from 1 to 9223372036854775807.',
      },
    ]),
  )
  expect(faultyFields(response)).toEqual(['cursor', 'id', 'limit', 'status'])
  expect(details.filter(({ field, code }) => field === 'id' && code === 'invalid_integer')).toHaveLength(1)
})

test.each([
  ['statuss=sold', 'statuss is not a parameter of this operation. Did you mean status?'],
  ['Limit=5', 'Limit is not a parameter of this operation. Did you mean limit?'],
  ['category_id=5', 'category_id is not a parameter of this operation. Did you mean categoryId?'],
  [
    'id[]=5',
    'id[] is not a parameter of this operation. Send id without brackets, once for each value: id=1&id=2.',
  ],
  [
    'id[0]=5',
    'id[0] is not a parameter of this operation. Send id without brackets, once for each value: id=1&id=2.',
  ],
  [
    'vaccination=yes',
    'vaccination is not a parameter of this operation. The parameters are limit, status, categoryId, reference, id, name, word, sort, include, cursor.',
  ],
  [
    '__proto__=x',
    '__proto__ is not a parameter of this operation. The parameters are limit, status, categoryId, reference, id, name, word, sort, include, cursor.',
  ],
  [
    'petstore_live_x=1',
    '[API key] is not a parameter of this operation. The parameters are limit, status, categoryId, reference, id, name, word, sort, include, cursor.',
  ],
  ['word=a&naame=%zz', 'naame is not a parameter of this operation. Did you mean name?'],
])('rejects the unknown parameter of %s (400)', async (query, message) => {
  const response = await petstore.get(`/pets?${query}`)
  expect(response).toMatchObject({
    status: 400,
    body: { code: 'unknown_parameter', details: [{ code: 'unknown_parameter', message }] },
  })
})

test('names the first ten of many unknown parameters', async () => {
  const query = Array.from({ length: 1_000 }, (_, index) => `x${index}=`).join('&')
  const { status, body } = await petstore.get(`/pets?${query}`)
  expect(status).toBe(400)
  expect((body as { details: { field: string }[] }).details.map(({ field }) => field)).toEqual(
    Array.from({ length: 10 }, (_, index) => `x${index}`),
  )
})

test.each(['text/html', 'application/xml', 'application/json;q=0', 'image/*', '*/*', '', 'nonsense;;;'])(
  'ignores Accept: %s',
  async (accept) => {
    expect(petsOf(await petstore.get('/pets?limit=1', { headers: { accept } }))).toHaveLength(1)
    expect((await petstore.get('/pets?limit=0', { headers: { accept } })).status).toBe(400)
  },
)

test('ignores the content type and encoding of a request without a body', async () => {
  for (const headers of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-encoding': 'gzip' },
  ]) {
    expect(petsOf(await petstore.get('/pets?limit=1', { headers }))).toHaveLength(1)
  }
})

test('HEAD returns the headers of GET without the body', async () => {
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

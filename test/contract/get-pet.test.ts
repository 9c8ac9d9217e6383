// GET /v1/pets/{petId}, which is deprecated but still supported.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type TestResponse, openTestClient } from '../support/client.ts'
import { addPet, linkTo, type Pet, rows } from '../support/pets.ts'
import { sendRequest } from '../support/raw-http.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey }, { retriesBusy: true })
/** The largest int64: the sequence never reaches it. */
const UNKNOWN_ID = '9223372036854775807'
const NOT_IDS = [
  'abc',
  '0',
  '-1',
  '1.5',
  '1.0',
  '1e0',
  '0x1',
  '+1',
  '%201',
  '1%20',
  '1,2',
  'null',
  'NaN',
  '9223372036854775808',
  '-9223372036854775808',
  '1'.repeat(200),
  '1'.repeat(5_000),
  'x'.repeat(15_000),
  '%zz',
  '%',
  '1%',
  '%ff',
  '%c3',
  '%00',
  '%0d%0a',
  '1%0d%0aSet-Cookie:%20a=b',
  '%0d%0a%zz',
  encodeURIComponent('🐕'),
  '%D9%A1',
  '1%2F2',
  '%3Cscript%3E',
  '%22%3E',
  '1;x=1',
]
let pet: Pet

beforeAll(async () => {
  pet = await addPet(petstore, { name: 'Zoë', status: 'pending' })
})

function expectDeprecation(response: TestResponse, successor: string): void {
  expect(response.headers.get('deprecation')).toMatch(/^@\d+$/)
  expect(response.headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT')
  expect(linkTo('successor-version', response, origin)).toBe(successor)
  expect(linkTo('deprecation', response, origin)).toMatch(/^\//)
}

test('returns a pet as it was created', async () => {
  const response = await petstore.get(`/pets/${pet.id}`)
  expect(response.status).toBe(200)
  expect(response.body).toEqual(pet)
})

test('returns 404 for a pet that does not exist', async () => {
  const response = await petstore.get(`/pets/${UNKNOWN_ID}`)
  expect(response).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
})

test.each(rows(NOT_IDS))('returns 404 for the id $shown', async ({ value }) => {
  const response = await petstore.get(`/pets/${value}`)
  expect(response).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
  expectDeprecation(response, '/v1/pets')
})

test('returns 404 for an id with characters that are not percent-encoded', async () => {
  for (const petId of ['"', '<>', '1|2', '{}', '^']) {
    const headers = [`Authorization: Bearer ${apiKey}`]
    const response = await sendRequest(origin, { path: `/v1/pets/${petId}`, headers })
    expect(response).toMatchObject({ status: 404, body: { code: 'pet_not_found' } })
    expectDeprecation(response, '/v1/pets')
  }
})

test('adds the link to the help of an error to the links of the deprecation', async () => {
  const { headers } = await petstore.get('/pets/abc')
  const relations = [...(headers.get('link') ?? '').matchAll(/rel="([^"]+)"/g)].map(
    ([, relation]) => relation,
  )
  expect(relations).toEqual(['successor-version', 'deprecation', 'help'])
  const found = await petstore.get(`/pets/${pet.id}`)
  expect(found.headers.get('link')).not.toContain('rel="help"')
})

test('has no query parameters', async () => {
  const response = await petstore.get(`/pets/${pet.id}?limit=0`)
  expect(response).toMatchObject({ status: 400, body: { code: 'unknown_parameter' } })
})

describe('deprecation', () => {
  test('is announced on 200, with a link to the successor', async () => {
    const response = await petstore.get(`/pets/${pet.id}`)
    expectDeprecation(response, `/v1/pets?id=${pet.id}`)
    const successor = await petstore.call('GET', linkTo('successor-version', response, origin) ?? '')
    expect(successor.body).toEqual([pet])
  })

  test('is announced on 404, with a link to the successor', async () => {
    const response = await petstore.get(`/pets/${UNKNOWN_ID}`)
    expectDeprecation(response, `/v1/pets?id=${UNKNOWN_ID}`)
    const successor = await petstore.call('GET', linkTo('successor-version', response, origin) ?? '')
    expect(successor.body).toEqual([])
  })

  test('has a documentation page that needs no key', async () => {
    const page = linkTo('deprecation', await petstore.get(`/pets/${pet.id}`), origin) ?? ''
    const response = await petstore.call('GET', page, { apiKey: null })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
    expect(response.text).toContain('2030-12-05')
    expect(response.text).toContain('/v1/pets?id=')
  })

  test('starts before its sunset', async () => {
    const { headers } = await petstore.get(`/pets/${pet.id}`)
    const since = Number(headers.get('deprecation')?.slice(1)) * 1000
    expect(since).toBeLessThan(Date.parse(headers.get('sunset') ?? ''))
  })

  test('is not announced by other operations or without a key', async () => {
    const responses = [
      await petstore.get('/pets'),
      await petstore.post('/pets', { name: 'Rex', categoryId: 5 }),
      await petstore.get(`/pets/${pet.id}`, { apiKey: null }),
    ]
    for (const { headers } of responses) {
      expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([null, null])
    }
  })
})

test('HEAD returns the headers of GET without the body', async () => {
  for (const id of [pet.id, UNKNOWN_ID, 'abc']) {
    const get = await petstore.get(`/pets/${id}`)
    const head = await petstore.call('HEAD', `/v1/pets/${id}`)
    expect(head.status).toBe(get.status)
    expect(head.text).toBe('')
    for (const name of ['content-type', 'content-length', 'deprecation', 'sunset', 'link']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name))
    }
  }
})

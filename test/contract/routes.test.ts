// Addresses and methods that are not there, what stands outside /v1, and which check comes first.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { newCategoryId, newPet, petsOf } from './pets.ts'
import { sendRequest } from '../support/raw-http.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey })
const AUTHORIZATION = `Authorization: Bearer ${apiKey}`

/** Bodies that would be refused, each for a reason of its own, were they looked at. */
const BAD_BODIES = [
  { what: 'malformed JSON', body: '{', headers: {} },
  { what: 'an invalid animal', body: '{}', headers: {} },
  { what: 'text', body: 'x', headers: { 'content-type': 'text/plain' } },
  { what: 'UTF-16', body: '{}', headers: { 'content-type': 'application/json; charset=utf-16' } },
  { what: 'gzip', body: 'x', headers: { 'content-encoding': 'gzip' } },
  { what: 'more than 1 MiB', body: ' '.repeat(1_048_577), headers: {} },
]

describe('an address that is not there', () => {
  test.each([
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/pets/1/2/3',
    '/v1/Pets',
    '/v1/PETS',
    '/v1/pet',
    '/v1/petss',
    '/v1//pets',
    '/v1/%zz',
    '/v1/%00',
    '/v1/%F0%9F%90%95',
    '/v1/__proto__',
    '/v1/nothing?limit=0',
  ])('%s is 404 with a key and 401 without one', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const known = await petstore.call(method, path)
      expect(known).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
      const unknown = await petstore.call(method, path, { apiKey: null })
      expect(unknown).toMatchObject({ status: 401, body: { code: 'missing_api_key' } })
      const invalid = await petstore.call(method, path, { apiKey: 'nonsense' })
      expect(invalid).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } })
    }
    expect((await petstore.call('HEAD', path)).status).toBe(404)
  })

  test.each([
    '/nothing',
    '/pets',
    '/v2/pets',
    '/v10/pets',
    '/V1/pets',
    '/openapi.yaml',
    '/.env',
    '/%zz',
    '/docs/nothing',
  ])('outside /v1, %s is 404 for anybody', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const response = await petstore.call(method, path, { apiKey: null })
      expect(response).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
    }
  })
})

describe('a method that an address does not answer', () => {
  test.each([
    {
      path: '/v1/pets',
      methods: ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE'],
      allow: ['GET', 'HEAD', 'POST'],
    },
    { path: '/v1/pets/1', methods: ['PUT', 'POST', 'OPTIONS', 'PROPFIND', 'TRACE'], allow: ['GET', 'HEAD'] },
    { path: '/v1/pets/abc', methods: ['PUT', 'POST'], allow: ['GET', 'HEAD'] },
    { path: '/v1/pets?limit=0', methods: ['DELETE'], allow: ['GET', 'HEAD', 'POST'] },
    { path: '/v1/pets/%zz', methods: ['PUT'], allow: ['GET', 'HEAD'] },
  ])('is 405 with Allow with a key and 401 without one: $methods $path', async ({ path, methods, allow }) => {
    for (const method of methods) {
      const known = await sendRequest(origin, { method, path, headers: [AUTHORIZATION] })
      expect(known, method).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
      const allowed = known.headers.get('allow')?.split(', ') ?? []
      expect(allowed).toEqual(expect.arrayContaining(allow))
      expect(allowed).not.toContain(method)
      const unknown = await sendRequest(origin, { method, path })
      expect(unknown, method).toMatchObject({ status: 401, body: { code: 'missing_api_key' } })
      expect(unknown.headers.get('allow')).toBeNull()
    }
  })

  test('outside /v1 it is 405 with Allow for anybody', async () => {
    const response = await petstore.call('POST', '/openapi.json', { apiKey: null })
    expect(response).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
    expect(response.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(['GET', 'HEAD']))
  })
})

describe('outside /v1', () => {
  test('openapi.json is served to anybody, and is the committed one', async () => {
    const response = await petstore.call('GET', '/openapi.json', { apiKey: null })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const committed: unknown = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8'),
    )
    expect(response.body).toEqual(committed)
  })

  test('HEAD works on documents and pages', async () => {
    for (const path of ['/openapi.json', '/docs/deprecations/get-pet']) {
      const get = await petstore.call('GET', path, { apiKey: null })
      const head = await petstore.call('HEAD', path, { apiKey: null })
      expect(head).toMatchObject({ status: 200, text: '' })
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
    }
  })
})

describe('the key is checked first', () => {
  test.each(BAD_BODIES)('$what without a key is 401', async ({ body, headers }) => {
    for (const path of ['/v1/pets', '/v1/nothing']) {
      const response = await petstore.call('POST', path, { body, headers, apiKey: null })
      expect(response).toMatchObject({ status: 401, body: { code: 'missing_api_key' } })
    }
  })

  test.each(['limit=0', 'status=gone', 'cursor=x', 'id=x'])('?%s without a key is 401', async (query) => {
    expect((await petstore.get(`/pets?${query}`, { apiKey: null })).status).toBe(401)
  })

  test('a bad Idempotency-Key without a key is 401', async () => {
    const headers = { 'idempotency-key': '' }
    expect((await petstore.call('POST', '/v1/pets', { body: newPet(), headers, apiKey: null })).status).toBe(
      401,
    )
  })
})

describe('the address comes before the body', () => {
  test.each(BAD_BODIES)('$what is 404 where nothing is', async ({ body, headers }) => {
    const response = await petstore.call('POST', '/v1/nothing', { body, headers })
    expect(response).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
  })

  test.each(BAD_BODIES)('$what is 405 where the method is not', async ({ body, headers }) => {
    const response = await petstore.call('PUT', '/v1/pets', { body, headers })
    expect(response).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
  })

  test.each(BAD_BODIES)('$what is 404 outside /v1', async ({ body, headers }) => {
    const response = await petstore.call('POST', '/nothing', { body, headers, apiKey: null })
    expect(response).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
  })
})

test('the media type and the size come before the values', async () => {
  const tooLarge = '{}'.padEnd(1_048_577)
  expect((await petstore.post('/pets', '{', { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await petstore.post('/pets', tooLarge)).status).toBe(413)
  expect((await petstore.post('/pets', tooLarge, { 'idempotency-key': '' })).status).toBe(413)
})

test('a whole address in the request line is the same address', async () => {
  const categoryId = newCategoryId()
  await petstore.post('/pets', newPet({ categoryId }))
  const path = `${origin}/v1/pets?categoryId=${categoryId}`
  expect(petsOf(await sendRequest(origin, { path, headers: [AUTHORIZATION] }))).toHaveLength(1)
  expect((await sendRequest(origin, { path })).status).toBe(401)
  const nothing = await sendRequest(origin, { path: `${origin}/v1/nothing`, headers: [AUTHORIZATION] })
  expect(nothing.status).toBe(404)
})

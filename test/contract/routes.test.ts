// Unknown paths and methods, paths outside /v1, and the order in which a request is checked.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { openTestClient, type TestResponse } from '../support/client.ts'
import { newCategoryId, newPet, petsOf } from '../support/pets.ts'
import { sendRequest } from '../support/raw-http.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey }, { retriesBusy: true })
const AUTHORIZATION = `Authorization: Bearer ${apiKey}`

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']

/** Each body is invalid for a different reason. */
const BAD_BODIES = [
  { what: 'malformed JSON', body: '{', headers: {} },
  { what: 'an invalid pet', body: '{}', headers: {} },
  { what: 'plain text', body: 'x', headers: { 'content-type': 'text/plain' } },
  { what: 'an empty content type', body: 'hello', headers: { 'content-type': '' } },
  { what: 'UTF-16', body: '{}', headers: { 'content-type': 'application/json; charset=utf-16' } },
  { what: 'gzip', body: 'x', headers: { 'content-encoding': 'gzip' } },
  { what: 'more than 1 MiB', body: ' '.repeat(1_048_577), headers: {} },
]

/** Sends the request with every method, without a body. */
function callWithEachMethod(path: string, key: string | null, methods = METHODS) {
  const headers = ['Content-Length: 0', ...(key === null ? [] : [`Authorization: Bearer ${key}`])]
  return Promise.all(
    methods.map(async (method) => ({ method, ...(await sendRequest(origin, { method, path, headers })) })),
  )
}

function expectErrors(
  responses: readonly ({ method: string } & TestResponse)[],
  status: number,
  code: string,
) {
  for (const { method, status: received, body } of responses) {
    expect({ method, status: received }).toEqual({ method, status })
    if (method !== 'HEAD') expect(body).toMatchObject({ code })
  }
}

describe('a path that does not exist', () => {
  test.each([
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/pets/',
    '/v1/pets/?limit=1',
    '/v1/pets//history',
    '/v1/store/orders/',
    '/v1/store/orders//complete',
    '/v1/pets/1/2',
    '/v1/pets/1/2/3',
    '/v1/pets/../../etc/passwd',
    '/v1/%2e%2e/%2e%2e/etc/passwd',
    '/v1/Pets',
    '/v1/PETS',
    '/v1/pet',
    '/v1/petss',
    '/v1/pets.',
    '/v1/pets.json',
    '/v1/pets;a=b',
    '/v1//pets',
    '/v1/%zz',
    '/v1/%00',
    '/v1/%F0%9F%90%95',
    '/v1/__proto__',
    '/v1/nothing?limit=0',
  ])('%s returns 404 with a key and 401 without one, for every method', async (path) => {
    expectErrors(await callWithEachMethod(path, apiKey), 404, 'route_not_found')
    expectErrors(await callWithEachMethod(path, null), 401, 'missing_api_key')
    expectErrors(
      await callWithEachMethod(path, 'nonsense', ['GET', 'POST', 'DELETE']),
      401,
      'invalid_api_key',
    )
  })

  test('with a trailing slash is not a deprecated operation', async () => {
    const { headers } = await petstore.get('/pets/')
    expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([null, null])
  })

  test.each([
    '/nothing',
    '/pets',
    '/v2/pets',
    '/v10/pets',
    '/V1/pets',
    '//v1/pets',
    '/v1\\pets',
    '/openapi.yaml',
    '/.env',
    '/%zz',
    '/docs/nothing',
  ])('%s, outside /v1, returns 404 for every method, with or without a key', async (path) => {
    for (const key of [apiKey, null]) {
      expectErrors(await callWithEachMethod(path, key), 404, 'route_not_found')
    }
  })

  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const load = (path: string, accept: string, method = 'GET') =>
    petstore.call(method, path, { apiKey: null, headers: { accept } })

  test.each(['/nothing', '/pets/5/edit', '/docs/nothing', '/auth/nothing', '/nothing?accept=json'])(
    '%s, outside /v1, shows a page in a browser (404)',
    async (path) => {
      const { status, headers, text } = await load(path, BROWSER)
      expect(status).toBe(404)
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(headers.get('vary')).toMatch(/\bAccept$/)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'/)
      expect(text).toContain('<h1>This page does not exist</h1>')
    },
  )

  test('a program gets the Error body instead of the page, and so does every other method', async () => {
    for (const accept of [
      '*/*',
      'application/json',
      'text/*',
      'text/html;q=0',
      'text/html; level=1; q=0.0',
    ]) {
      const response = await load('/nothing', accept)
      expect(response, accept).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
      expect(response.headers.get('vary')).toMatch(/\bAccept$/)
    }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const response = await load('/nothing', BROWSER, method)
      expect(response).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
    }
    expect(await load('/docs', BROWSER, 'POST')).toMatchObject({ status: 405 })
  })

  test('under /v1, a browser gets the Error body too', async () => {
    const headers = { accept: BROWSER }
    const unknown = await petstore.call('GET', '/v1/nothing', { headers })
    expect(unknown).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
    const withoutKey = await petstore.call('GET', '/v1/nothing', { headers, apiKey: null })
    expect(withoutKey).toMatchObject({ status: 401, body: { code: 'missing_api_key' } })
  })
})

describe('the methods of a path', () => {
  const PET = { GET: 404, HEAD: 404, PATCH: 400, DELETE: 404 }
  const NOT_A_PET = { ...PET, PATCH: 404 }

  test.each([
    { path: '/v1/pets', statuses: { GET: 200, HEAD: 200, POST: 400 } },
    { path: '/v1/pets?limit=0', statuses: { GET: 400, HEAD: 400, POST: 400 } },
    { path: '/v1/pets/999999999', statuses: PET },
    { path: '/v1/pets/abc', statuses: NOT_A_PET },
    { path: '/v1/pets/%zz', statuses: NOT_A_PET },
    { path: '/openapi.json', statuses: { GET: 200, HEAD: 200 } },
  ])('$path accepts its own methods and rejects others with 405 and Allow', async ({ path, statuses }) => {
    const allowed = Object.keys(statuses)
    const own = await callWithEachMethod(path, apiKey, allowed)
    expect(Object.fromEntries(own.map(({ method, status }) => [method, status]))).toEqual(statuses)
    const others = METHODS.filter((method) => !allowed.includes(method))
    const rejected = await callWithEachMethod(path, apiKey, others)
    expectErrors(rejected, 405, 'method_not_allowed')
    for (const { headers } of rejected) {
      expect(headers.get('allow')?.split(', ').toSorted()).toEqual(allowed.toSorted())
    }
  })

  test.each(['/v1/pets', '/v1/pets?limit=0', '/v1/pets/1', '/v1/pets/abc', '/v1/pets/%zz'])(
    '%s returns 401 without Allow to every method without a key',
    async (path) => {
      const responses = await callWithEachMethod(path, null)
      expectErrors(responses, 401, 'missing_api_key')
      expect(responses.filter(({ headers }) => headers.has('allow'))).toEqual([])
    },
  )

  test('outside /v1 need no key', async () => {
    const response = await petstore.call('POST', '/openapi.json', { apiKey: null })
    expect(response).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
    expect(response.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(['GET', 'HEAD']))
  })
})

describe('outside /v1', () => {
  test('openapi.json needs no key and equals the committed file', async () => {
    const response = await petstore.call('GET', '/openapi.json', { apiKey: null })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const committed: unknown = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8'),
    )
    expect(response.body).toEqual(committed)
  })

  test('HEAD returns the headers of GET for documents and pages', async () => {
    for (const path of ['/openapi.json', '/docs/deprecations/get-pet']) {
      const get = await petstore.call('GET', path, { apiKey: null })
      const head = await petstore.call('HEAD', path, { apiKey: null })
      expect(head).toMatchObject({ status: 200, text: '' })
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
    }
  })
})

describe('the API key is checked first:', () => {
  test.each(BAD_BODIES)('$what without a key returns 401', async ({ body, headers }) => {
    for (const path of ['/v1/pets', '/v1/nothing']) {
      const response = await petstore.call('POST', path, { body, headers, apiKey: null })
      expect(response).toMatchObject({ status: 401, body: { code: 'missing_api_key' } })
    }
  })

  test.each(['limit=0', 'status=gone', 'cursor=x', 'id=x'])(
    '?%s without a key returns 401',
    async (query) => {
      expect((await petstore.get(`/pets?${query}`, { apiKey: null })).status).toBe(401)
    },
  )

  test('an invalid Idempotency-Key without an API key returns 401', async () => {
    const headers = { 'idempotency-key': '' }
    expect((await petstore.call('POST', '/v1/pets', { body: newPet(), headers, apiKey: null })).status).toBe(
      401,
    )
  })
})

describe('the path is checked before the body:', () => {
  test.each(BAD_BODIES)('$what returns 404 on an unknown path', async ({ body, headers }) => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const response = await petstore.call(method, '/v1/nothing', { body, headers })
      expect(response).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
    }
  })

  test.each(BAD_BODIES)('$what returns 405 with an unknown method', async ({ body, headers }) => {
    const response = await petstore.call('PUT', '/v1/pets', { body, headers })
    expect(response).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
  })

  test.each(BAD_BODIES)('$what returns 404 outside /v1', async ({ body, headers }) => {
    const response = await petstore.call('POST', '/nothing', { body, headers, apiKey: null })
    expect(response).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
  })
})

test('checks the media type and the size before the values', async () => {
  const tooLarge = '{}'.padEnd(1_048_577)
  expect((await petstore.post('/pets', '{', { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await petstore.post('/pets', tooLarge)).status).toBe(413)
  expect((await petstore.post('/pets', tooLarge, { 'idempotency-key': '' })).status).toBe(413)
})

test('accepts an absolute URL in the request line', async () => {
  const categoryId = newCategoryId()
  await petstore.post('/pets', newPet({ categoryId }))
  const path = `${origin}/v1/pets?categoryId=${categoryId}`
  expect(petsOf(await sendRequest(origin, { path, headers: [AUTHORIZATION] }))).toHaveLength(1)
  expect((await sendRequest(origin, { path })).status).toBe(401)
  const nothing = await sendRequest(origin, { path: `${origin}/v1/nothing`, headers: [AUTHORIZATION] })
  expect(nothing.status).toBe(404)
})

// X-Request-Id: every response has one. It is the id of the caller if that is safe to return.
import { randomUUID } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { newPet } from '../support/pets.ts'
import { sendRequest } from '../support/raw-http.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey }, { retriesBusy: true })

test.each(['a', randomUUID(), '01JABCDEF', 'trace-1.2_3', 'a'.repeat(128), '0'])(
  'returns the id of the caller if it is safe: %s',
  async (id) => {
    const { headers } = await petstore.get('/pets?limit=1', { headers: { 'x-request-id': id } })
    expect(headers.get('x-request-id')).toBe(id)
  },
)

test.each([
  { what: 'too long', id: 'a'.repeat(129) },
  { what: 'very long', id: 'a'.repeat(10_000) },
  { what: 'empty', id: '' },
  { what: 'a space', id: 'a b' },
  { what: 'quotes', id: '"a"' },
  { what: 'markup', id: '<script>' },
  { what: 'JSON', id: '{"a":1}' },
  { what: 'a letter beyond ASCII', id: '\u00e9' },
  { what: 'a tab', id: 'a\tb' },
  { what: 'shell syntax', id: '$(id);`id`' },
  { what: 'a list', id: 'a,b' },
])('replaces an unsafe id of the caller: $what', async ({ id }) => {
  const { status, headers } = await petstore.get('/pets?limit=1', { headers: { 'x-request-id': id } })
  expect(status).toBe(200)
  expect(headers.get('x-request-id')).not.toBe(id)
  expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{8,128}$/)
})

test('replaces an id that is sent twice', async () => {
  const headers = [`Authorization: Bearer ${apiKey}`, 'X-Request-Id: a', 'X-Request-Id: b']
  const response = await sendRequest(origin, { headers })
  expect(response.headers.get('x-request-id')).toMatch(/^[\w.:-]{8,128}$/)
})

test('generates a new id for each request without one', async () => {
  const responses = await Promise.all(Array.from({ length: 20 }, () => petstore.get('/pets?limit=1')))
  expect(new Set(responses.map(({ headers }) => headers.get('x-request-id'))).size).toBe(20)
})

describe('every kind of response returns the id:', () => {
  test.each([
    { status: 200, method: 'GET', path: '/v1/pets' },
    { status: 200, method: 'HEAD', path: '/v1/pets' },
    { status: 200, method: 'GET', path: '/openapi.json' },
    { status: 201, method: 'POST', path: '/v1/pets', body: newPet() },
    { status: 400, method: 'POST', path: '/v1/pets', body: {} },
    { status: 400, method: 'POST', path: '/v1/pets', body: '{' },
    { status: 400, method: 'GET', path: '/v1/pets?cursor=x' },
    { status: 401, method: 'GET', path: '/v1/pets', apiKey: null },
    { status: 401, method: 'GET', path: '/v1/nothing', apiKey: 'nonsense' },
    { status: 404, method: 'GET', path: '/v1/pets/abc' },
    { status: 404, method: 'GET', path: '/v1/nothing' },
    { status: 404, method: 'GET', path: '/nothing' },
    { status: 405, method: 'DELETE', path: '/v1/pets' },
    { status: 413, method: 'POST', path: '/v1/pets', body: ' '.repeat(1_048_577) },
    { status: 415, method: 'POST', path: '/v1/pets', body: '{}', type: 'text/plain' },
  ])('$status $method $path', async ({ status, method, path, type, ...options }) => {
    const id = randomUUID()
    const headers = { 'x-request-id': id, ...(type === undefined ? {} : { 'content-type': type }) }
    const response = await petstore.call(method, path, { ...options, headers })
    expect(response.status).toBe(status)
    expect(response.headers.get('x-request-id')).toBe(id)
  })
})

import { expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

const db = openTestDatabase(await createTestDatabase())
const allowing = startApp(db, { corsOrigins: ['https://shop.example'] })
const preflight = {
  origin: 'https://shop.example',
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization, content-type, idempotency-key',
}

test('accepts a preflight request from an allowed origin without an API key', async () => {
  const petstore = await allowing
  const response = await petstore.call('OPTIONS', '/v1/pets', { apiKey: null, headers: preflight })
  expect(response.status).toBe(204)
  expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example')
  expect(response.headers.get('access-control-allow-methods')).toContain('POST')
  expect(response.headers.get('access-control-allow-headers')).toContain('Idempotency-Key')
})

test('exposes the version, paging, rate limit, deprecation and request id headers, including those of errors', async () => {
  const petstore = await allowing
  for (const apiKey of [undefined, null] as const) {
    const response = await petstore.get('/pets', {
      headers: { origin: 'https://shop.example' },
      ...(apiKey === null && { apiKey }),
    })
    expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example')
    const exposed = response.headers.get('access-control-expose-headers')
    for (const header of [
      'ETag',
      'Link',
      'RateLimit',
      'Deprecation',
      'Sunset',
      'Retry-After',
      'X-Request-Id',
    ]) {
      expect(exposed).toContain(header)
    }
  }
})

test('sends CORS headers with 503 overloaded, and accepts preflight requests during overload', async () => {
  const petstore = await startApp(db, { corsOrigins: ['https://shop.example'], inFlightMax: 0 })
  const origin = 'https://shop.example'
  const rejected = await petstore.get('/pets', { headers: { origin } })
  expect(rejected.status).toBe(503)
  expect(rejected.headers.get('access-control-allow-origin')).toBe(origin)
  expect(rejected.headers.get('access-control-expose-headers')).toContain('Retry-After')
  expect(rejected.headers.get('vary')).toBe('Origin')
  expect((await petstore.call('OPTIONS', '/v1/pets', { apiKey: null, headers: preflight })).status).toBe(204)

  const other = await petstore.get('/pets', { headers: { origin: 'https://evil.example' } })
  expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([503, null])
  const open = await startApp(db, { corsOrigins: ['*'], inFlightMax: 0 })
  expect((await open.get('/pets')).headers.get('access-control-allow-origin')).toBe('*')
  const closed = await startApp(db, { inFlightMax: 0 })
  expect((await closed.get('/pets', { headers: { origin } })).headers.has('vary')).toBe(false)
})

test('does not allow another origin', async () => {
  const petstore = await allowing
  const headers = { ...preflight, origin: 'https://evil.example' }
  const response = await petstore.call('OPTIONS', '/v1/pets', { apiKey: null, headers })
  expect(response.headers.get('access-control-allow-origin')).toBeNull()
  const listed = await petstore.get('/pets', { headers: { origin: 'https://evil.example' } })
  expect(listed.headers.get('access-control-allow-origin')).toBeNull()
})

test('requires an API key for OPTIONS without CORS_ORIGINS', async () => {
  const petstore = await startApp(db)
  expect((await petstore.call('OPTIONS', '/v1/pets', { apiKey: null, headers: preflight })).status).toBe(401)
  const response = await petstore.call('OPTIONS', '/v1/pets')
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('GET, HEAD, POST')
})

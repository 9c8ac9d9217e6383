// The service port and the admin port have no path in common.
import { afterAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { issueApiKey } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { startService } from '../support/service.ts'
import { operations } from './operations.ts'

const DATABASE_URL = await createTestDatabase()
const { text: apiKey } = await issueApiKey(openTestDatabase(DATABASE_URL), {
  name: 'secret-name',
  scopes: SCOPES,
})
const ADMIN_PATHS = ['/live', '/ready', '/metrics']
const service = await startService({ DATABASE_URL })
afterAll(() => service.stop())

test('only the admin port serves health and metrics, whatever the key', async () => {
  const client = openTestClient({ origin: service.origin, apiKey })
  await client.get('/pets')
  for (const path of ADMIN_PATHS) {
    expect((await fetch(service.adminOrigin + path)).status).toBe(200)
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) {
      expect((await client.call(method, path)).status).toBe(404)
      expect((await client.call(method, path, { apiKey: null })).status).toBe(404)
      expect((await client.call(method, `/v1${path}`)).status).toBe(404)
    }
  }
  const metrics = await (await fetch(`${service.adminOrigin}/metrics`)).text()
  expect(metrics).toMatch(/petstore_http_request_seconds_count\{operation="listPets",status="200"\} 1/)
  expect(metrics).toMatch(/petstore_database_connections\{state="total"\} \d/)
  expect(metrics).not.toContain('secret-name')
})

test('the admin port serves no operation, whatever the key', async () => {
  const seen = await Promise.all(
    operations.map(async ({ operationId, method, path, body }) => {
      const response = await fetch(service.adminOrigin + path, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return {
        operationId,
        status: response.status,
        code: ((await response.json()) as { code: string }).code,
      }
    }),
  )
  expect(seen).toEqual(
    operations.map(({ operationId }) => ({ operationId, status: 404, code: 'route_not_found' })),
  )
  expect((await fetch(`${service.adminOrigin}/openapi.json`)).status).toBe(404)
  const posted = await fetch(`${service.adminOrigin}/metrics`, { method: 'POST', body: '{' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

test('both ports listen on 127.0.0.1 by default', () => {
  const config = readConfig({ DATABASE_URL: 'postgres://petstore@localhost/petstore' })
  expect([config.HOST, config.ADMIN_HOST]).toEqual(['127.0.0.1', '127.0.0.1'])
})

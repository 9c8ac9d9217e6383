// Which key may call which operation: every scope against every operation of openapi.json.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SCOPES, type Scope } from '../../src/api-keys/schema.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

const NEEDED: Record<string, Scope | 'any'> = {
  listPets: 'pets:read',
  createPet: 'pets:write',
  getPet: 'pets:read',
  updatePet: 'pets:write',
  deletePet: 'pets:write',
  getPetHistory: 'pets:read',
  listCategories: 'pets:read',
  putCategory: 'pets:write',
  placeOrder: 'orders:write',
  listOrders: 'orders:read',
  getOrder: 'orders:read',
  completeOrder: 'orders:write',
  cancelOrder: 'orders:write',
  getInventory: 'pets:read',
  getOwnApiKey: 'any',
  listApiKeys: 'admin',
  createApiKey: 'admin',
  rotateApiKey: 'admin',
  revokeApiKey: 'admin',
}

interface Operation {
  operationId: string
  requestBody?: unknown
  responses: Record<string, unknown>
}

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
}
const operations = Object.entries(document.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, { operationId, requestBody, responses }]) => ({
    operationId,
    method: verb.toUpperCase(),
    // An id that nothing has: whoever may call gets an answer and changes nothing.
    path: `/v1${path.replace(/\{\w+\}/g, '9223372036854775807')}`,
    body: requestBody === undefined ? undefined : {},
    statuses: Object.keys(responses),
  })),
)

const db = openTestDatabase(await createTestDatabase())
const petstore = await startApp(db)

test('the table below knows every operation of openapi.json, and no other', () => {
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(NEEDED).toSorted())
})

describe.each(SCOPES)('a key with the scope %s alone', async (scope) => {
  const apiKey = (await issueApiKey(db, { scopes: [scope] })).text

  const rows = operations.map((operation) => {
    const needed = NEEDED[operation.operationId]
    return { ...operation, needed, verdict: needed === scope || needed === 'any' ? 'may' : 'may not' }
  })

  test.each(rows)('$verdict call $operationId', async ({ needed, verdict, method, path, body }) => {
    const { status, headers, body: answered } = await petstore.call(method, path, { apiKey, body })
    if (verdict === 'may') {
      expect([200, 201, 400, 404]).toContain(status)
    } else {
      expect({ status, answered }).toMatchObject({ status: 403, answered: { code: 'insufficient_scope' } })
      expect(headers.get('www-authenticate')).toBe(
        `Bearer realm="petstore", error="insufficient_scope", scope="${needed}"`,
      )
    }
  })
})

test.each(operations)(
  'a key with every scope but the needed one cannot call $operationId',
  async (operation) => {
    const { operationId, method, path, body } = operation
    const others = SCOPES.filter((scope) => scope !== NEEDED[operationId])
    const apiKey = (await issueApiKey(db, { scopes: others })).text
    const { status } = await petstore.call(method, path, { apiKey, body })
    expect(status === 403).toBe(NEEDED[operationId] !== 'any')
  },
)

test.each(operations)(
  'without a key $operationId is 401, whatever is asked',
  async ({ method, path, body }) => {
    for (const apiKey of [null, 'nonsense']) {
      const answer = await petstore.call(method, path, { apiKey, body })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="petstore"/)
    }
  },
)

test('403 comes before the body and the query are looked at', async () => {
  const apiKey = (await issueApiKey(db, { scopes: ['admin'] })).text
  const body = '{'
  expect((await petstore.call('POST', '/v1/store/orders', { apiKey, body })).status).toBe(403)
  expect((await petstore.call('PATCH', '/v1/pets/abc', { apiKey, body })).status).toBe(403)
  expect((await petstore.get('/store/orders?limit=0', { apiKey })).status).toBe(403)
})

test('a key that may create keys is the only one that hears 400 of them', async () => {
  const body = { name: '', scopes: ['admin'] }
  expect((await petstore.call('POST', '/v1/api-keys', { body })).status).toBe(403)
})

test('whatever a default key may not do, openapi.json says so with 403', () => {
  const undocumented = operations.filter(({ operationId, statuses }) => {
    const needed = NEEDED[operationId] ?? ''
    return !['any', 'pets:read', 'pets:write'].includes(needed) && !statuses.includes('403')
  })
  expect(undocumented).toEqual([])
})

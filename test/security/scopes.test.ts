// Which key may call which operation: every set of scopes against every operation of openapi.json.
import fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../src/caller.ts'
import { SCOPES, type Scope } from '../../src/scopes.ts'
import { requireScope } from '../../src/http/authentication.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { declaredScopes, operations } from './operations.ts'

/** The promise, written down once more by hand: whoever loosens a route has to say so here as well. */
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

const db = openTestDatabase(await createTestDatabase())
const petstore = await startApp(db)
// No key without a scope can be made, so here whoever calls is taken for one.
const scopeless: Caller = { ...(await issueApiKey(db)), scopes: [] }
const petstoreOfScopeless = await startApp(db, { verifyApiKey: () => scopeless })

test('openapi.json, the routes and the table of scopes know the same operations, with the same scopes', () => {
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(NEEDED).toSorted())
  expect(declaredScopes()).toEqual(NEEDED)
})

test.each(operations)('the description of $operationId names its scope', ({ operationId, description }) => {
  const scope = NEEDED[operationId]
  const sentence = scope === 'any' ? 'Accepts any API key.' : `Requires the scope \`${scope}\`.`
  expect(description.endsWith(sentence), description).toBe(true)
})

test('an operation that declares no scope keeps the service from starting', () => {
  const app = fastify()
  requireScope(app)
  const handler = async () => 'everything'
  expect(() => app.get('/secrets', handler)).toThrow('GET /secrets declares no scope')
  expect(() => app.get('/own', { config: { scope: 'any' } }, handler)).not.toThrow()
})

const SETS: { set: string; scopes: (needed: Scope | 'any') => readonly Scope[] }[] = [
  { set: 'no scope', scopes: () => [] },
  ...SCOPES.map((scope) => ({ set: `${scope} alone`, scopes: () => [scope] })),
  { set: 'every scope but the needed one', scopes: (needed) => SCOPES.filter((scope) => scope !== needed) },
  { set: 'every scope', scopes: () => SCOPES },
]

/** One key for each set of scopes that is asked for. */
const keys = new Map<string, Promise<string>>()
function keyWith(scopes: readonly Scope[]): Promise<string> {
  const name = scopes.join()
  const key = keys.get(name) ?? issueApiKey(db, { scopes }).then(({ text }) => text)
  keys.set(name, key)
  return key
}

describe.each(SETS)('a key with $set', ({ scopes: scopesFor }) => {
  const rows = operations.map((operation) => {
    const needed = NEEDED[operation.operationId] ?? 'any'
    const scopes = scopesFor(needed)
    const may = needed === 'any' || scopes.includes(needed)
    return { ...operation, needed, scopes, may, verdict: may ? 'may' : 'may not' }
  })

  test.each(rows)('$verdict call $operationId', async ({ needed, scopes, may, method, path, body }) => {
    const apiKey = await keyWith(scopes.length === 0 ? SCOPES : scopes)
    for (const verb of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      const service = scopes.length === 0 ? petstoreOfScopeless : petstore
      const response = await service.call(verb, path, { apiKey, body })
      const challenge = response.headers.get('www-authenticate')
      if (may) {
        expect([200, 400, 404]).toContain(response.status)
        expect(challenge).toBeNull()
        continue
      }
      expect(response.status).toBe(403)
      expect(challenge).toBe(`Bearer realm="petstore", error="insufficient_scope", scope="${needed}"`)
      if (verb === 'HEAD') continue
      expect(response.body).toEqual({
        code: 'insufficient_scope',
        message: 'The API key lacks the scope that this operation requires.',
        status: 403,
      })
    }
  })
})

test('no scope opens an address or a method that is not there, and none is asked for', async () => {
  const apiKey = await keyWith(SCOPES)
  for (const service of [petstoreOfScopeless, petstore]) {
    expect((await service.get('/nothing', { apiKey })).status).toBe(404)
    expect((await service.call('PUT', '/v1/api-keys', { apiKey })).status).toBe(405)
  }
})

test('403 comes before the body and the query are looked at', async () => {
  const apiKey = await keyWith(['admin'])
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

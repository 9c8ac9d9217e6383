// Which scopes each operation needs: calls every operation of openapi.json with different sets of scopes.
import fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../src/contract/caller.ts'
import {
  type DeclaredScope,
  DEFAULT_SCOPES,
  requiredScopes,
  SCOPES,
  type Scope,
} from '../../src/contract/scopes.ts'
import { authorise, insufficientScope, requireDeclaredScope } from '../../src/http/authentication.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { declarations, operations } from './operations.ts'

/** Repeats the scopes of the routes by hand, so that a change to one of them fails here. */
const REQUIRED_SCOPES: Record<string, DeclaredScope> = {
  listPets: 'pets:read',
  createPet: 'pets:write',
  getPet: 'pets:read',
  updatePet: 'pets:write',
  deletePet: 'pets:write',
  changePets: 'pets:write',
  exportPets: 'pets:read',
  getPetHistory: 'pets:read',
  getPetProfile: 'pets:read',
  getPetCount: 'pets:read',
  putPetProfile: 'pets:write',
  putPetByReference: 'pets:write',
  listPetProfiles: 'pets:read',
  listCategories: 'pets:read',
  putCategory: 'pets:write',
  placeOrder: 'orders:write',
  listOrders: 'orders:read',
  getOrder: 'orders:read',
  updateOrder: 'orders:write',
  completeOrder: 'orders:write',
  cancelOrder: 'orders:write',
  correctOrder: 'till:write',
  refundOrder: 'till:write',
  settleDeposit: 'orders:write',
  listEntries: 'orders:read',
  voidEntry: 'orders:write',
  getTotals: 'orders:read',
  recordCash: 'till:write',
  closeDay: 'till:write',
  listClosings: 'orders:read',
  listEvents: 'events:read',
  streamEvents: 'events:read',
  listWebhooks: 'webhooks:read',
  createWebhook: ['webhooks:write', 'pets:read'],
  getWebhook: 'webhooks:read',
  updateWebhook: ['webhooks:write', 'pets:read'],
  deleteWebhook: 'webhooks:write',
  rotateWebhookSecret: ['webhooks:write', 'pets:read'],
  testWebhook: ['webhooks:write', 'pets:read'],
  replayWebhook: ['webhooks:write', 'pets:read'],
  listDeliveries: ['webhooks:read', 'pets:read'],
  redeliver: ['webhooks:write', 'pets:read'],
  getInventory: 'pets:read',
  getFigures: 'pets:read',
  getSettings: 'any',
  updateSettings: 'admin',
  getOwnApiKey: 'any',
  revokeOwnApiKey: 'any',
  listApiKeys: 'admin',
  listDeprecatedCalls: 'admin',
  createApiKey: 'admin',
  updateApiKey: 'admin',
  rotateApiKey: 'admin',
  revokeApiKey: 'admin',
  getHealthReport: 'admin',
}

const db = openTestDatabase(await createTestDatabase())
const petstore = await startApp(db)
// Every real key has a scope. To test a key without scopes, this service treats every caller as one.
const anyKey = await issueApiKey(db)
const scopeless: Caller = { ...anyKey, rateLimit: undefined, scopes: [] }
const petstoreWithoutScopes = await startApp(db, { verifyApiKey: () => scopeless })

test('openapi.json, the routes and this table have the same operations and scopes', () => {
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
    Object.keys(REQUIRED_SCOPES).toSorted(),
  )
  const declared = Object.entries(declarations()).map(([operationId, { scope }]) => [operationId, scope])
  expect(Object.fromEntries(declared)).toEqual(REQUIRED_SCOPES)
})

test.each(operations)('the description of $operationId names its scopes', (operation) => {
  const scopes = requiredScopes(REQUIRED_SCOPES[operation.operationId] ?? 'any')
  const [first, second] = scopes
  const sentences = [
    'Accepts any API key.',
    `Requires the scope \`${first}\`.`,
    `Requires the scopes \`${first}\` and \`${second}\`.`,
  ]
  expect(operation.description.endsWith(sentences[scopes.length] ?? ''), operation.description).toBe(true)
  expect(operation.scope).toBe(scopes.join(' ') || 'any')
})

test('the service does not start with an operation that declares no scope', () => {
  const app = fastify()
  requireDeclaredScope(app)
  const handler = async () => 'secret'
  expect(() => app.get('/secrets', handler)).toThrow('GET /secrets declares no scope')
  expect(() => app.get('/own', { config: { scope: 'any' } }, handler)).not.toThrow()
})

const SETS: { set: string; scopes: (required: readonly Scope[]) => readonly Scope[] }[] = [
  { set: 'no scope', scopes: () => [] },
  { set: 'exactly the required scopes', scopes: (required) => required },
  {
    set: 'every scope except the first required one',
    scopes: (required) => SCOPES.filter((scope) => scope !== required.at(0)),
  },
  {
    set: 'every scope except the last required one',
    scopes: (required) => SCOPES.filter((scope) => scope !== required.at(-1)),
  },
  { set: 'every scope', scopes: () => SCOPES },
]

/** One key for each set of scopes. */
const keys = new Map<string, Promise<string>>()
function keyWith(scopes: readonly Scope[]): Promise<string> {
  const name = scopes.join()
  const key = keys.get(name) ?? issueApiKey(db, { scopes }).then(({ text }) => text)
  keys.set(name, key)
  return key
}

describe.each(SETS)('a key with $set', ({ scopes: scopesFor }) => {
  const rows = operations.map((operation) => {
    const required = requiredScopes(REQUIRED_SCOPES[operation.operationId] ?? 'any')
    const scopes = scopesFor(required)
    const lacking = required.filter((scope) => !scopes.includes(scope)).join(' ')
    const isOwnRevocation = operation.operationId === 'revokeOwnApiKey'
    return { ...operation, scopes, lacking, isOwnRevocation, verdict: lacking === '' ? 'can' : 'cannot' }
  })

  test.each(rows)(
    '$verdict call $operationId',
    async ({ scopes, lacking, method, path, body, isOwnRevocation }) => {
      const granted = scopes.length === 0 ? SCOPES : scopes
      // Other tests use the shared keys.
      const apiKey = isOwnRevocation
        ? (await issueApiKey(db, { scopes: granted })).text
        : await keyWith(granted)
      for (const verb of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
        const service = scopes.length === 0 ? petstoreWithoutScopes : petstore
        const response = await service.call(verb, path, { apiKey, body })
        const challenge = response.headers.get('www-authenticate')
        if (lacking === '') {
          expect([200, 204, 400, 404]).toContain(response.status)
          expect(challenge).toBeNull()
          continue
        }
        expect(response.status).toBe(403)
        expect(challenge).toBe(`Bearer realm="petstore", error="insufficient_scope", scope="${lacking}"`)
        if (verb === 'HEAD') continue
        expect(response.body).toEqual({
          code: 'insufficient_scope',
          message: `The API key lacks the ${lacking.includes(' ') ? 'scopes' : 'scope'} ${lacking.replaceAll(' ', ' and ')}, which this request requires.`,
          status: 403,
        })
      }
    },
  )
})

test('a key with one scope can call exactly the operations that require no other', () => {
  for (const [operationId, declared] of Object.entries(REQUIRED_SCOPES)) {
    for (const scope of SCOPES) {
      const lacking = requiredScopes(declared).filter((required) => required !== scope)
      const request = {
        is404: false,
        params: {},
        routeOptions: { config: { scope: declared } },
        caller: { ...scopeless, scopes: [scope] },
      }
      let error: Error | undefined
      authorise(request as never, undefined as never, (rejection) => {
        error = rejection
      })
      expect(error, `${operationId} with ${scope}`).toEqual(
        lacking.length === 0 ? undefined : insufficientScope(...lacking),
      )
    }
  }
})

test('an unknown path or method returns 404 or 405, whatever the scopes', async () => {
  const apiKey = await keyWith(SCOPES)
  for (const service of [petstoreWithoutScopes, petstore]) {
    expect((await service.get('/nothing', { apiKey })).status).toBe(404)
    expect((await service.get('/pets/', { apiKey })).status).toBe(404)
    expect((await service.call('PUT', '/v1/api-keys', { apiKey })).status).toBe(405)
  }
})

test('checks the scope before the body and the query', async () => {
  const apiKey = await keyWith(['admin'])
  const body = '{'
  expect((await petstore.call('POST', '/v1/store/orders', { apiKey, body })).status).toBe(403)
  expect((await petstore.call('PATCH', '/v1/pets/abc', { apiKey, body })).status).toBe(403)
  expect((await petstore.get('/store/orders?limit=0', { apiKey })).status).toBe(403)
})

test('a key without admin gets 403, not 400, for an invalid request to create a key', async () => {
  const body = { name: '', scopes: ['admin'] }
  expect((await petstore.call('POST', '/v1/api-keys', { body })).status).toBe(403)
})

test('openapi.json documents 403 for every operation that a default key cannot call', () => {
  const undocumented = operations.filter(({ operationId, statuses }) => {
    const required = requiredScopes(REQUIRED_SCOPES[operationId] ?? 'any')
    return required.some((scope) => !DEFAULT_SCOPES.includes(scope)) && !statuses.includes('403')
  })
  expect(undocumented).toEqual([])
})

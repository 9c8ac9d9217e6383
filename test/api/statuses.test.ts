// Every status that openapi.json documents happens: one request for each, of each operation.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/client.ts'
import { openShop, openShopOn, type Shop, UNKNOWN_ID } from './shop.ts'

/** Prepares what is needed and answers the request that meets the status. */
type Case = (shop: Shop) => Promise<() => Promise<Answer>>

const PET = { name: 'Rex', categoryId: 1 }
const simply =
  (request: (shop: Shop) => Promise<Answer>): Case =>
  async (shop) =>
  () =>
    request(shop)
const withPet =
  (request: (shop: Shop, petId: number) => Promise<Answer>): Case =>
  async (shop) => {
    const { id } = await shop.addPet()
    return () => request(shop, id)
  }
const withOrder =
  (request: (shop: Shop, orderId: number, petId: number) => Promise<Answer>): Case =>
  async (shop) => {
    const { id, petId } = await shop.hold()
    return () => request(shop, id, petId)
  }
const withApiKey =
  (request: (shop: Shop, apiKeyId: number) => Promise<Answer>): Case =>
  async (shop) => {
    const { body } = await shop.post('/api-keys', { name: 'x' })
    return () => request(shop, (body as { id: number }).id)
  }
/** Sends the same key twice, the second time with other values. */
const reused =
  (path: string, [first, second]: [(petId: number) => object, (petId: number) => object]): Case =>
  async (shop) => {
    const [{ id }, headers] = [await shop.addPet(), { 'idempotency-key': randomUUID() }]
    await shop.post(path, first(id), headers)
    return () => shop.post(path, second(id), headers)
  }
/** A body is ignored where none is asked for, but it must be JSON. */
const BROKEN = { body: '{' }
const end = (verb: 'complete' | 'cancel', other: 'complete' | 'cancel'): Record<string, Case> => ({
  200: withOrder((shop, id) => shop.end(verb, id)),
  400: withOrder((shop, id) => shop.call('POST', `/v1/store/orders/${id}/${verb}`, BROKEN)),
  404: simply((shop) => shop.end(verb, UNKNOWN_ID)),
  409: async (shop) => {
    const { id } = await shop.hold()
    await shop.end(other, id)
    return () => shop.end(verb, id)
  },
})

const CASES: Record<string, Record<string, Case>> = {
  listPets: { 200: simply((shop) => shop.get('/pets')), 400: simply((shop) => shop.get('/pets?limit=0')) },
  createPet: {
    201: simply((shop) => shop.post('/pets', PET)),
    400: simply((shop) => shop.post('/pets', {})),
    409: async (shop) => {
      const key = randomUUID()
      // Whoever holds this lock works under the key.
      return () =>
        shop.db.transaction(async (tx) => {
          const text = `select pg_advisory_xact_lock(hashtextextended('${key}', id)) from api_keys`
          await tx.read({ name: key, text, values: [] })
          return shop.post('/pets', PET, { 'idempotency-key': key })
        })
    },
    422: reused('/pets', [() => PET, () => ({ ...PET, name: 'Other' })]),
  },
  getPet: {
    200: withPet((shop, id) => shop.get(`/pets/${id}`)),
    404: simply((shop) => shop.get(`/pets/${UNKNOWN_ID}`)),
    410: async (shop) => {
      const clock = () => new Date('2030-12-05T00:00:00Z')
      const later = await openShopOn(shop.databaseUrl, shop.db, { clock })
      return () => later.get('/pets/1')
    },
  },
  updatePet: {
    200: withPet((shop, id) => shop.patch(id, { name: 'Rex' })),
    400: withPet((shop, id) => shop.patch(id, { name: '' })),
    404: simply((shop) => shop.call('PATCH', `/v1/pets/${UNKNOWN_ID}`, { body: {} })),
    409: withOrder((shop, _, petId) => shop.patch(petId, { status: 'sold' })),
    412: withPet((shop, id) => shop.patch(id, {}, { 'if-match': '"9"' })),
  },
  deletePet: {
    204: withPet((shop, id) => shop.remove(`/pets/${id}`)),
    400: withPet((shop, id) => shop.call('DELETE', `/v1/pets/${id}`, BROKEN)),
    404: simply((shop) => shop.remove(`/pets/${UNKNOWN_ID}`)),
    409: withOrder((shop, _, petId) => shop.remove(`/pets/${petId}`)),
    412: withPet((shop, id) => shop.remove(`/pets/${id}`, { 'if-match': '"9"' })),
  },
  getPetHistory: {
    200: withPet((shop, id) => shop.get(`/pets/${id}/history`)),
    400: withPet((shop, id) => shop.get(`/pets/${id}/history?limit=0`)),
    404: simply((shop) => shop.get(`/pets/${UNKNOWN_ID}/history`)),
  },
  listCategories: {
    200: simply((shop) => shop.get('/categories')),
    400: simply((shop) => shop.get('/categories?limit=0')),
  },
  putCategory: {
    200: async (shop) => {
      await shop.put('/categories/5', { name: 'Dogs' })
      return () => shop.put('/categories/5', { name: 'Cats' })
    },
    201: simply((shop) => shop.put('/categories/6', { name: 'Dogs' })),
    400: simply((shop) => shop.put('/categories/5', {})),
    404: simply((shop) => shop.put('/categories/0', { name: 'Dogs' })),
  },
  placeOrder: {
    201: withPet((shop, petId) => shop.post('/store/orders', { petId })),
    400: simply((shop) => shop.post('/store/orders', {})),
    404: simply((shop) => shop.post('/store/orders', `{"petId": ${UNKNOWN_ID}}`)),
    409: withOrder((shop, _, petId) => shop.post('/store/orders', { petId })),
    422: reused('/store/orders', [(petId) => ({ petId }), (petId) => ({ petId, note: 'x' })]),
  },
  listOrders: {
    200: simply((shop) => shop.get('/store/orders')),
    400: simply((shop) => shop.get('/store/orders?limit=0')),
  },
  getOrder: {
    200: withOrder((shop, id) => shop.get(`/store/orders/${id}`)),
    404: simply((shop) => shop.get(`/store/orders/${UNKNOWN_ID}`)),
  },
  completeOrder: end('complete', 'cancel'),
  cancelOrder: end('cancel', 'complete'),
  getInventory: { 200: simply((shop) => shop.get('/store/inventory')) },
  getOwnApiKey: { 200: simply((shop) => shop.get('/api-keys/self')) },
  listApiKeys: {
    200: simply((shop) => shop.get('/api-keys')),
    400: simply((shop) => shop.get('/api-keys?limit=0')),
  },
  createApiKey: {
    201: simply((shop) => shop.post('/api-keys', { name: 'x' })),
    400: simply((shop) => shop.post('/api-keys', {})),
  },
  rotateApiKey: {
    201: withApiKey((shop, id) => shop.post(`/api-keys/${id}/rotate`, {})),
    400: withApiKey((shop, id) => shop.post(`/api-keys/${id}/rotate`, { overlapSeconds: -1 })),
    404: simply((shop) => shop.post(`/api-keys/${UNKNOWN_ID}/rotate`, {})),
  },
  revokeApiKey: {
    204: withApiKey((shop, id) => shop.remove(`/api-keys/${id}`)),
    400: withApiKey((shop, id) => shop.call('DELETE', `/v1/api-keys/${id}`, BROKEN)),
    404: simply((shop) => shop.remove(`/api-keys/${UNKNOWN_ID}`)),
  },
}

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string; responses: object }>>
}
const documented = Object.values(document.paths)
  .flatMap((verbs) => Object.values(verbs))
  .flatMap(({ operationId, responses }) => Object.keys(responses).map((status) => ({ operationId, status })))
// 401 and 403 have their cases in test/security.
const here = documented.filter(({ status }) => !['401', '403', '503', 'default'].includes(status))
const unknowable = documented.filter(({ status }) => status === '503')
const shop = await openShop()

function caseOf(operationId: string, status: string): Case {
  const found = CASES[operationId]?.[status]
  if (found === undefined) throw new Error(`${operationId} has no case for ${status}`)
  return found
}

test('the cases are those of openapi.json', () => {
  const cases = Object.entries(CASES).flatMap(([operationId, statuses]) =>
    Object.keys(statuses).map((status) => ({ operationId, status })),
  )
  expect(new Set(cases.map((each) => JSON.stringify(each)))).toEqual(
    new Set(here.map((each) => JSON.stringify(each))),
  )
})

test.each(here)('$operationId answers $status', async ({ operationId, status }) => {
  const request = await caseOf(operationId, status)(shop)
  expect((await request()).status).toBe(Number(status))
})

describe('when the connection breaks in the middle of a commit,', () => {
  beforeAll(async () => {
    await shop.sql('create table fate (is_cruel boolean)')
    await shop.sql(`create function break_connection() returns trigger language plpgsql as $$ begin
      if (select is_cruel from fate) then perform pg_terminate_backend(pg_backend_pid()); end if;
      return null;
    end $$`)
    for (const table of ['pets', 'orders', 'categories', 'api_keys']) {
      await shop.sql(`create constraint trigger fate after insert or update or delete on ${table}
        deferrable initially deferred for each row execute function break_connection()`)
    }
    await shop.sql('insert into fate values (false)')
  })

  test.each(unknowable)('$operationId answers 503 outcome_unknown', async ({ operationId }) => {
    const success = Object.keys(CASES[operationId] ?? {}).find((status) => status.startsWith('2')) ?? ''
    const request = await caseOf(operationId, success)(shop)
    await shop.sql('update fate set is_cruel = true')
    try {
      expect(await request()).toMatchObject({ status: 503, body: { code: 'outcome_unknown' } })
    } finally {
      await shop.sql('update fate set is_cruel = false')
    }
  })
})

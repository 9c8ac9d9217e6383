// Every status that openapi.json documents can occur: one test for each operation and status. test/security tests 401 and
// 403.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { watchApiKeys } from '../../src/access/api-keys/key-watch.ts'
import { openEventStreams } from '../../src/events/feed/streams.ts'
import { openPetExports } from '../../src/store/pet-export/exports.ts'
import { type Operation, OPERATIONS } from '../proof/inputs/document.ts'
import type { TestResponse } from '../support/client.ts'
import { openApiFixture, openApiFixtureOn, type ApiFixture, UNKNOWN_ID } from '../support/api-fixture.ts'

/** Prepares the data and returns a function that sends the request. */
type Case = (api: ApiFixture) => Promise<() => Promise<TestResponse>>

const UNKNOWN_POSITION = '000000000000-1'
const PET = { name: 'Rex', categoryId: 1 }
const simply =
  (request: (api: ApiFixture) => Promise<TestResponse>): Case =>
  async (api) =>
  () =>
    request(api)
const withPet =
  (request: (api: ApiFixture, petId: number) => Promise<TestResponse>): Case =>
  async (api) => {
    const { id } = await api.addPet()
    return () => request(api, id)
  }
const withOrder =
  (request: (api: ApiFixture, orderId: number, petId: number) => Promise<TestResponse>): Case =>
  async (api) => {
    const { id, petId } = await api.hold()
    return () => request(api, id, petId)
  }
/** An order that was completed, and its sale. */
const withSale =
  (request: (api: ApiFixture, orderId: number, entryId: number) => Promise<TestResponse>): Case =>
  async (api) => {
    const { id } = await api.hold({ price: '129.00' })
    await api.end('complete', id)
    const { body } = await api.get(`/store/entries?orderId=${id}`)
    return () => request(api, id, (body as { id: number }[])[0]?.id ?? 0)
  }
const withDeposit =
  (request: (api: ApiFixture, orderId: number) => Promise<TestResponse>): Case =>
  async (api) => {
    const { id } = await api.hold({ deposit: '20.00' })
    return () => request(api, id)
  }
const once = (key: string = randomUUID()) => ({ 'idempotency-key': key })
const REFUND = { amount: '29.00', takeBack: false }
const CASH = { direction: 'in', amount: '50.00', note: 'change from the bank' }
/** Closes the day after the last closed one, which has no entries. */
const withDay =
  (
    request: (
      api: ApiFixture,
      closing: { day: string; counted: string; kept: string },
    ) => Promise<TestResponse>,
  ): Case =>
  async (api) => {
    const { body } = await api.get('/store/totals')
    const { closedThrough = '2026-01-01' } = body as { closedThrough?: string }
    const day = new Date(Date.parse(closedThrough) + 86_400_000).toISOString().slice(0, 10)
    return () => request(api, { day, counted: '0.00', kept: '0.00' })
  }
const withApiKey =
  (request: (api: ApiFixture, apiKeyId: number) => Promise<TestResponse>): Case =>
  async (api) => {
    const { body } = await api.post('/api-keys', { name: 'x' })
    return () => request(api, (body as { id: number }).id)
  }
const withOwnApiKey =
  (request: (api: ApiFixture, apiKey: string) => Promise<TestResponse>): Case =>
  async (api) => {
    const { body } = await api.post('/api-keys', { name: 'x' })
    return () => request(api, (body as { key: string }).key)
  }
const WEBHOOK = { url: 'https://shop.example/hooks' }
const withWebhook =
  (request: (api: ApiFixture, path: string) => Promise<TestResponse>): Case =>
  async (api) => {
    const { body } = await api.post('/webhooks', WEBHOOK)
    return () => request(api, `/webhooks/${(body as { id: number }).id}`)
  }
const patchSettings = (api: ApiFixture, body: object, headers: Record<string, string> = {}) =>
  api.call('PATCH', '/v1/store/settings', { body, headers })
const notModified = (api: ApiFixture, path: string) =>
  api.call('GET', `/v1${path}`, { headers: { 'if-none-match': '*' } })
const withDisabledWebhook = (request: (api: ApiFixture, path: string) => Promise<TestResponse>): Case =>
  withWebhook(async (api, path) => {
    await api.call('PATCH', `/v1${path}`, { body: { enabled: false } })
    return request(api, path)
  })
const withDelivery =
  (request: (api: ApiFixture, path: string, webhook: string) => Promise<TestResponse>): Case =>
  async (api) => {
    const { body } = await api.post('/webhooks', WEBHOOK)
    const webhookId = (body as { id: number }).id
    const [row] = await api.sql(
      `insert into webhook_deliveries (webhook_id, at, message_id, kind, type, occurred_at, attempt, outcome, duration_ms)
        values ($1, now(), 'test_1', 'test', 'webhook.test', now(), 1, 'delivered', 5) returning id`,
      [webhookId],
    )
    return () => request(api, `/webhooks/${webhookId}/deliveries/${row?.['id']}`, `/webhooks/${webhookId}`)
  }
/** Sends the same Idempotency-Key twice, the second time with other values. */
const reused =
  (path: string, [first, second]: [(petId: number) => object, (petId: number) => object]): Case =>
  async (api) => {
    const [{ id }, headers] = [await api.addPet(), { 'idempotency-key': randomUUID() }]
    await api.post(path, first(id), headers)
    return () => api.post(path, second(id), headers)
  }
/** Sends an Idempotency-Key while another request with this key is in flight, which holds its lock. */
const inUse =
  (path: string, body: object): Case =>
  async (api) => {
    const key = randomUUID()
    return () =>
      api.db.transaction(async (tx) => {
        const text = `select pg_advisory_xact_lock(hashtextextended('${key}', id)) from actors`
        await tx.read({ name: key, text, values: [] })
        return api.post(path, body, { 'idempotency-key': key })
      })
  }
const end = (verb: 'complete' | 'cancel', other: 'complete' | 'cancel'): Record<string, Case> => ({
  200: withOrder((api, id) => api.end(verb, id)),
  409: async (api) => {
    const { id } = await api.hold()
    await api.end(other, id)
    return () => api.end(verb, id)
  },
})

/** The cases that no document knows, because the request must reach a state or needs a valid body. */
const CASES: Record<string, Record<string, Case>> = {
  createPet: {
    201: simply((api) => api.post('/pets', PET)),
    400: simply((api) => api.post('/pets', {})),
    409: inUse('/pets', PET),
    422: reused('/pets', [() => PET, () => ({ ...PET, name: 'Other' })]),
  },
  getPet: {
    200: withPet((api, id) => api.get(`/pets/${id}`)),
    304: withPet((api, id) => notModified(api, `/pets/${id}`)),
    400: withPet((api, id) => api.get(`/pets/${id}?include=x`)),
    410: async (api) => {
      const clock = () => new Date('2030-12-05T00:00:00Z')
      const later = await openApiFixtureOn(api.databaseUrl, api.db, { clock })
      return () => later.get('/pets/1')
    },
  },
  updatePet: {
    200: withPet((api, id) => api.patch(id, { name: 'Rex' })),
    400: withPet((api, id) => api.patch(id, { name: '' })),
    409: withOrder((api, _, petId) => api.patch(petId, { status: 'sold' })),
    412: withPet((api, id) => api.patch(id, {}, { 'if-match': '"9"' })),
  },
  deletePet: {
    204: withPet((api, id) => api.remove(`/pets/${id}`)),
    409: withOrder((api, _, petId) => api.remove(`/pets/${petId}`)),
    412: withPet((api, id) => api.remove(`/pets/${id}`, { 'if-match': '"9"' })),
  },
  changePets: {
    200: simply((api) => api.post('/pet-changes', { changes: [{ create: PET }] })),
    400: simply((api) => api.post('/pet-changes', { changes: [] })),
    409: inUse('/pet-changes', { changes: [{ create: PET }] }),
    422: reused('/pet-changes', [
      () => ({ changes: [{ create: PET }] }),
      () => ({ changes: [{ create: { ...PET, name: 'Other' } }] }),
    ]),
  },
  exportPets: {
    429: async (api) => {
      const full = await openApiFixtureOn(api.databaseUrl, api.db, {
        petExports: openPetExports(watchApiKeys(api.db), { perKeyMax: 0 }),
      })
      return () => full.get('/pet-export')
    },
  },
  getPetHistory: {
    200: withPet((api, id) => api.get(`/pets/${id}/history`)),
    400: withPet((api, id) => api.get(`/pets/${id}/history?limit=0`)),
  },
  getPetProfile: {
    200: withPet((api, id) => api.get(`/pets/${id}/profile`)),
    304: withPet((api, id) => notModified(api, `/pets/${id}/profile`)),
  },
  putPetProfile: {
    200: withPet((api, id) => api.put(`/pets/${id}/profile`, { price: '129.00' })),
    400: withPet((api, id) => api.put(`/pets/${id}/profile`, { price: '129' })),
    409: withPet(async (api, id) => {
      await api.post('/pets', { ...PET, profile: { reference: 'put' } })
      return api.put(`/pets/${id}/profile`, { reference: 'put' })
    }),
    412: withPet((api, id) => api.put(`/pets/${id}/profile`, {}, { 'if-match': '"9"' })),
  },
  listPets: {
    304: withPet((api, id) => notModified(api, `/pets?id=${id}`)),
  },
  getOwnApiKey: {
    304: simply((api) => notModified(api, '/api-keys/self')),
  },
  getPetCount: {
    200: simply((api) => api.get('/pet-count?status=sold')),
    400: simply((api) => api.get('/pet-count?status=x')),
  },
  putPetByReference: {
    200: async (api) => {
      await api.put('/pets/by-reference/known', PET)
      return () => api.put('/pets/by-reference/known', { ...PET, name: 'Tom' })
    },
    201: simply((api) => api.put('/pets/by-reference/new', PET)),
    400: simply((api) => api.put('/pets/by-reference/new', {})),
  },
  listPetProfiles: {
    200: withPet((api, id) => api.get(`/pet-profiles?petId=${id}`)),
  },
  putCategory: {
    200: async (api) => {
      await api.put('/categories/5', { name: 'Dogs' })
      return () => api.put('/categories/5', { name: 'Cats' })
    },
    201: simply((api) => api.put('/categories/6', { name: 'Dogs' })),
    400: simply((api) => api.put('/categories/5', {})),
    404: simply((api) => api.put('/categories/0', { name: 'Dogs' })),
    412: async (api) => {
      await api.put('/categories/5', { name: 'Dogs' })
      return () => api.put('/categories/5', { name: 'Cats' }, { 'if-none-match': '*' })
    },
  },
  placeOrder: {
    201: withPet((api, petId) => api.post('/store/orders', { petId })),
    400: simply((api) => api.post('/store/orders', {})),
    404: simply((api) => api.post('/store/orders', `{"petId": ${UNKNOWN_ID}}`)),
    409: withOrder((api, _, petId) => api.post('/store/orders', { petId })),
    422: reused('/store/orders', [(petId) => ({ petId }), (petId) => ({ petId, note: 'x' })]),
  },
  getOrder: {
    200: withOrder((api, id) => api.get(`/store/orders/${id}`)),
    304: withOrder((api, id) => notModified(api, `/store/orders/${id}`)),
  },
  updateOrder: {
    200: withOrder((api, id) => api.call('PATCH', `/v1/store/orders/${id}`, { body: { note: 'x' } })),
    400: withOrder((api, id) => api.call('PATCH', `/v1/store/orders/${id}`, { body: { note: '' } })),
    409: async (api) => {
      const { id, expiresAt } = await api.hold()
      await api.end('cancel', id)
      return () => api.call('PATCH', `/v1/store/orders/${id}`, { body: { expiresAt } })
    },
  },
  completeOrder: end('complete', 'cancel'),
  cancelOrder: end('cancel', 'complete'),
  correctOrder: {
    200: withSale((api, id) => api.post(`/store/orders/${id}/correct`, { price: '119.00' })),
    400: withSale((api, id) => api.post(`/store/orders/${id}/correct`, { price: '119' })),
    404: simply((api) => api.post(`/store/orders/${UNKNOWN_ID}/correct`, { price: '119.00' })),
    409: withOrder((api, id) => api.post(`/store/orders/${id}/correct`, { price: '119.00' })),
  },
  refundOrder: {
    201: withSale((api, id) => api.post(`/store/orders/${id}/refund`, REFUND, once())),
    400: withSale((api, id) => api.post(`/store/orders/${id}/refund`, REFUND)),
    404: simply((api) => api.post(`/store/orders/${UNKNOWN_ID}/refund`, REFUND, once())),
    409: withSale((api, id) =>
      api.post(`/store/orders/${id}/refund`, { ...REFUND, amount: '129.01' }, once()),
    ),
    422: withSale(async (api, id) => {
      await api.post(`/store/orders/${id}/refund`, REFUND, once(`refund ${id}`))
      return api.post(`/store/orders/${id}/refund`, { ...REFUND, takeBack: true }, once(`refund ${id}`))
    }),
  },
  settleDeposit: {
    201: withDeposit((api, id) => api.post(`/store/orders/${id}/settle-deposit`, { refund: '5.00' }, once())),
    400: withDeposit((api, id) => api.post(`/store/orders/${id}/settle-deposit`, { refund: '5.00' })),
    404: simply((api) => api.post(`/store/orders/${UNKNOWN_ID}/settle-deposit`, { refund: '5.00' }, once())),
    409: withOrder((api, id) => api.post(`/store/orders/${id}/settle-deposit`, { refund: '5.00' }, once())),
    422: withDeposit(async (api, id) => {
      await api.post(`/store/orders/${id}/settle-deposit`, { refund: '5.00' }, once(`settle ${id}`))
      return api.post(`/store/orders/${id}/settle-deposit`, { refund: '6.00' }, once(`settle ${id}`))
    }),
  },
  voidEntry: {
    200: withSale((api, _, entryId) => api.call('POST', `/v1/store/entries/${entryId}/void`)),
    409: withSale(async (api, id, entryId) => {
      await api.post(`/store/orders/${id}/correct`, { price: '119.00' })
      return api.call('POST', `/v1/store/entries/${entryId}/void`)
    }),
  },
  recordCash: {
    201: simply((api) => api.post('/store/cash', CASH, once())),
    400: simply((api) => api.post('/store/cash', CASH)),
    409: inUse('/store/cash', CASH),
    422: reused('/store/cash', [() => CASH, () => ({ ...CASH, direction: 'out' })]),
  },
  closeDay: {
    200: withDay(async (api, closing) => {
      await api.post('/store/day-closings', closing)
      return api.post('/store/day-closings', closing)
    }),
    201: withDay((api, closing) => api.post('/store/day-closings', closing)),
    400: simply((api) => api.post('/store/day-closings', {})),
    409: withDay(async (api, closing) => {
      await api.post('/store/day-closings', closing)
      return api.post('/store/day-closings', { ...closing, counted: '1.00' })
    }),
  },
  listEvents: {
    410: simply((api) => api.get(`/events?after=${UNKNOWN_POSITION}`)),
  },
  streamEvents: {
    410: simply((api) => api.get(`/events/stream?after=${UNKNOWN_POSITION}`)),
    429: async (api) => {
      const eventStreams = openEventStreams({ db: api.db, max: 1, perKeyMax: 0 })
      const full = await openApiFixtureOn(api.databaseUrl, api.db, { eventStreams })
      return () => full.get('/events/stream')
    },
  },
  createWebhook: {
    201: simply((api) => api.post('/webhooks', WEBHOOK)),
    400: simply((api) => api.post('/webhooks', { url: 'https://10.0.0.1/' })),
    409: async () => {
      const full = await openApiFixture()
      await full.sql(`insert into webhooks (url, types, epoch, number)
        select 'https://shop.example', '{pet.created}', 'abc', 1 from generate_series(1, 100)`)
      return () => full.post('/webhooks', WEBHOOK)
    },
  },
  getWebhook: {
    200: withWebhook((api, path) => api.get(path)),
    304: withWebhook((api, path) => notModified(api, path)),
  },
  updateSettings: {
    200: simply((api) => patchSettings(api, { name: randomUUID() })),
    400: simply((api) => patchSettings(api, { timeZone: 'Mars/Olympus' })),
    409: withOrder((api) => patchSettings(api, { timeZone: 'Asia/Tokyo' })),
    412: simply((api) => patchSettings(api, {}, { 'if-match': '"0"' })),
  },
  updateWebhook: {
    200: withWebhook((api, path) => api.call('PATCH', `/v1${path}`, { body: { enabled: false } })),
    400: withWebhook((api, path) => api.call('PATCH', `/v1${path}`, { body: { url: 'ftp://shop.example' } })),
  },
  deleteWebhook: {
    204: withWebhook((api, path) => api.remove(path)),
  },
  rotateWebhookSecret: {
    201: withWebhook((api, path) => api.post(`${path}/rotate-secret`, {})),
    400: withWebhook((api, path) => api.post(`${path}/rotate-secret`, { overlapSeconds: -1 })),
  },
  testWebhook: {
    202: withWebhook((api, path) => api.post(`${path}/test`, {})),
    409: withDisabledWebhook((api, path) => api.post(`${path}/test`, {})),
  },
  replayWebhook: {
    202: withWebhook((api, path) => api.post(`${path}/replay`, { after: 'latest' })),
    400: withWebhook((api, path) => api.post(`${path}/replay`, { after: 'here' })),
    404: simply((api) => api.post(`/webhooks/${UNKNOWN_ID}/replay`, { after: 'latest' })),
    410: withWebhook((api, path) => api.post(`${path}/replay`, { after: UNKNOWN_POSITION })),
  },
  listDeliveries: {
    200: withWebhook((api, path) => api.get(`${path}/deliveries`)),
    400: withWebhook((api, path) => api.get(`${path}/deliveries?limit=0`)),
  },
  redeliver: {
    202: withDelivery((api, path) => api.post(`${path}/redeliver`, {})),
    404: withWebhook((api, path) => api.post(`${path}/deliveries/${UNKNOWN_ID}/redeliver`, {})),
    409: withDelivery(async (api, path, webhook) => {
      await api.call('PATCH', `/v1${webhook}`, { body: { enabled: false } })
      return api.post(`${path}/redeliver`, {})
    }),
  },
  revokeOwnApiKey: {
    204: withOwnApiKey((api, apiKey) => api.call('DELETE', '/v1/api-keys/self', { apiKey })),
  },
  createApiKey: {
    201: simply((api) => api.post('/api-keys', { name: 'x' })),
    400: simply((api) => api.post('/api-keys', {})),
  },
  updateApiKey: {
    200: withApiKey((api, id) => api.call('PATCH', `/v1/api-keys/${id}`, { body: { name: 'y' } })),
    400: withApiKey((api, id) => api.call('PATCH', `/v1/api-keys/${id}`, { body: {} })),
    404: simply((api) => api.call('PATCH', `/v1/api-keys/${UNKNOWN_ID}`, { body: { name: 'y' } })),
  },
  rotateApiKey: {
    201: withApiKey((api, id) => api.post(`/api-keys/${id}/rotate`, {})),
    400: withApiKey((api, id) => api.post(`/api-keys/${id}/rotate`, { overlapSeconds: -1 })),
  },
  revokeApiKey: {
    204: withApiKey((api, id) => api.remove(`/api-keys/${id}`)),
  },
}

/**
 * The cases that follow from openapi.json: reads without an id, unknown parameters of reads, unknown ids, and malformed JSON,
 * which also operations without a body reject.
 */
function derivedCase({ method, path, pathParameter, body }: Operation, status: string): Case | undefined {
  const isCollection = method === 'GET' && pathParameter === undefined
  const unknown = `/v1${path.replaceAll(/\{\w+\}/g, UNKNOWN_ID)}`
  if (status === '200' && isCollection) return simply((api) => api.get(path))
  if (status === '400' && method === 'GET') return simply((api) => api.call(method, `${unknown}?unknown=1`))
  if (status === '400' && (body?.isOptional ?? true))
    return simply((api) => api.call(method, unknown, { body: '{' }))
  if (status === '404' && pathParameter !== undefined && (body?.required ?? []).length === 0)
    return simply((api) => api.call(method, unknown, body && { body: {} }))
  return undefined
}

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>
}
const documented = Object.values(document.paths)
  .flatMap((verbs) => Object.values(verbs))
  .flatMap(({ operationId, responses }) =>
    Object.entries(responses).map(([status, response]) => ({
      operationId,
      status,
      isOutcomeUnknown: status === '503' && JSON.stringify(response).includes('outcome_unknown'),
    })),
  )
const covered = documented.filter(({ status }) => !['401', '403', '503', 'default'].includes(status))
const withUnknownOutcome = documented.filter(({ isOutcomeUnknown }) => isOutcomeUnknown)
const api = await openApiFixture()

function caseOf(operationId: string, status: string): Case {
  const operation = OPERATIONS.find(({ id }) => id === operationId)
  const found = CASES[operationId]?.[status] ?? (operation && derivedCase(operation, status))
  if (found === undefined) throw new Error(`${operationId} has no case for ${status}`)
  return found
}

test('CASES has only operations and statuses of openapi.json', () => {
  const known = new Set(covered.map(({ operationId, status }) => `${operationId} ${status}`))
  const cases = Object.entries(CASES).flatMap(([operationId, statuses]) =>
    Object.keys(statuses).map((status) => `${operationId} ${status}`),
  )
  expect(cases.filter((each) => !known.has(each))).toEqual([])
})

test.each(covered)('$operationId returns $status', async ({ operationId, status }) => {
  const request = await caseOf(operationId, status)(api)
  expect((await request()).status).toBe(Number(status))
})

describe('if the connection is lost during the commit,', () => {
  beforeAll(async () => {
    await api.sql('create table fault (is_enabled boolean)')
    await api.sql(`create function break_connection() returns trigger language plpgsql as $$ begin
      if (select is_enabled from fault) then perform pg_terminate_backend(pg_backend_pid()); end if;
      return null;
    end $$`)
    const ofStore = [
      'pets',
      'pet_profiles',
      'orders',
      'entries',
      'day_closings',
      'categories',
      'store_settings',
    ]
    for (const table of [...ofStore, 'actors', 'api_keys', 'webhooks']) {
      await api.sql(`create constraint trigger fault after insert or update or delete on ${table}
        deferrable initially deferred for each row execute function break_connection()`)
    }
    await api.sql('insert into fault values (false)')
  })

  test.each(withUnknownOutcome)('$operationId returns 503 outcome_unknown', async ({ operationId }) => {
    const success = Object.keys(CASES[operationId] ?? {}).find((status) => status.startsWith('2')) ?? ''
    const request = await caseOf(operationId, success)(api)
    await api.sql('update fault set is_enabled = true')
    try {
      expect(await request()).toMatchObject({ status: 503, body: { code: 'outcome_unknown' } })
    } finally {
      await api.sql('update fault set is_enabled = false')
    }
  })
})

// A body sets only the fields of its schema: never an id, a version, an author or a scope.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NEEDED_PRIVILEGES } from '../../src/db/inspect/privileges.ts'
import { openApiFixture } from '../support/api-fixture.ts'
import type { TestResponse } from '../support/client.ts'
import { FULL_PROFILE } from '../support/profile.ts'
import { operations } from './operations.ts'

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  components: { schemas: Record<string, { properties?: Record<string, unknown> }> }
}
const api = await openApiFixture()

const columns = await api.sql(
  `select distinct column_name as name from information_schema.columns where table_schema = 'public'`,
)
const camel = (name: string) => name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())

/** Every property in openapi.json, every column, and names that an attacker might try. */
const NAMES = [
  ...Object.values(document.components.schemas).flatMap(({ properties = {} }) => Object.keys(properties)),
  ...columns.flatMap(({ name }) => [String(name), camel(String(name))]),
  'environment',
  'isAdmin',
  'role',
  'scope',
  'apiKey',
  'constructor',
]

/** Values that are easy to find if they are stored or returned. */
const CANARIES = [424_242_424_242, 'canary-value', '2001-02-03T04:05:06.000Z', ['admin', 'canary-value']]

interface Case {
  /** The fields of the schema; all other names are added to the request. */
  body: (petId: number) => Record<string, unknown>
  send: (body: object, petId: number) => Promise<TestResponse>
  status: number
}

const newKey = () => ({ 'idempotency-key': randomUUID() })
let closedDays = 0

/** The id of an order that was completed. */
async function sell(): Promise<number> {
  const { id } = await api.hold({ price: '129.00' })
  await api.end('complete', id)
  return id
}

async function createWebhook(): Promise<string> {
  const { body } = await api.post('/webhooks', { url: 'https://shop.example' })
  return `/webhooks/${(body as { id: number }).id}`
}

const CASES: Record<string, Case> = {
  createPet: {
    body: () => ({ name: 'Rex', categoryId: 1, status: 'pending', profile: {} }),
    send: (body) => api.post('/pets', body),
    status: 201,
  },
  putPetByReference: {
    body: () => ({ name: 'Rex', categoryId: 1, status: 'pending', profile: {} }),
    send: (body, petId) => api.put(`/pets/by-reference/r${petId}`, body),
    status: 201,
  },
  updatePet: {
    body: () => ({ name: 'Tom', categoryId: 2, status: 'available', reason: 'x' }),
    send: (body, petId) => api.patch(petId, body),
    status: 200,
  },
  changePets: {
    body: () => ({ name: 'Tom', categoryId: 2, status: 'available', profile: { price: '5.00' } }),
    send: async (body, petId) => {
      const update = { ...body, profile: undefined, petId, version: 1, reason: 'x' }
      const response = await api.post('/pet-changes', { changes: [{ create: body }, { update }] })
      const { results } = response.body as { results: { status: number }[] }
      const isDone = results.map(({ status }) => status).join() === '201,200'
      return { ...response, status: isDone ? response.status : 400 }
    },
    status: 200,
  },
  putPetProfile: {
    body: (petId) => ({ ...FULL_PROFILE, currency: 'EUR', reference: `SKU-${petId}` }),
    send: (body, petId) => api.put(`/pets/${petId}/profile`, body),
    status: 200,
  },
  putCategory: {
    body: () => ({ name: 'Cats' }),
    send: (body) => api.put('/categories/9', body),
    status: 200,
  },
  updateSettings: {
    body: () => ({
      name: 'Shop',
      address: 'x',
      receiptText: 'x',
      isTaxInvoice: true,
      currency: 'EUR',
      timeZone: 'Europe/Berlin',
    }),
    send: (body) => api.call('PATCH', '/v1/store/settings', { body }),
    status: 200,
  },
  placeOrder: {
    body: (petId) => ({
      petId,
      holdMinutes: 5,
      note: 'x',
      price: '129.00',
      currency: 'EUR',
      deposit: '20.00',
      method: 'cash',
    }),
    send: (body) => api.post('/store/orders', body),
    status: 201,
  },
  updateOrder: {
    body: () => ({ note: 'x', expiresAt: new Date(Date.now() + 60_000).toISOString() }),
    send: async (body) => api.call('PATCH', `/v1/store/orders/${(await api.hold()).id}`, { body }),
    status: 200,
  },
  completeOrder: {
    body: () => ({ price: '119.00', currency: 'EUR', note: 'x', method: 'cash', reason: 'discount' }),
    send: async (body) => api.post(`/store/orders/${(await api.hold()).id}/complete`, body),
    status: 200,
  },
  correctOrder: {
    body: () => ({ price: '119.00', currency: 'EUR', method: 'card', reason: 'wrong_price' }),
    send: async (body) => api.post(`/store/orders/${await sell()}/correct`, body),
    status: 200,
  },
  refundOrder: {
    body: () => ({ amount: '29.00', currency: 'EUR', takeBack: true, method: 'cash', reason: 'ill' }),
    send: async (body) => api.post(`/store/orders/${await sell()}/refund`, body, newKey()),
    status: 201,
  },
  settleDeposit: {
    body: () => ({ refund: '5.00', currency: 'EUR', method: 'cash', reason: 'changed_mind' }),
    send: async (body) => {
      const { id } = await api.hold({ deposit: '20.00' })
      return api.post(`/store/orders/${id}/settle-deposit`, body, newKey())
    },
    status: 201,
  },
  recordCash: {
    body: () => ({ direction: 'out', amount: '9.00', currency: 'EUR', note: 'stamps' }),
    send: (body) => api.post('/store/cash', body, newKey()),
    status: 201,
  },
  closeDay: {
    body: () => {
      closedDays += 1
      return { day: `2026-01-0${closedDays}`, counted: '9.00', kept: '5.00', currency: 'EUR', note: 'x' }
    },
    send: (body) => api.post('/store/day-closings', body),
    status: 201,
  },
  createWebhook: {
    body: () => ({ url: 'https://shop.example', description: 'x', types: ['pet.created'] }),
    send: (body) => api.post('/webhooks', body),
    status: 201,
  },
  updateWebhook: {
    body: () => ({ url: 'https://shop.example', description: 'x', types: ['pet.created'], enabled: true }),
    send: async (body) => api.call('PATCH', `/v1${await createWebhook()}`, { body }),
    status: 200,
  },
  rotateWebhookSecret: {
    body: () => ({ overlapSeconds: 5 }),
    send: async (body) => api.post(`${await createWebhook()}/rotate-secret`, body),
    status: 201,
  },
  replayWebhook: {
    body: () => ({ after: 'latest' }),
    send: async (body) => api.post(`${await createWebhook()}/replay`, body),
    status: 202,
  },
  createApiKey: {
    body: () => ({ name: 'x', scopes: ['pets:read'], rateLimit: 7, expiresInSeconds: 1_000 }),
    send: (body) => api.post('/api-keys', body),
    status: 201,
  },
  updateApiKey: {
    body: () => ({ name: 'new' }),
    send: async (body) => {
      const made = await api.post('/api-keys', { name: 'old', scopes: ['pets:read'] })
      return api.call('PATCH', `/v1/api-keys/${(made.body as { id: number }).id}`, { body })
    },
    status: 200,
  },
  rotateApiKey: {
    body: () => ({ overlapSeconds: 5 }),
    send: async (body) => {
      const made = await api.post('/api-keys', { name: 'old', scopes: ['pets:read'] })
      const rotated = await api.post(`/api-keys/${(made.body as { id: number }).id}/rotate`, body)
      if (rotated.status === 201) expect(rotated.body).toMatchObject({ name: 'old', scopes: ['pets:read'] })
      return rotated
    },
    status: 201,
  },
}

/** Every row of every table, as text. */
async function everyRow(): Promise<string> {
  const selects = Object.keys(NEEDED_PRIVILEGES).map((table) => `select ${table}::text as row from ${table}`)
  const rows = await api.sql(selects.join(' union all '))
  return rows.map(({ row }) => row).join('\n')
}

test('every operation with a body has a case', () => {
  const withBody = operations.filter(({ body }) => body !== undefined).map(({ operationId }) => operationId)
  expect(withBody.toSorted()).toEqual(Object.keys(CASES).toSorted())
})

test.each(Object.entries(CASES))(
  `%s stores none of ${NAMES.length} field names that are not in its schema`,
  async (operationId, { body: bodyFor, send, status }) => {
    await api.put('/categories/9', { name: 'Birds' })
    for (const canary of CANARIES) {
      const { id } = await api.addPet()
      const own = bodyFor(id)
      const extra = Object.fromEntries(NAMES.filter((name) => !(name in own)).map((name) => [name, canary]))
      const response = await send({ ...extra, ...own }, id)
      // The contract of createPet lets any field pass.
      expect(response.status, response.text).toBe(operationId === 'createPet' ? status : 400)
      expect((await send(own, id)).status).toBe(status)
      for (const seen of [response.text, await everyRow()]) {
        expect(seen).not.toMatch(/424242424242|canary-value|2001-02-03/)
      }
    }
  },
)

test('ignores an id, a version, an author and a time in the body of a new pet', async () => {
  const extra = { id: 1, version: 9, createdBy: 1, created_by: 1, createdAt: '2001-02-03T04:05:06.000Z' }
  const pet = await api.addPet(extra)
  expect(pet.id).not.toBe(1)
  const [row] = await api.sql(
    `select version, actors.name as by, pets.created_at > now() - interval '1 hour' as now
      from pets join actors on actors.id = created_by where pets.id = $1`,
    [pet.id],
  )
  expect(row).toEqual({ version: 1, by: 'staff', now: true })
})

test.each([[{ status: 'completed' }], ['[]'], ['7']])(
  'an operation without fields rejects the body %j (400), and accepts {} and null',
  async (body) => {
    const { id } = await api.hold()
    const cancel = (sent: object | string) =>
      api.call('POST', `/v1/store/orders/${id}/cancel`, { body: sent })
    expect(await cancel(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect((await cancel({})).body).toMatchObject({ status: 'cancelled' })
    expect((await cancel('null')).status).toBe(200)
  },
)

test('does not read fields of the body from the query', async () => {
  const response = await api.call('POST', '/v1/pets?status=sold', { body: { name: 'Rex', categoryId: 1 } })
  expect(response).toMatchObject({ status: 400, body: { code: 'unknown_parameter' } })
})

// What the tests of the store share: a shop on a database of its own, a key that may do everything, and the
// usual moves in it.
import { expect } from 'vitest'
import { SCOPES } from '../../src/scopes.ts'
import type { Db } from '../../src/db/database.ts'
import type { AppOptions } from '../../src/server/app.ts'
import { linkTo, type Pet } from '../contract/pets.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { type TestResponse, openTestClient, type TestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'

export interface Order {
  id: number
  petId: number
  status: 'open' | 'completed' | 'cancelled' | 'expired'
  note?: string
  placedBy: string
  createdAt: string
  expiresAt: string
  closedAt?: string
}

export interface HistoryEntry {
  at: string
  event: string
  from?: Partial<Pet>
  to?: Partial<Pet>
  apiKeyName: string
  requestId: string
  reason?: string
}

type Headers = Record<string, string>

export interface ApiFixture extends TestClient {
  db: Db
  databaseUrl: string
  sql: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>
  patch: (petId: number, body: unknown, headers?: Headers) => Promise<TestResponse>
  put: (path: string, body: unknown) => Promise<TestResponse>
  remove: (path: string, headers?: Headers) => Promise<TestResponse>
  /** Completes or cancels an order, without a body. */
  end: (verb: 'complete' | 'cancel', orderId: number | string) => Promise<TestResponse>
  addPet: (values?: Partial<Pet>) => Promise<Pet>
  findPet: (id: number) => Promise<Pet | undefined>
  /** Places an order that must succeed, on a new animal unless one is named. */
  hold: (values?: { petId?: number; holdMinutes?: number; note?: string }) => Promise<Order>
  history: (petId: number) => Promise<HistoryEntry[]>
  /** As if the time of the hold had passed a second ago. */
  makeOverdue: (orderId: number) => Promise<unknown>
}

/** Everything in openShop that is no matter of how the service was started. */
export function apiFixtureAt(
  target: { origin: string; apiKey: string },
  databaseUrl: string,
  db: Db,
): ApiFixture {
  const client = openTestClient(target)
  const addPet = async (values: Partial<Pet> = {}) => {
    const response = await client.post('/pets', { name: 'Biscuit', categoryId: 1, ...values })
    expect(response.status).toBe(201)
    return response.body as Pet
  }
  return {
    ...client,
    db,
    databaseUrl,
    sql: (text, values) => sql(databaseUrl, text, values),
    patch: (petId, body, headers = {}) => client.call('PATCH', `/v1/pets/${petId}`, { body, headers }),
    put: (path, body) => client.call('PUT', `/v1${path}`, { body }),
    remove: (path, headers = {}) => client.call('DELETE', `/v1${path}`, { headers }),
    end: (verb, orderId) => client.call('POST', `/v1/store/orders/${orderId}/${verb}`),
    addPet,
    findPet: async (id) => ((await client.get(`/pets?id=${id}`)).body as Pet[])[0],
    hold: async (values = {}) => {
      const petId = values.petId ?? (await addPet()).id
      const response = await client.post('/store/orders', { ...values, petId })
      expect(response.status, response.text).toBe(201)
      return response.body as Order
    },
    history: async (petId) => (await client.get(`/pets/${petId}/history?limit=100`)).body as HistoryEntry[],
    makeOverdue: (orderId) =>
      sql(
        databaseUrl,
        `update orders set created_at = now() - interval '1 day', expires_at = now() - interval '1 second'
          where id = $1`,
        [orderId],
      ),
  }
}

export async function openApiFixture(choices: Partial<AppOptions> = {}): Promise<ApiFixture> {
  const databaseUrl = await createTestDatabase()
  const db = openTestDatabase(databaseUrl)
  return openApiFixtureOn(databaseUrl, db, choices)
}

/** For tests that each want an empty shop: one that is emptied, at a tenth of the CPU of opening another. */
export function shareApiFixture(open: () => Promise<ApiFixture> = openApiFixture): () => Promise<ApiFixture> {
  let opened: Promise<ApiFixture> | undefined
  return async () => {
    opened ??= open()
    const api = await opened
    await api.sql('truncate pets, categories, idempotency_keys restart identity cascade')
    return api
  }
}

/** Another instance on a database that there is. */
export async function openApiFixtureOn(
  databaseUrl: string,
  db: Db,
  choices: Partial<AppOptions>,
): Promise<ApiFixture> {
  const { origin } = await startApp(db, choices)
  const { text } = await issueApiKey(db, { name: 'counter', scopes: SCOPES })
  return apiFixtureAt({ origin, apiKey: text }, databaseUrl, db)
}

/** Follows `rel="next"` to its end; answers the pages. */
export async function walkPages<Item>(client: TestClient, path: string): Promise<Item[][]> {
  const pages: Item[][] = []
  for (let next: string | undefined = `/v1${path}`; next !== undefined; ) {
    const response: TestResponse = await client.call('GET', next)
    expect(response.status, response.text).toBe(200)
    pages.push(response.body as Item[])
    next = linkTo('next', response, client.origin)
  }
  return pages
}

/** The cursor that leads to the page after this one. */
export function cursorOf(response: TestResponse, client: TestClient): string {
  const next = new URL(linkTo('next', response, client.origin) ?? '', client.origin)
  return next.searchParams.get('cursor') ?? ''
}

/** Path parameters that are no id of anything. */
export const NOT_IDS = ['0', '-1', 'abc', '1.5', '1e3', '%20', '9223372036854775808', '9'.repeat(300), '%zz']
export const UNKNOWN_ID = '9223372036854775807'

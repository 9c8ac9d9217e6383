// Shared by the API tests: an app on its own database, an API key with every scope, and helpers for common requests.
import { expect } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import type { Db } from '../../src/db/database.ts'
import type { AppOptions } from '../../src/server/app.ts'
import { issueApiKey, startApp } from './app.ts'
import { type TestResponse, openTestClient, type TestClient } from './client.ts'
import { createTestDatabase, emptyStore, openTestDatabase, sql } from './database.ts'
import { linkTo, pagesFrom, type Pet } from './pets.ts'

export interface Order {
  id: number
  petId: number
  status: 'open' | 'completed' | 'cancelled' | 'expired'
  note?: string
  price?: string
  currency?: string
  placedBy: string
  createdAt: string
  expiresAt: string
  closedAt?: string
  netPrice?: string
  deposit?: string
  broughtBackAt?: string
}

export interface HistoryEntry {
  at: string
  event: string
  from?: Partial<Pet>
  to?: Partial<Pet>
  actor: string
  requestId: string
  reason?: string
}

/** Part of an update by a superuser that lets time pass. Until the end of the transaction, no trigger runs. */
export const WITHOUT_TRIGGERS = `(select set_config('session_replication_role', 'replica', true)) as quietly`

type Headers = Record<string, string>

interface HoldValues {
  petId?: number
  holdMinutes?: number
  note?: string
  price?: string
  deposit?: string
  method?: string
}

export interface ApiFixture extends TestClient {
  db: Db
  databaseUrl: string
  sql: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>
  patch: (petId: number, body: unknown, headers?: Headers) => Promise<TestResponse>
  put: (path: string, body: unknown, headers?: Headers) => Promise<TestResponse>
  remove: (path: string, headers?: Headers) => Promise<TestResponse>
  /** Completes or cancels an order, without a body. */
  end: (verb: 'complete' | 'cancel', orderId: number | string) => Promise<TestResponse>
  addPet: (values?: Partial<Pet>) => Promise<Pet>
  findPet: (id: number) => Promise<Pet | undefined>
  /** Places an order and expects 201. Adds a pet first unless `petId` is given. */
  hold: (values?: HoldValues) => Promise<Order>
  history: (petId: number) => Promise<HistoryEntry[]>
  /** Sets the expiry of the hold to one second ago, without an event. */
  makeOverdue: (orderId: number) => Promise<unknown>
}

/** The fixture for a service that is already running, in this process or in another. */
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
    put: (path, body, headers = {}) => client.call('PUT', `/v1${path}`, { body, headers }),
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
          from ${WITHOUT_TRIGGERS} where id = $1`,
        [orderId],
      ),
  }
}

export async function openApiFixture(choices: Partial<AppOptions> = {}): Promise<ApiFixture> {
  const databaseUrl = await createTestDatabase()
  const db = openTestDatabase(databaseUrl)
  return openApiFixtureOn(databaseUrl, db, choices)
}

/** Truncates one shared fixture before each use. Opening another fixture takes ten times the CPU time. */
export function shareApiFixture(open: () => Promise<ApiFixture> = openApiFixture): () => Promise<ApiFixture> {
  let opened: Promise<ApiFixture> | undefined
  return async () => {
    opened ??= open()
    const api = await opened
    await emptyStore(api.databaseUrl)
    return api
  }
}

/** Starts another app on an existing database. */
export async function openApiFixtureOn(
  databaseUrl: string,
  db: Db,
  choices: Partial<AppOptions>,
): Promise<ApiFixture> {
  const { origin } = await startApp(db, choices)
  const { text } = await issueApiKey(db, { name: 'staff', scopes: SCOPES })
  return apiFixtureAt({ origin, apiKey: text }, databaseUrl, db)
}

/** Follows `rel="next"` to the last page and returns all pages. */
export async function walkPages<Item>(client: TestClient, path: string): Promise<Item[][]> {
  const pages: Item[][] = []
  for await (const response of pagesFrom(client, `/v1${path}`)) {
    expect(response.status, response.text).toBe(200)
    pages.push(response.body as Item[])
  }
  return pages
}

/** The cursor of the next page. */
export function cursorOf(response: TestResponse, client: TestClient): string {
  const next = new URL(linkTo('next', response, client.origin) ?? '', client.origin)
  return next.searchParams.get('cursor') ?? ''
}

/** Path parameters that are not valid ids. */
export const NOT_IDS = ['0', '-1', 'abc', '1.5', '1e3', '%20', '9223372036854775808', '9'.repeat(300), '%zz']
export const UNKNOWN_ID = '9223372036854775807'

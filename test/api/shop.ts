// What the tests of the store share: a shop on a database of its own, a key that may do everything, and the
// usual moves in it.
import { expect } from 'vitest'
import { SCOPES } from '../../src/scopes.ts'
import type { Db } from '../../src/db/database.ts'
import type { AppOptions } from '../../src/server/app.ts'
import { linkTo, type Pet } from '../contract/animals.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { type Answer, openTestClient, type TestClient } from '../support/client.ts'
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

export interface Shop extends TestClient {
  db: Db
  databaseUrl: string
  sql: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>
  patch: (petId: number, body: unknown, headers?: Headers) => Promise<Answer>
  put: (path: string, body: unknown) => Promise<Answer>
  remove: (path: string, headers?: Headers) => Promise<Answer>
  /** Completes or cancels an order, without a body. */
  end: (verb: 'complete' | 'cancel', orderId: number | string) => Promise<Answer>
  addPet: (values?: Partial<Pet>) => Promise<Pet>
  findPet: (id: number) => Promise<Pet | undefined>
  /** Places an order that must succeed, on a new animal unless one is named. */
  hold: (values?: { petId?: number; holdMinutes?: number; note?: string }) => Promise<Order>
  history: (petId: number) => Promise<HistoryEntry[]>
  /** As if the time of the hold had passed a second ago. */
  makeOverdue: (orderId: number) => Promise<unknown>
}

/** Everything in openShop that is no matter of how the service was started. */
export function shopAt(target: { origin: string; apiKey: string }, databaseUrl: string, db: Db): Shop {
  const client = openTestClient(target)
  const addPet = async (values: Partial<Pet> = {}) => {
    const answer = await client.post('/pets', { name: 'Biscuit', categoryId: 1, ...values })
    expect(answer.status).toBe(201)
    return answer.body as Pet
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
      const answer = await client.post('/store/orders', { ...values, petId })
      expect(answer.status, answer.text).toBe(201)
      return answer.body as Order
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

export async function openShop(choices: Partial<AppOptions> = {}): Promise<Shop> {
  const databaseUrl = await createTestDatabase()
  const db = openTestDatabase(databaseUrl)
  return openShopOn(databaseUrl, db, choices)
}

/** For tests that each want an empty shop: one that is emptied, at a tenth of the CPU of opening another. */
export function shareShop(open: () => Promise<Shop> = openShop): () => Promise<Shop> {
  let opened: Promise<Shop> | undefined
  return async () => {
    opened ??= open()
    const shop = await opened
    await shop.sql('truncate pets, categories, idempotency_keys restart identity cascade')
    return shop
  }
}

/** Another instance on a database that there is. */
export async function openShopOn(databaseUrl: string, db: Db, choices: Partial<AppOptions>): Promise<Shop> {
  const { origin } = await startApp(db, choices)
  const { text } = await issueApiKey(db, { name: 'counter', scopes: SCOPES })
  return shopAt({ origin, apiKey: text }, databaseUrl, db)
}

/** Follows `rel="next"` to its end; answers the pages. */
export async function walkPages<Item>(client: TestClient, path: string): Promise<Item[][]> {
  const pages: Item[][] = []
  for (let next: string | undefined = `/v1${path}`; next !== undefined; ) {
    const answer: Answer = await client.call('GET', next)
    expect(answer.status, answer.text).toBe(200)
    pages.push(answer.body as Item[])
    next = linkTo('next', answer, client.origin)
  }
  return pages
}

/** The cursor that leads to the page after this one. */
export function cursorOf(answer: Answer, client: TestClient): string {
  const next = new URL(linkTo('next', answer, client.origin) ?? '', client.origin)
  return next.searchParams.get('cursor') ?? ''
}

/** Path parameters that are no id of anything. */
export const NOT_IDS = ['0', '-1', 'abc', '1.5', '1e3', '%20', '9223372036854775808', '9'.repeat(300), '%zz']
export const UNKNOWN_ID = '9223372036854775807'

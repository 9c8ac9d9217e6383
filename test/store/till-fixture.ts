// The till of a shop with a clock that a test sets: sales, corrections, refunds, deposits, closings and totals over HTTP.
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { SCOPES, type Scope } from '../../src/contract/scopes.ts'
import { type ApiFixture, openApiFixture, type Order } from '../support/api-fixture.ts'
import { issueApiKey } from '../support/app.ts'
import type { TestResponse } from '../support/client.ts'

export interface Entry {
  id: number
  orderId?: number
  petId?: number
  kind: string
  day: string
  at: string
  paid: string
  sales: string
  pets: number
  currency: string
  method?: string
  categoryId?: number
  seller?: string
  actor?: string
  reason?: string
  note?: string
  voidedEntryId?: number
}

interface Sums {
  currency: string
  pets: number
  sales: string
  paid: string
}

export interface Totals {
  timeZone: string
  today: string
  from: string
  to: string
  closedThrough?: string
  totals: Sums[]
  groups?: (Sums & Record<string, unknown>)[]
  deposits: { currency: string; amount: string }[]
  cash: { currency: string; amount: string }[]
  drawer?: { currency: string; expected: string }
}

/** What is common to requests of a test: the key, and fields of the body. */
interface Choices {
  apiKey?: string
  method?: string
  key?: string
}

export const CASHIER: readonly Scope[] = ['pets:read', 'orders:read', 'orders:write', 'events:read']

export type TillFixture = Awaited<ReturnType<typeof openTillFixture>>

export async function openTillFixture(api?: ApiFixture) {
  const shop = api ?? (await openApiFixture())
  const owner = (await issueApiKey(shop.db, { name: 'Owner', scopes: SCOPES })).text
  const post = (path: string, body: unknown, { apiKey = owner, key }: Choices = {}) =>
    shop.call('POST', `/v1/store/${path}`, {
      apiKey,
      body,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    })
  const found = async <Found>(path: string) => {
    const response = await shop.call('GET', `/v1/store/${path}`, { apiKey: owner })
    expect(response.status, response.text).toBe(200)
    return response.body as Found
  }
  const made = (response: TestResponse, status = 201): Order => {
    expect(response.status, response.text).toBe(status)
    return response.body as Order
  }

  const hold = async (values: Record<string, unknown> = {}, choices: Choices = {}) => {
    const petId = values['petId'] ?? (await shop.addPet()).id
    return made(await post('orders', { ...values, petId }, choices))
  }
  const complete = async (orderId: number, price: string, { method = 'cash', ...choices }: Choices = {}) =>
    made(await post(`orders/${orderId}/complete`, { price, method }, choices), 200)
  const sums = async (from: string, to = from, by = '') =>
    found<Totals>(`totals?from=${from}&to=${to}${by && `&by=${by}`}`)

  return {
    api: shop,
    post,
    /** A program with these scopes: its API key. */
    keyOf: async (name: string, scopes: readonly Scope[] = CASHIER) =>
      (await issueApiKey(shop.db, { name, scopes })).text,
    /** Sets the clock of the till. */
    at: (time: string) =>
      shop.sql(
        `create or replace function till_now() returns timestamptz language sql volatile return timestamptz '${time}'`,
      ),
    settings: (currency: string, timeZone: string) =>
      shop.sql('update store_settings set currency = $1, time_zone = $2', [currency, timeZone]),
    hold,
    complete,
    /** Sells a new pet, or `petId`. */
    sell: async (price: string, choices: Choices & { petId?: number; deposit?: string } = {}) => {
      const { petId, deposit, apiKey } = choices
      const given = { ...(petId !== undefined && { petId }), ...(deposit !== undefined && { deposit }) }
      const order = await hold(given, apiKey === undefined ? {} : { apiKey })
      return complete(order.id, price, choices)
    },
    cancel: async (orderId: number) => made(await post(`orders/${orderId}/cancel`, undefined), 200),
    correct: (orderId: number, price: string, more: object = {}, choices: Choices = {}) =>
      post(`orders/${orderId}/correct`, { price, ...more }, choices),
    refund: (
      orderId: number,
      amount: string,
      takeBack = false,
      { key = randomUUID(), ...choices }: Choices = {},
    ) =>
      post(
        `orders/${orderId}/refund`,
        { amount, takeBack, ...(choices.method !== undefined && { method: choices.method }) },
        { ...choices, key },
      ),
    settle: (orderId: number, refund: string) =>
      post(`orders/${orderId}/settle-deposit`, { refund }, { key: randomUUID() }),
    voidEntry: (entryId: number, choices: Choices = {}) =>
      post(`entries/${entryId}/void`, undefined, choices),
    close: (day: string, counted: string, kept: string) => post('day-closings', { day, counted, kept }),
    cash: (direction: string, amount: string, note = 'change') =>
      post('cash', { direction, amount, note }, { key: randomUUID() }),
    getOrder: (orderId: number) => found<Order>(`orders/${orderId}`),
    /** Newest first. */
    entriesOf: (orderId: number) => found<Entry[]>(`entries?orderId=${orderId}&limit=100`),
    totals: sums,
    /** The only currency of some days as `pets/sales/paid`; `empty` without entries. */
    day: async (from: string, to = from) => {
      const { totals } = await sums(from, to)
      expect(totals.length).toBeLessThan(2)
      return totals.map(({ pets, sales, paid }) => `${pets}/${sales}/${paid}`)[0] ?? 'empty'
    },
    /** The groups as `pets/sales/paid`, by their field. */
    groups: async (by: string, from: string, to = from) => {
      const field = by === 'category' ? 'categoryId' : by
      const { groups = [] } = await sums(from, to, by)
      return Object.fromEntries(
        groups.map((group) => [String(group[field]), `${group.pets}/${group.sales}/${group.paid}`]),
      )
    },
    held: async (to: string) => (await sums(to)).deposits.map(({ amount }) => amount)[0] ?? 'none',
    petStatus: async (petId: number) => (await shop.findPet(petId))?.status,
  }
}

// The reference model of the service: maps and a few rules, written from docs/interface.md and docs/selling.md.
// Nothing in this folder knows SQL, HTTP or how many instances there are.
import type { StoreEvent } from './events.ts'
import type { Webhook } from './webhooks.ts'

/** A bigint if the id is greater than 2^53, as the test client parses it. */
export type Id = number | bigint
export type PetStatus = 'available' | 'pending' | 'sold'
export type OrderStatus = 'open' | 'completed' | 'cancelled' | 'expired'

export interface Change {
  name?: string
  categoryId?: Id
  status?: PetStatus
}

export interface Profile {
  price?: string
  currency?: string
  breed?: string
  sex?: 'female' | 'male' | 'unknown'
  bornOn?: string
  chipNumber?: string
  reference?: string
  description?: string
}

export interface Entry {
  event: string
  from?: Change | Profile | undefined
  to?: Change | Profile | undefined
  actor: string
  /** Undefined if the service itself made the change, because the model cannot know the id that it chose. */
  requestId: string | undefined
  reason?: string
}

export interface Pet {
  id: number
  name: string
  categoryId: Id
  status: PetStatus
  version: number
  profile: Profile
  /** 0 before its first change. */
  profileVersion: number
  /** Oldest first, beginning with the creation. */
  history: Entry[]
}

export interface Order {
  id: number
  petId: number
  status: OrderStatus
  note?: string
  price?: string
  currency?: string
  placedBy: string
  createdAt: string
  expiresAt: string
  closedAt?: string
}

/** An entry of the ledger. Amounts are in cents. */
export interface MoneyEntry {
  /** Undefined until the service has told it. */
  id: number | undefined
  /** Undefined for cash without an order. */
  orderId?: number
  petId?: number
  kind: string
  day: string
  at: string
  paid: bigint
  sales: bigint
  pets: number
  currency: string
  method?: string | undefined
  categoryId?: Id | undefined
  seller?: string | undefined
  actor: string
  reason?: string | undefined
  note?: string
  voids?: MoneyEntry | undefined
}

/** A closed day. Amounts are in cents. */
export interface Closing {
  day: string
  at: string
  closedBy: string
  expected: bigint
  counted: bigint
  kept: bigint
  note: string | undefined
}

export interface ApiKey {
  id: number
  /** The program. A successor by rotation has the same one. */
  actorId: number
  text: string
  scopes: readonly string[]
  createdAt: string
  rateLimit?: number
  lifetimeSeconds?: number
  expiresAt?: string
  isRevoked: boolean
  /** The second in which it stopped working; the service may still cache it during that second. */
  endedIn?: number
}

export interface Settings {
  version: number
  name: string
  address: string
  receiptText: string
  isTaxInvoice: boolean
  currency: string
  currencyDecimals: number
  timeZone: string
  /** Undefined before the first change of the sequence. */
  updatedAt?: string
}

/** Those of the template of the tests. */
export const FIRST_SETTINGS: Settings = {
  version: 1,
  name: '',
  address: '',
  receiptText: '',
  isTaxInvoice: false,
  currency: 'EUR',
  currencyDecimals: 2,
  timeZone: 'Europe/Berlin',
}

export interface Store {
  pets: Map<number, Pet>
  orders: Map<number, Order>
  categories: Map<Id, { name: string; picture: string | undefined }>
  apiKeys: Map<number, ApiKey>
  /** The present names of the programs. */
  actors: Map<number, string>
  webhooks: Map<number, Webhook>
  settings: Settings
  /** The first response to each Idempotency-Key of each actor. */
  kept: Map<string, { values: string; response: Expected }>
  /** Oldest first. */
  entries: MoneyEntry[]
  closings: Closing[]
  /** The clock of the till, in milliseconds since 1970. */
  till: { now: number }
  deletedPets: number[]
  /** Every event since the store was empty, oldest first. */
  events: StoreEvent[]
  newestIds: { pet: number; order: number; entry: number; apiKey: number; actor: number; webhook: number }
  second: number
}

/** The actor of a call, the scopes of its API key, and its request id. `name` stands for the present name of the actor. */
export interface Caller {
  actorId: number
  name: string
  scopes: readonly string[]
  requestId: string
}

/** The expected response. Fields that are undefined are not compared. */
export interface Expected {
  status: number
  /** Of an error. */
  code?: string
  body?: unknown
  etag?: string
  replayed?: boolean
}

/** Values that only the service can choose, such as ids and times, taken from its response. */
export type Seen = Record<string, unknown> | undefined

export const REJECTIONS = {
  invalid_body: 400,
  invalid_cursor: 400,
  invalid_parameter: 400,
  currency_mismatch: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  insufficient_scope: 403,
  pet_not_found: 404,
  order_not_found: 404,
  entry_not_found: 404,
  api_key_not_found: 404,
  webhook_not_found: 404,
  delivery_not_found: 404,
  pet_not_available: 409,
  pet_on_hold: 409,
  pet_has_orders: 409,
  invalid_transition: 409,
  money_open: 409,
  order_closed: 409,
  order_not_sold: 409,
  amount_too_high: 409,
  entry_final: 409,
  day_closed: 409,
  webhook_disabled: 409,
  events_expired: 410,
  precondition_failed: 412,
  category_exists: 412,
  idempotency_key_reused: 422,
}

export function reject(code: keyof typeof REJECTIONS): Expected {
  return { status: REJECTIONS[code], code }
}

/** In the future, so that no real time is later. */
const TILL_OPENS = Date.parse('2040-02-28T10:00:00.000Z')

export function emptyStore(): Store {
  return {
    pets: new Map(),
    orders: new Map(),
    categories: new Map(),
    apiKeys: new Map(),
    actors: new Map(),
    webhooks: new Map(),
    settings: { ...FIRST_SETTINGS },
    kept: new Map(),
    entries: [],
    closings: [],
    till: { now: TILL_OPENS },
    deletedPets: [],
    events: [],
    newestIds: { pet: 0, order: 0, entry: 0, apiKey: 0, actor: 0, webhook: 0 },
    second: 0,
  }
}

/** The id of a new item, which must be larger than every id given before. */
export function takeId(store: Store, kind: keyof Store['newestIds'], seen: Seen): number {
  const id = Number(seen?.[kind === 'actor' ? 'actorId' : 'id'])
  if (!(id > store.newestIds[kind]))
    throw new Error(`a new ${kind} must have an id above ${store.newestIds[kind]}, not ${id}`)
  store.newestIds[kind] = id
  return id
}

/** Stands for the name of an actor, which can change. No name contains this character. */
export const nameOf = (actorId: number) => `\0${actorId}`

/** The value with the present names of its actors. */
export function withNames(store: Store, value: unknown): unknown {
  if (typeof value === 'string') {
    return value.startsWith('\0') ? store.actors.get(Number(value.slice(1))) : value
  }
  if (Array.isArray(value)) return value.map((item) => withNames(store, item))
  // A matcher of the test stays as it is.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  return Object.fromEntries(Object.entries(value).map(([field, its]) => [field, withNames(store, its)]))
}

/** Replays the first successful response to an Idempotency-Key for every retry with the same values. */
export function once(
  store: Store,
  { actorId }: Caller,
  key: string | undefined,
  values: readonly unknown[],
  work: () => Expected,
): Expected {
  if (key === undefined) return { ...work(), replayed: false }
  const owned = `${actorId} ${key}`
  const kept = store.kept.get(owned)
  if (kept === undefined) {
    const response = work()
    if (response.code === undefined) store.kept.set(owned, { values: values.join('\n'), response })
    return { ...response, replayed: false }
  }
  if (kept.values !== values.join('\n')) return reject('idempotency_key_reused')
  return { ...kept.response, replayed: true }
}

export function countsOf(pets: Iterable<Pet>): Record<PetStatus, number> {
  const counts = { available: 0, pending: 0, sold: 0 }
  for (const { status } of pets) counts[status] += 1
  return counts
}

// Rules for orders: an order holds a pet, then sells or releases it.
//
// Every change to the status of an order also changes its pet, in the same transaction. A transaction that changes an order locks
// the pet first, which prevents deadlocks. A unique index rejects a second open order for a pet, even if the code has defects.
import type { Actor, CallingActor } from '../../contract/actor.ts'
import type { Caller } from '../../contract/caller.ts'
import { AppError, type ErrorDetail } from '../../contract/errors.ts'
import { type Page, type PageRequest, type PagePosition, toPage } from '../../contract/paging.ts'
import { HOLD_MINUTES_MAX } from '../../contract/hold-limit.ts'
import { currencyMismatch, currencyOf, type Priced, priceFaults, readAmounts } from '../../contract/price.ts'
import { QueryFailure } from '../../db/connection/failures.ts'
import { UNIQUE_VIOLATION } from '../../db/connection/sqlstates.ts'
import type { Db, Reader, Tx } from '../../db/database.ts'
import { waitForStandbys } from '../../db/durable-read.ts'
import { parseDateTime } from '../../values/date-time.ts'
import { parseJson, stringifyJson } from '../../values/json.ts'
import { toAmount, withDecimals } from '../../values/money.ts'
import { changePetStatus, releaseExpiredHold } from '../holds/holds.ts'
import { doOnce, fingerprintOf } from '../idempotency/idempotency.ts'
import { lockPet } from '../holds/queries.ts'
import type { Pet } from '../pets/schema.ts'
import { insertEntry } from '../ledger/queries.ts'
import {
  findCompletedOrdersByClosing,
  findOpenOrdersByExpiry,
  findOrdersBefore,
  findOrdersByIds,
  type OrderFilters,
  type Placement,
  placeOrders,
  setOrderCancelled,
  type TimePosition,
  updateOrder,
} from './queries.ts'
import type { Selling } from './selling.ts'
import type { NewOrder, Order, OrderChanges, OrderCompletion, OrderSort } from './schema.ts'

/** Holds and sales go through `selling`, which batches them. */
export interface OrderWrites {
  db: Db
  selling: Selling
}

export interface PlacingOptions {
  caller: Pick<Caller, 'actorId' | 'name'>
  requestId: string
  idempotencyKey: string | undefined
  holdMinutesDefault: number
  currency: string
}

export async function placeOrder(
  { db, selling }: OrderWrites,
  { petId, holdMinutes, note, deposit, method, ...given }: NewOrder,
  { caller, requestId, idempotencyKey, holdMinutesDefault, currency }: PlacingOptions,
): Promise<{ order: Order; replayed: boolean }> {
  const { actorId } = caller
  const once = idempotencyKey !== undefined && {
    actorId,
    key: idempotencyKey,
    operation: 'placeOrder',
    // 'default' instead of the number of minutes: the operator may change the default before the client retries.
    values: [
      petId,
      holdMinutes ?? 'default',
      note ?? '',
      given.price ?? '',
      given.currency ?? '',
      ...(deposit === undefined ? [] : ['deposit', deposit, method ?? '']),
    ],
  }
  const isValid = priceFaults(given, currency).length === 0
  const minutes = holdMinutes ?? holdMinutesDefault
  const order = { petId, actorId, requestId, holdMinutes: minutes, note, ...pricesOf(given, currency) }

  /** With a deposit, the order has an entry in the same transaction. */
  async function place(tx: Tx): Promise<Order> {
    // Not before the transaction: a retry is replayed even if the currency has changed.
    if (!isValid) throw invalidPrice(given, currency)
    const [placement] = await placeOrders(tx, [{ ...order, key: undefined }], 'for the pet')
    const { id } = toPlacedOrder(placement as Placement, given, currency)
    const actor = { actorId, requestId }
    if (deposit !== undefined) await takeDeposit(tx, id, { amount: deposit, method }, { actor, currency })
    return findOrder(tx, id)
  }

  let placed: { order: Order; replayed: boolean }
  if (deposit === undefined && isValid) {
    const key = once && { text: once.key, fingerprint: fingerprintOf(once) }
    const placement = await translateConflicts(selling.place({ ...order, key: key || undefined }))
    placed = {
      order: toPlacedOrder(placement, given, currency),
      replayed: placement.outcome === 'replayed',
    }
  } else if (once) {
    const work = async (tx: Tx) => stringifyJson(await place(tx))
    const { response, replayed } = await translateConflicts(doOnce(db, once, work))
    placed = { order: toOrder(response), replayed }
  } else {
    placed = { order: await translateConflicts(db.transaction(place)), replayed: false }
  }
  // A stored request belongs to the actor that placed the order.
  return { ...placed, order: { ...placed.order, placedBy: caller.name } }
}

function pricesOf({ price, currency }: Priced, shopCurrency: string) {
  return { price, currency, shopCurrency }
}

/** The order that was placed now or before. Throws if it was not. */
function toPlacedOrder(placement: Placement, given: Priced, currency: string): Order {
  const { outcome, response, petStatus } = placement
  switch (outcome) {
    case 'placed':
    case 'replayed':
      return toOrder(response as string)
    case 'key_reused':
      throw new AppError('idempotency_key_reused')
    case 'key_in_use':
      throw new AppError('idempotency_key_in_use')
    case 'not_found':
      throw new AppError('pet_not_found')
    case 'other_currency':
      throw otherCurrency(given, placement, currency)
    case 'not_available':
    case 'undecided':
  }
  throw notAvailable(petStatus ?? 'pending')
}

/** Says what is wrong with the currency of a price that PostgreSQL did not accept. */
function otherCurrency(
  given: Priced,
  { storedPrice, storedCurrency }: Pick<Placement, 'storedPrice' | 'storedCurrency'>,
  currency: string,
): Error {
  const stored = { price: storedPrice ?? undefined, currency: storedCurrency ?? undefined }
  try {
    currencyOf(given, stored, currency)
  } catch (error) {
    return error as Error
  }
  return new Error('PostgreSQL and currencyOf() differ')
}

/** Writes the deposit of a new order. The pet is locked. */
async function takeDeposit(
  tx: Tx,
  orderId: bigint,
  { amount, method }: { amount: string; method: NewOrder['method'] },
  { actor, currency }: CompletingOptions,
): Promise<void> {
  const order = await findOrder(tx, orderId)
  const ownCurrency = order.currency ?? currency
  const { deposit } = readAmounts({ deposit: amount }, undefined, ownCurrency)
  if (deposit === 0n) throw new AppError('invalid_body', { details: [NO_DEPOSIT] })
  const paid = toAmount(deposit, ownCurrency)
  const entry = {
    orderId,
    petId: order.petId,
    kind: 'deposit',
    method,
    currency: ownCurrency,
    paid,
    sales: '0',
    pets: 0,
  } as const
  await insertEntry(
    tx,
    { ...entry, categoryId: undefined, sellerId: actor.actorId, reason: undefined },
    actor,
  )
}

const NO_DEPOSIT: ErrorDetail = {
  field: 'deposit',
  code: 'out_of_range',
  message: 'deposit must be more than 0. Leave it out if the customer pays nothing.',
}

function notAvailable(status: Pet['status']): AppError {
  return new AppError('pet_not_available', { message: `The pet is not available: it is ${status}.` })
}

/** Translates the violation of the unique index into an AppError: the pet already has an open order, although it is available. */
async function translateConflicts<Result>(placing: Promise<Result>): Promise<Result> {
  try {
    return await placing
  } catch (error) {
    // An open order holds the pet.
    if (error instanceof QueryFailure && error.state === UNIQUE_VIOLATION) throw notAvailable('pending')
    throw error
  }
}

function invalidPrice(given: Priced, currency: string): AppError {
  return new AppError('invalid_body', { details: priceFaults(given, currency) })
}

/** Changes the note of an order in every state, and the end of the hold while it is open. */
export async function changeOrder(
  db: Db,
  orderId: bigint,
  { note, expiresAt }: OrderChanges,
  actor: Actor,
): Promise<Order> {
  return db.transaction(async (tx) => {
    const { petId } = await findOrder(tx, orderId)
    const pet = await lockPet(tx, petId)
    // Until the end of the transaction, the order stays as it is then: open, or closed for good.
    if (pet !== undefined) await releaseExpiredHold(tx, pet, actor.requestId)
    const { status } = await findOrder(tx, orderId)
    if (expiresAt !== undefined && status !== 'open') throw new AppError('order_closed')
    const wasChanged = await updateOrder(tx, orderId, { note, expiresAtMicros: microsOf(expiresAt) }, actor)
    if (!wasChanged) throw new AppError('invalid_body', { details: [OUT_OF_RANGE] })
    return findOrder(tx, orderId)
  })
}

const OUT_OF_RANGE: ErrorDetail = {
  field: 'expiresAt',
  code: 'out_of_range',
  message: `expiresAt must be in the future, and at most ${HOLD_MINUTES_MAX} minutes from now.`,
}

export interface CompletingOptions {
  actor: CallingActor
  currency: string
}

/** Sells the pet. Idempotent: the first request decides the price and the note. */
export async function completeOrder(
  { db, selling }: OrderWrites,
  orderId: bigint,
  { note, method, reason, ...given }: OrderCompletion,
  { actor, currency }: CompletingOptions,
): Promise<Order> {
  const { actorId, requestId } = actor
  const isValid = priceFaults(given, currency).length === 0
  const sale = { orderId, actorId, requestId, isValid, note, method, reason, ...pricesOf(given, currency) }
  const completion = await selling.complete(sale)
  switch (completion.outcome) {
    case 'completed':
      return toOrder(completion.response as string)
    case 'not_found':
      throw new AppError('order_not_found')
    case 'invalid_price':
      throw invalidPrice(given, currency)
    case 'other_currency':
      throw otherCurrency(given, completion, currency)
    case 'other_deposit_currency':
      throw currencyMismatch(
        `The deposit is in ${completion.storedCurrency}. Settle it before the sale in another currency.`,
      )
    case 'ended':
    case 'undecided':
  }
  return getCompletedOrder(db, orderId)
}

/** An order that has ended stays as it is, whatever the request contains. As durable as the response to its first completion. */
async function getCompletedOrder(db: Db, orderId: bigint): Promise<Order> {
  return db.transaction(async (tx) => {
    await waitForStandbys(tx)
    const order = await findOrder(tx, orderId)
    if (order.status !== 'completed') throw new AppError('order_closed')
    return order
  })
}

/** Releases the pet. Idempotent. Throws `order_closed` if the order has expired or ended otherwise. */
export async function cancelOrder(db: Db, orderId: bigint, actor: Actor): Promise<Order> {
  return db.transaction(async (tx) => {
    const { petId } = await findOrder(tx, orderId)
    const pet = await lockPet(tx, petId)
    if (pet !== undefined && (await setOrderCancelled(tx, orderId, actor)))
      await changePetStatus(tx, pet, 'available', 'order_cancelled', actor)
    const order = await findOrder(tx, orderId)
    if (order.status !== 'cancelled') throw new AppError('order_closed')
    return order
  })
}

export async function getOrder(db: Reader, id: bigint): Promise<Order> {
  return findOrder(db, id)
}

export interface OrderListFilters extends OrderFilters {
  sort?: OrderSort | undefined
  /** Date-times: closed at this time or later, and closed before this time. Only with `sort: 'closedAt'`. */
  closedFrom?: string | undefined
  closedTo?: string | undefined
}

/** Lists orders, newest first or sorted by a time. */
export async function listOrders(
  db: Reader,
  { sort, closedFrom, closedTo, ...filters }: OrderListFilters,
  { after, limit }: PageRequest,
): Promise<Page<Order>> {
  if (sort === 'closedAt') {
    // No order has the id 0, so that an order that was closed at `closedTo` is not before this position.
    const end = { atMicros: microsOf(closedTo) ?? LAST_MICROS, id: 0n }
    const before = after === undefined ? end : toTimePosition(after)
    const from = microsOf(closedFrom) ?? 0n
    return toTimedPage(await findCompletedOrdersByClosing(db, from, before, limit + 1), limit)
  }
  // A pet has at most one open order, so there is nothing to sort.
  if (sort === 'expiresAt' && filters.petId === undefined) {
    return toTimedPage(await findOpenOrdersByExpiry(db, after && toTimePosition(after), limit + 1), limit)
  }
  const found = await findOrdersBefore(db, filters, after?.id, limit + 1)
  return toPage(found, limit, ({ id }) => ({ id, sortKey: '' }))
}

/** The start of the year 10000. */
const LAST_MICROS = 253_402_300_800_000_000n

function microsOf(time: string | undefined): bigint | undefined {
  return time === undefined ? undefined : parseDateTime(time)
}

function toTimedPage(found: { order: Order; position: TimePosition }[], limit: number): Page<Order> {
  const { items, next } = toPage(found, limit, ({ position: { id, atMicros } }) => ({
    id,
    sortKey: String(atMicros),
  }))
  return { items: items.map(({ order }) => order), next }
}

/** The digits of a cursor are checked, because a client can forge them. */
function toTimePosition({ id, sortKey }: PagePosition): TimePosition {
  if (!/^[0-9]{1,16}$/.test(sortKey)) throw new AppError('invalid_cursor')
  return { id, atMicros: BigInt(sortKey) }
}

async function findOrder(db: Reader, id: bigint): Promise<Order> {
  const [order] = await findOrdersByIds(db, [id])
  if (order === undefined) throw new AppError('order_not_found')
  return order
}

/** An order as parsed from JSON: ids below 2^53 are numbers, larger ids are bigints, and times are strings. */
interface StoredOrder extends Omit<Order, 'id' | 'petId' | 'createdAt' | 'expiresAt' | 'closedAt'> {
  id: number | bigint
  petId: number | bigint
  createdAt: string
  expiresAt: string
  closedAt?: string
}

/** Restores an order from its JSON in a response of the database. */
function toOrder(response: string): Order {
  const { closedAt, netPrice, ...stored } = parseJson(response) as StoredOrder
  return {
    ...stored,
    id: BigInt(stored.id),
    petId: BigInt(stored.petId),
    createdAt: new Date(stored.createdAt),
    expiresAt: new Date(stored.expiresAt),
    ...(closedAt !== undefined && { closedAt: new Date(closedAt) }),
    ...(netPrice !== undefined && { netPrice: withDecimals(netPrice, stored.currency ?? '') }),
  }
}

// Rules for orders: an order holds a pet, then sells or releases it.
//
// Every change to the status of an order also changes its pet, in the same transaction. A unique index rejects a second
// open order for a pet. A transaction that changes an order locks the pet first, which prevents deadlocks.
import type { Actor } from '../../contract/actor.ts'
import type { Caller } from '../../contract/caller.ts'
import { AppError, type ErrorDetail } from '../../contract/errors.ts'
import { type Page, type PageRequest, type PagePosition, toPage } from '../../contract/paging.ts'
import { HOLD_MINUTES_MAX } from '../../contract/hold-limit.ts'
import { currencyMismatch, currencyOf, type Priced, priceFaults, readAmounts } from '../../contract/price.ts'
import { QueryFailure } from '../../db/connection/failures.ts'
import { UNIQUE_VIOLATION } from '../../db/connection/sqlstates.ts'
import type { Db, Reader, Tx } from '../../db/database.ts'
import { parseDateTime } from '../../values/date-time.ts'
import { parseJson, stringifyJson } from '../../values/json.ts'
import { toAmount } from '../../values/money.ts'
import { changePetStatus, releaseExpiredHold } from '../holds/holds.ts'
import { doOnce } from '../idempotency/idempotency.ts'
import { lockPet, lockPetAmongBuyers } from '../holds/queries.ts'
import type { Pet } from '../pets/schema.ts'
import { findPetProfile } from '../profiles/queries.ts'
import { insertEntry } from '../ledger/queries.ts'
import {
  findCompletedOrdersByClosing,
  findOpenOrdersByExpiry,
  findOrdersBefore,
  findOrdersByIds,
  insertOrder,
  recordPlacedOrderNow,
  type OrderFilters,
  type OrderToInsert,
  type Price,
  setOrderCancelled,
  setOrderCompleted,
  type TimePosition,
  updateOrder,
} from './queries.ts'
import type { NewOrder, Order, OrderChanges, OrderCompletion, OrderSort } from './schema.ts'

/** Max transactions per request. A transaction is retried if the pet was freed while it waited for the lock. */
const PLACE_ATTEMPTS_MAX = 3

export interface PlacingOptions {
  caller: Pick<Caller, 'actorId' | 'name'>
  requestId: string
  idempotencyKey: string | undefined
  holdMinutesDefault: number
  currency: string
}

export async function placeOrder(
  db: Db,
  { petId, holdMinutes, note, deposit, method, ...given }: NewOrder,
  { caller, requestId, idempotencyKey, holdMinutesDefault, currency }: PlacingOptions,
): Promise<{ order: Order; replayed: boolean }> {
  const actor = { actorId: caller.actorId, requestId }
  const minutes = holdMinutes ?? holdMinutesDefault

  async function place(tx: Tx): Promise<Order> {
    // Not before the transaction: a retry is replayed even if the currency has changed.
    const price = await toPrice(given, () => findPetProfile(tx, petId), currency)
    const order = { petId, placedBy: caller.actorId, holdMinutes: minutes, note, price }
    const id = (await insertOrder(tx, order)) ?? (await insertOrderAfterHold(tx, order, requestId))
    await changePetStatus(tx, { id: petId, status: 'available' }, 'pending', 'order_placed', actor)
    if (deposit !== undefined) await takeDeposit(tx, id, { amount: deposit, method }, { actor, currency })
    return findOrder(tx, id)
  }

  if (idempotencyKey === undefined) {
    return { order: await retryIfFreed(() => translateConflicts(db.transaction(place))), replayed: false }
  }
  const idempotent = {
    actorId: caller.actorId,
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
  const { response, replayed } = await retryIfFreed(() =>
    translateConflicts(doOnce(db, idempotent, async (tx) => stringifyJson(await place(tx)))),
  )
  // A stored request belongs to the actor that placed the order.
  return { order: { ...toOrder(response), placedBy: caller.name }, replayed }
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
  await recordPlacedOrderNow(tx)
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

/**
 * For a pet that insertOrder found unavailable. If the hold has expired but is not swept yet, ends the hold and inserts
 * the order. Otherwise throws, because the pet does not exist, is held or sold, or has been freed since.
 */
async function insertOrderAfterHold(tx: Tx, order: OrderToInsert, requestId: string): Promise<bigint> {
  const pet = await lockPetAmongBuyers(tx, order.petId)
  if (pet === undefined) throw new AppError('pet_not_found')
  if (pet.status === 'available') throw new PetFreedError()
  const id = (await releaseExpiredHold(tx, pet, requestId)) ? await insertOrder(tx, order) : undefined
  if (id === undefined) throw notAvailable(pet.status)
  return id
}

function notAvailable(status: Pet['status']): AppError {
  return new AppError('pet_not_available', { message: `The pet is not available: it is ${status}.` })
}

/**
 * Thrown if insertOrder found the pet unavailable, but the pet became available before this transaction locked it.
 * Inserting the order under this lock could deadlock: another buyer may have inserted an order and be waiting for the
 * lock to update the pet, while this insert would wait for that order.
 */
class PetFreedError extends Error {}

/** If `place` throws a PetFreedError, retries in a new transaction, which holds no locks. */
async function retryIfFreed<Result>(place: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await place()
    } catch (error) {
      if (!(error instanceof PetFreedError)) throw error
      if (attempt === PLACE_ATTEMPTS_MAX) throw new AppError('pet_not_available')
    }
  }
}

/**
 * Translates the violation of the unique index into an AppError: the pet already has an open order. The foreign key of the
 * pet is never violated, because insertOrder locks the pet: while it is deleted, insertOrder waits, and then finds no pet.
 */
async function translateConflicts<Result>(placing: Promise<Result>): Promise<Result> {
  try {
    return await placing
  } catch (error) {
    // An open order holds the pet.
    if (error instanceof QueryFailure && error.state === UNIQUE_VIOLATION) throw notAvailable('pending')
    throw error
  }
}

/**
 * Returns the price in a request. Throws if it does not have the decimal places of the currency, or `currency_mismatch`.
 * `readStored` reads the price that the order would have without it.
 */
async function toPrice(
  given: Priced,
  readStored: () => Promise<Priced | undefined>,
  currency: string,
): Promise<Price | undefined> {
  const details = priceFaults(given, currency)
  if (details.length > 0) throw new AppError('invalid_body', { details })
  if (given.price === undefined && given.currency === undefined) return undefined
  const ownCurrency = currencyOf(given, (await readStored()) ?? {}, currency)
  return given.price === undefined ? undefined : { amount: given.price, currency: ownCurrency ?? currency }
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
  actor: Actor
  currency: string
}

/** Sells the pet. Idempotent: the first request decides the price and the note. */
export async function completeOrder(
  db: Db,
  orderId: bigint,
  { note, method, reason, ...given }: OrderCompletion,
  { actor, currency }: CompletingOptions,
): Promise<Order> {
  return endOrder(db, orderId, 'completed', async (tx, pet, order) => {
    const readStored = async () => (order.price === undefined ? findPetProfile(tx, pet.id) : order)
    const price = await toPrice(given, readStored, currency)
    if (order.deposit !== undefined) {
      const sold = price ?? (await readStored())
      if (sold?.currency !== undefined && sold.currency !== order.currency)
        throw currencyMismatch(
          `The deposit is in ${order.currency}. Settle it before the sale in another currency.`,
        )
    }
    if (await setOrderCompleted(tx, orderId, { price, note, method, reason }, actor))
      await changePetStatus(tx, pet, 'sold', 'order_completed', actor)
  })
}

/** Releases the pet. Idempotent. */
export async function cancelOrder(db: Db, orderId: bigint, actor: Actor): Promise<Order> {
  return endOrder(db, orderId, 'cancelled', async (tx, pet) => {
    if (await setOrderCancelled(tx, orderId, actor))
      await changePetStatus(tx, pet, 'available', 'order_cancelled', actor)
  })
}

/** Ends an order that is open, for its locked pet. Throws `order_closed` if the order has expired or ended otherwise. */
async function endOrder(
  db: Db,
  orderId: bigint,
  status: 'completed' | 'cancelled',
  end: (tx: Tx, pet: Pet, order: Order) => Promise<void>,
): Promise<Order> {
  return db.transaction(async (tx) => {
    const before = await findOrder(tx, orderId)
    const pet = await lockPet(tx, before.petId)
    // An order that has ended stays as it is, whatever the request contains.
    if (pet !== undefined && before.status === 'open') await end(tx, pet, before)
    const order = await findOrder(tx, orderId)
    if (order.status !== status) throw new AppError('order_closed')
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
interface StoredOrder extends Omit<Order, 'id' | 'petId' | 'createdAt' | 'expiresAt'> {
  id: number | bigint
  petId: number | bigint
  createdAt: string
  expiresAt: string
}

/** Restores an order from its stored response. */
function toOrder(response: string): Order {
  const stored = parseJson(response) as StoredOrder
  return {
    ...stored,
    id: BigInt(stored.id),
    petId: BigInt(stored.petId),
    createdAt: new Date(stored.createdAt),
    expiresAt: new Date(stored.expiresAt),
  }
}

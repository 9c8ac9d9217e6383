// Rules for orders: an order holds a pet, then sells or releases it.
//
// Every change to an order also changes its pet, in the same transaction. A unique index rejects a second open order
// for a pet. A transaction that ends an order locks the pet first, which prevents deadlocks.
import type { Actor } from '../../contract/actor.ts'
import { AppError } from '../../contract/errors.ts'
import { type Page, type PageRequest, type PagePosition, toPage } from '../../contract/paging.ts'
import { QueryFailure } from '../../db/connection/failures.ts'
import { FOREIGN_KEY_VIOLATION, UNIQUE_VIOLATION } from '../../db/connection/sqlstates.ts'
import type { Db, Reader, Tx } from '../../db/database.ts'
import { parseJson, stringifyJson } from '../../values/json.ts'
import { movePet, releaseExpiredHold } from '../holds/holds.ts'
import { doOnce } from '../idempotency/idempotency.ts'
import { lockPet, lockPetAmongBuyers } from '../pets/queries.ts'
import {
  closeOrder,
  type ExpiryPosition,
  findOpenOrdersByExpiry,
  findOrdersBefore,
  findOrdersByIds,
  insertOrder,
  type OrderFilters,
  type OrderToInsert,
} from './queries.ts'
import type { NewOrder, Order, OrderSort } from './schema.ts'

/** Max transactions per request. A transaction is retried if the pet was freed while it waited for the lock. */
const PLACE_ATTEMPTS_MAX = 3

export interface PlacingOptions {
  callerId: bigint
  requestId: string
  idempotencyKey: string | undefined
  holdMinutesDefault: number
}

export async function placeOrder(
  db: Db,
  { petId, holdMinutes, note }: NewOrder,
  { callerId, requestId, idempotencyKey, holdMinutesDefault }: PlacingOptions,
): Promise<{ order: Order; replayed: boolean }> {
  const minutes = holdMinutes ?? holdMinutesDefault
  const actor = { apiKeyId: callerId, requestId }

  async function place(tx: Tx): Promise<Order> {
    const order = { petId, placedBy: callerId, holdMinutes: minutes, note }
    const id = (await insertOrder(tx, order)) ?? (await insertOrderAfterHold(tx, order, requestId))
    await movePet(tx, { id: petId, status: 'available' }, 'pending', 'order_placed', actor)
    return findOrder(tx, id)
  }

  if (idempotencyKey === undefined) {
    return { order: await retryIfFreed(() => orReject(db.transaction(place))), replayed: false }
  }
  const idempotent = {
    apiKeyId: callerId,
    key: idempotencyKey,
    operation: 'placeOrder',
    // 'default' instead of the number of minutes: the operator may change the default before the client retries.
    values: [petId, holdMinutes ?? 'default', note ?? ''],
  }
  const { response, replayed } = await retryIfFreed(() =>
    orReject(doOnce(db, idempotent, async (tx) => stringifyJson(await place(tx)))),
  )
  return { order: toOrder(response), replayed }
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
  if (id === undefined) throw new AppError('pet_not_available')
  return id
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

/** Translates constraint violations into AppErrors: the pet already has an open order, or was just deleted. */
async function orReject<Result>(placing: Promise<Result>): Promise<Result> {
  try {
    return await placing
  } catch (error) {
    if (error instanceof QueryFailure && error.state === UNIQUE_VIOLATION)
      throw new AppError('pet_not_available')
    if (error instanceof QueryFailure && error.state === FOREIGN_KEY_VIOLATION)
      throw new AppError('pet_not_found')
    throw error
  }
}

/** Completes or cancels an order. Idempotent. Throws `order_closed` if the order has expired or ended otherwise. */
export async function endOrder(
  db: Db,
  orderId: bigint,
  status: 'completed' | 'cancelled',
  actor: Actor,
): Promise<Order> {
  return db.transaction(async (tx) => {
    const { petId } = await findOrder(tx, orderId)
    const pet = await lockPet(tx, petId)
    if (pet !== undefined && (await closeOrder(tx, orderId, status, actor))) {
      const [to, event] =
        status === 'completed'
          ? (['sold', 'order_completed'] as const)
          : (['available', 'order_cancelled'] as const)
      await movePet(tx, pet, to, event, actor)
    }
    const order = await findOrder(tx, orderId)
    if (order.status !== status) throw new AppError('order_closed')
    return order
  })
}

export async function getOrder(db: Reader, id: bigint): Promise<Order> {
  return findOrder(db, id)
}

/** Lists orders, newest first, or open orders with the one first that expires next. */
export async function listOrders(
  db: Reader,
  { sort, ...filters }: OrderFilters & { sort?: OrderSort | undefined },
  { after, limit }: PageRequest,
): Promise<Page<Order>> {
  // A pet has at most one open order, so there is nothing to sort.
  if (sort === 'expiresAt' && filters.petId === undefined) {
    const found = await findOpenOrdersByExpiry(db, after && toExpiryPosition(after), limit + 1)
    const { items, next } = toPage(found, limit, ({ position: { id, expiresAtMicros } }) => ({
      id,
      sortKey: String(expiresAtMicros),
    }))
    return { items: items.map(({ order }) => order), next }
  }
  const found = await findOrdersBefore(db, filters, after?.id, limit + 1)
  return toPage(found, limit, ({ id }) => ({ id, sortKey: '' }))
}

/** The digits of a cursor are checked, because a client can forge them. */
function toExpiryPosition({ id, sortKey }: PagePosition): ExpiryPosition {
  if (!/^[0-9]{1,16}$/.test(sortKey)) throw new AppError('invalid_cursor')
  return { id, expiresAtMicros: BigInt(sortKey) }
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

// Rules of the till: corrections, refunds, deposits, voids and cash. Each writes one entry of the ledger, in the transaction of
// the change that causes it. orders/orders.ts writes the entries of holds and sales.
//
// A transaction locks the pet, then its order, then the till, which prevents deadlocks.
import type { CallingActor } from '../../contract/actor.ts'
import { AppError } from '../../contract/errors.ts'
import { readAmounts } from '../../contract/price.ts'
import type { Db, Tx } from '../../db/database.ts'
import { parseJson, stringifyJson } from '../../values/json.ts'
import { toAmount } from '../../values/money.ts'
import { changePetStatus, releaseExpiredHold } from '../holds/holds.ts'
import { lockPet, type LockedPet } from '../holds/queries.ts'
import { doOnce } from '../idempotency/idempotency.ts'
import { insertEntry, type NewEntry } from '../ledger/queries.ts'
import type { Entry } from '../ledger/schema.ts'
import { findOrdersByIds } from '../orders/queries.ts'
import type { Order } from '../orders/schema.ts'
import {
  findEntry,
  findOrderMoney,
  findVoidableEntry,
  insertCashEntry,
  insertVoid,
  lockTill,
  type OrderMoney,
  type VoidableEntry,
} from './queries.ts'
import type { CashMovement, DepositSettlement, OrderCorrection, OrderRefund } from './schema.ts'

/** An entry can be voided for this long. */
export const VOIDED_WITHIN_SECONDS = 15 * 60

export interface OnceOptions {
  actor: CallingActor
  idempotencyKey: string
}

interface LockedOrder {
  order: Order
  pet: LockedPet
  /** Undefined without an entry. */
  money: OrderMoney | undefined
}

/** Makes the price of a sale this one. Idempotent: does nothing if it is already. */
export async function correctOrder(
  db: Db,
  orderId: bigint,
  { price, currency, method, reason }: OrderCorrection,
  actor: CallingActor,
): Promise<Order> {
  return db.transaction(async (tx) => {
    const { order, money } = await lockOrder(tx, orderId)
    const sold = requireSold(money)
    const { price: right } = readAmounts({ price }, currency, sold.currency)
    const change = right - sold.sales
    if (change === 0n) return order
    const amounts = { kind: 'correction', paid: change, sales: change, pets: 0 } as const
    await insertEntry(tx, entryOf(order, sold, { ...amounts, method, reason }), actor)
    return findOrder(tx, orderId)
  })
}

/** Gives money back for a sale, with or without the pet. */
export async function refundOrder(
  db: Db,
  orderId: bigint,
  { amount, currency, takeBack, method, reason }: OrderRefund,
  options: OnceOptions,
): Promise<OnceEntry> {
  const values = [orderId, amount, currency ?? '', takeBack, method ?? '', reason ?? '']
  return writeOnce(db, 'refundOrder', values, options, async (tx) => {
    const { order, pet, money } = await lockOrder(tx, orderId)
    const sold = requireSold(money)
    const { amount: back } = readAmounts({ amount }, currency, sold.currency)
    if (back === 0n && !takeBack) throw notPositive('amount', ', unless the pet comes back')
    if (back > sold.sales) throw tooHigh(sold.sales, sold.currency)
    const amounts = { kind: 'refund', paid: -back, sales: -back, pets: takeBack ? -1 : 0 } as const
    const id = await insertEntry(tx, entryOf(order, sold, { ...amounts, method, reason }), options.actor)
    if (takeBack) await changePetStatus(tx, pet, 'available', 'taken_back', options.actor)
    return id
  })
}

/** Ends a deposit: gives back a part, all or nothing of it. The rest becomes sales. */
export async function settleDeposit(
  db: Db,
  orderId: bigint,
  { refund, currency, method, reason }: DepositSettlement,
  options: OnceOptions,
): Promise<OnceEntry> {
  const values = [orderId, refund, currency ?? '', method ?? '', reason ?? '']
  return writeOnce(db, 'settleDeposit', values, options, async (tx) => {
    const { order, money } = await lockOrder(tx, orderId)
    const held = money === undefined ? 0n : money.paid - money.sales
    if (money === undefined || held === 0n)
      throw new AppError('amount_too_high', { message: 'The order holds no deposit.' })
    const { refund: back } = readAmounts({ refund }, currency, money.currency)
    if (back > held) throw tooHigh(held, money.currency)
    const kind = back === 0n ? 'forfeit' : 'refund'
    const amounts = { kind, paid: -back, sales: held - back, pets: 0 } as const
    return insertEntry(tx, entryOf(order, money, { ...amounts, method, reason }), options.actor)
  })
}

/** Puts cash into the drawer, or takes it out, without a sale. */
export async function recordCash(
  db: Db,
  { direction, amount, currency, note }: CashMovement,
  { ownCurrency, ...options }: OnceOptions & { ownCurrency: string },
): Promise<OnceEntry> {
  const values = [direction, amount, currency ?? '', note]
  return writeOnce(db, 'recordCash', values, options, async (tx) => {
    const { amount: units } = readAmounts({ amount }, currency, ownCurrency)
    if (units === 0n) throw notPositive('amount')
    const paid = toAmount(direction === 'in' ? units : -units, ownCurrency)
    return insertCashEntry(tx, { currency: ownCurrency, paid, note }, options.actor)
  })
}

export interface VoidOptions {
  actor: CallingActor
  /** Throws unless the caller may void entries of others. */
  requireTill: () => void
}

/** Takes back the last entry of an order, as if it had not been. Idempotent: returns the void of an entry that is voided. */
export async function voidEntry(db: Db, entryId: bigint, options: VoidOptions): Promise<Entry> {
  return db.transaction(async (tx) => {
    const { petId } = (await findEntry(tx, entryId)) ?? {}
    const pet = petId === undefined ? undefined : await lockPet(tx, petId)
    await lockTill(tx)
    const entry = await findVoidableEntry(tx, entryId, VOIDED_WITHIN_SECONDS)
    if (entry === undefined) throw new AppError('entry_not_found')
    if (entry.actorId !== options.actor.actorId) options.requireTill()
    const voidId = entry.voidedBy ?? (await writeVoid(tx, entry, pet, options.actor))
    return (await findEntry(tx, voidId)) as Entry
  })
}

async function writeVoid(
  tx: Tx,
  { id, orderId, kind, pets, isOld, isDayClosed }: VoidableEntry,
  pet: LockedPet | undefined,
  actor: CallingActor,
): Promise<bigint> {
  if (pet === undefined || orderId === null || kind === 'void' || isOld || isDayClosed)
    throw new AppError('entry_final')
  const money = await findOrderMoney(tx, { id: orderId, petId: pet.id })
  if (money?.lastEntryId !== id) throw new AppError('entry_final')
  if (pets < 0) await requireAvailable(tx, pet, actor.requestId)
  const voidId = await insertVoid(tx, id, actor)
  if (pets > 0) await changePetStatus(tx, pet, 'available', 'sale_voided', actor)
  if (pets < 0) await changePetStatus(tx, { ...pet, status: 'available' }, 'sold', 'return_voided', actor)
  return voidId
}

/** A pet that came back may be on hold or sold again. */
async function requireAvailable(tx: Tx, pet: LockedPet, requestId: string): Promise<void> {
  if (pet.status === 'available' || (await releaseExpiredHold(tx, pet, requestId))) return
  throw new AppError('pet_not_available', { message: `The pet is not available: it is ${pet.status}.` })
}

async function lockOrder(tx: Tx, orderId: bigint): Promise<LockedOrder> {
  const { petId } = await findOrder(tx, orderId)
  // An order keeps its pet from being deleted.
  const pet = (await lockPet(tx, petId)) as LockedPet
  return { order: await findOrder(tx, orderId), pet, money: await findOrderMoney(tx, { id: orderId, petId }) }
}

async function findOrder(tx: Tx, id: bigint): Promise<Order> {
  const [order] = await findOrdersByIds(tx, [id])
  if (order === undefined) throw new AppError('order_not_found')
  return order
}

function requireSold(money: OrderMoney | undefined): OrderMoney {
  if (money?.pets !== 1) throw new AppError('order_not_sold')
  return money
}

function tooHigh(left: bigint, currency: string): AppError {
  return new AppError('amount_too_high', {
    message: `The amount is higher than what is left to give back: ${toAmount(left, currency)} ${currency}.`,
  })
}

function notPositive(field: string, unless = ''): AppError {
  const message = `${field} must be more than 0${unless}.`
  return new AppError('invalid_body', { details: [{ field, code: 'out_of_range', message }] })
}

interface Movement extends Pick<NewEntry, 'kind' | 'pets' | 'method' | 'reason'> {
  paid: bigint
  sales: bigint
}

/** Counts for the seller and the category of the sale, so that both net to zero when it is refunded. */
function entryOf(order: Order, money: OrderMoney, { paid, sales, method, ...movement }: Movement): NewEntry {
  const { currency, categoryId, sellerId } = money
  return {
    orderId: order.id,
    petId: order.petId,
    categoryId,
    sellerId,
    currency,
    ...movement,
    method: method ?? money.method,
    paid: toAmount(paid, currency),
    sales: toAmount(sales, currency),
  }
}

export interface OnceEntry {
  entry: Entry
  replayed: boolean
}

/** Writes an entry once for each idempotency key, and stores it as the response. */
async function writeOnce(
  db: Db,
  operation: string,
  values: readonly unknown[],
  { actor, idempotencyKey: key }: OnceOptions,
  write: (tx: Tx) => Promise<bigint>,
): Promise<OnceEntry> {
  const { response, replayed } = await doOnce(
    db,
    { actorId: actor.actorId, key, operation, values },
    async (tx) => stringifyJson(await findEntry(tx, await write(tx))),
  )
  const entry = toEntry(response)
  // People and programs may have other names by now.
  return { entry: replayed ? ((await findEntry(db, entry.id)) as Entry) : entry, replayed }
}

const ID_FIELDS = ['id', 'orderId', 'petId', 'categoryId', 'voidedEntryId'] as const
type IdField = (typeof ID_FIELDS)[number]
/** An entry as parsed from JSON: ids below 2^53 are numbers, and the time is a text. */
type StoredEntry = Omit<Entry, IdField | 'at'> & { [Field in IdField]?: number | bigint } & { at: string }

/** Restores an entry from its stored response. */
function toEntry(response: string): Entry {
  const { at, ...stored } = parseJson(response) as StoredEntry
  const ids = ID_FIELDS.flatMap((field) =>
    stored[field] === undefined ? [] : [[field, BigInt(stored[field])]],
  )
  return { ...stored, ...Object.fromEntries(ids), at: new Date(at) } as Entry
}

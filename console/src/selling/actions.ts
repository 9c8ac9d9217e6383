// Holds, sells and releases pets, corrects and takes back sales, and undoes each of these.
//
// A pet can be on hold without an order: a person can choose this status in the form. Such a hold has no end, and the
// status is changed directly.
import type { Entry, Order, Pet, PetStatus, Petstore } from '@petstore/client'
import type { Method, Reason } from '../money/words.ts'
import { ConflictError, ExplainedError, hasCode } from '../layout/describe-error.ts'
import { UNDO_REASON } from '../pets/undo.ts'
import type { Priced } from '../profile/price.ts'
import { conflictText, endedText } from './conflict-text.ts'
import { minutesLeft } from '../layout/hold-time.ts'
import { readOpenOrder } from './read-open-order.ts'

export interface Hold extends Priced {
  note: string
  minutes: number
  /** What the customer pays now. It is in the currency of the price. */
  deposit?: string | undefined
  method?: Method | undefined
}

/** Without a price, the service takes that of the pet, if it has one. */
export interface Sale extends Priced {
  note: string
  method?: Method | undefined
  reason?: Reason | undefined
}

/** The right price of a sale. */
export interface Correction {
  price: string
  currency: string | undefined
  method: Method | undefined
  reason: Reason | undefined
}

/** Money back. A request that is repeated has the same key. */
export interface Refund {
  amount: string
  currency: string | undefined
  method: Method | undefined
  reason?: Reason | undefined
  idempotencyKey: string
}

/** The state of the pet after an action. */
export interface Outcome {
  status: PetStatus
  order: Order | undefined
  /** The entry that the action wrote, if it is known. */
  entry?: Entry | undefined
}

/** A sale places an order and completes it. If the connection is lost in between, the pet stays on hold for this time. */
const SALE_MINUTES = 15

export async function hold(store: Petstore, pet: Pet, values: Hold): Promise<Outcome> {
  return { status: 'pending', order: await place(store, pet, values) }
}

/** Sells a pet that is available. */
export async function sell(store: Petstore, pet: Pet, sale: Sale): Promise<Outcome> {
  const { note, price, currency, method, reason } = sale
  const order = await place(store, pet, { note, price, currency, minutes: SALE_MINUTES })
  return complete(store, order, { note, method, reason })
}

/** Sells a pet that is on hold. Without a price, that of the order stands. */
export async function complete(store: Petstore, order: Order, { note, ...sale }: Sale): Promise<Outcome> {
  const text = note.trim()
  const changed = text === (order.note ?? '') ? {} : { note: text === '' ? null : text }
  const ended = end(store, order, () => store.orders.complete(order.id, { ...sale, ...changed }))
  return { status: 'sold', order: await ended }
}

/** Sells a pet that is on hold without an order. */
export async function setSold(store: Petstore, pet: Pet): Promise<Outcome> {
  return change(store, pet, 'pending', 'sold')
}

export async function release(store: Petstore, pet: Pet, order: Order | undefined): Promise<Outcome> {
  if (order === undefined) return change(store, pet, 'pending', 'available')
  return { status: 'available', order: await end(store, order, () => store.orders.cancel(order.id)) }
}

/** Makes the price of a sale the right one. */
export async function correct(store: Petstore, sale: Order, correction: Correction): Promise<Outcome> {
  const order = await store.orders.correct(sale.id, correction)
  const [entry] = (await store.till.entries({ orderId: sale.id, limit: 1 }).page()).items
  return { status: 'sold', order, entry: entry?.kind === 'correction' ? entry : undefined }
}

/** Takes a sold pet back, and refunds all, a part or nothing. */
export async function takeBack(store: Petstore, sale: Order, refund: Refund): Promise<Outcome> {
  const { idempotencyKey, ...values } = refund
  const entry = await store.orders.refund(sale.id, { ...values, takeBack: true }, { idempotencyKey })
  return { status: 'available', order: undefined, entry }
}

/** Ends the deposit of an order that has ended: the customer gets back the amount, and the shop keeps the rest. */
export async function settleDeposit(
  store: Petstore,
  pet: Pet,
  held: Order,
  refund: Refund,
): Promise<Outcome> {
  const { idempotencyKey, amount, ...values } = refund
  const entry = await store.orders.settleDeposit(held.id, { ...values, refund: amount }, { idempotencyKey })
  return { status: pet.status, order: undefined, entry }
}

/** Takes back an entry of the last minutes, as if it had not been. */
export async function undoEntry(store: Petstore, pet: Pet, { id, pets }: Entry): Promise<Outcome> {
  await store.till.void(id)
  const status = pets === 0 ? pet.status : pets > 0 ? 'available' : 'sold'
  return { status, order: undefined }
}

/** Voids the sale, then holds the pet again if it was on hold before. */
export async function undoSale(
  store: Petstore,
  pet: Pet,
  sold: Order,
  held: Order | undefined,
): Promise<Outcome> {
  const outcome = await undoEntry(store, pet, await entryOf(store, sold, 'sale'))
  return held === undefined ? outcome : holdAgain(store, pet, held)
}

/** Undoes the sale of a pet that was on hold without an order. */
export async function undoSetSold(store: Petstore, pet: Pet): Promise<Outcome> {
  await change(store, pet, 'sold', 'available', UNDO_REASON)
  return holdAgain(store, pet, undefined)
}

function holdAgain(store: Petstore, pet: Pet, held: Order | undefined): Promise<Outcome> {
  return undoRelease(store, pet, held).catch((error: unknown) => {
    if (!(error instanceof ConflictError)) throw error
    throw new ExplainedError('Only partly undone', `The sale is undone, but not the hold. ${error.message}`)
  })
}

/** Releases a new hold, as if its deposit had not been paid. */
export async function undoHold(store: Petstore, pet: Pet, order: Order | undefined): Promise<Outcome> {
  if (order?.deposit !== undefined) await store.till.void((await entryOf(store, order, 'deposit')).id)
  return release(store, pet, order)
}

async function entryOf(store: Petstore, { id }: Order, kind: Entry['kind']): Promise<Entry> {
  for await (const entry of store.till.entries({ orderId: id })) if (entry.kind === kind) return entry
  throw new ConflictError('Not in the till', 'The till has no such entry.')
}

/** Holds the pet again until the same time. */
export async function undoRelease(store: Petstore, pet: Pet, order: Order | undefined): Promise<Outcome> {
  if (order === undefined) return change(store, pet, 'available', 'pending', UNDO_REASON)
  const { expiresAt, note = '', price, currency } = order
  return hold(store, pet, { minutes: minutesLeft(expiresAt, Date.now()), note, price, currency })
}

async function place(store: Petstore, pet: Pet, values: Hold): Promise<Order> {
  const { minutes, note, price, currency, deposit, method } = values
  const text = note.trim()
  try {
    return await store.orders.place({
      petId: pet.id,
      holdMinutes: minutes,
      ...(text !== '' && { note: text }),
      ...(price !== undefined && { price, currency }),
      ...(deposit !== undefined && { deposit, method }),
    })
  } catch (error) {
    if (!hasCode(error, 'pet_not_available')) throw error
    throw new ConflictError(`${pet.name} is not available`, await explainConflict(store, pet.id))
  }
}

/** Says who has the pet. Without the scope `orders:read`, it says only the status. */
async function explainConflict(store: Petstore, petId: string): Promise<string> {
  const readOrder = readOpenOrder(store, petId).catch((error: unknown) => {
    if (hasCode(error, 'insufficient_scope')) return null
    throw error
  })
  const [pet, order] = await Promise.all([store.pets.find(petId), readOrder])
  return conflictText(pet?.status, order ?? undefined, Date.now())
}

async function end(store: Petstore, { id }: Order, run: () => Promise<Order>): Promise<Order> {
  try {
    return await run()
  } catch (error) {
    if (!hasCode(error, 'order_closed')) throw error
    throw new ConflictError('The hold has ended', endedText(await store.orders.get(id), Date.now()))
  }
}

/** Changes the status, but only if the pet still has the expected one. */
async function change(
  store: Petstore,
  { id, name }: Pet,
  from: PetStatus,
  to: PetStatus,
  reason?: string,
): Promise<Outcome> {
  const current = await store.pets.find(id)
  if (current?.status !== from) {
    const isFree = current?.status === 'available'
    throw new ConflictError(
      `${name} has changed`,
      isFree ? 'It is available now.' : await explainConflict(store, id),
    )
  }
  await store.pets.update(id, { status: to, reason }, { ifMatch: current.etag })
  return { status: to, order: undefined }
}

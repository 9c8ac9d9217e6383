// Holds, sells and releases pets, and undoes each of these.
//
// A pet can be on hold without an order: a person can choose this status in the form. Such a hold has no end, and the
// status is changed directly.
import type { Order, Pet, PetStatus, Petstore } from '@petstore/client'
import { ConflictError, ExplainedError, hasCode } from '../layout/describe-error.ts'
import { UNDO_REASON } from '../pets/undo.ts'
import type { Priced } from '../profile/price.ts'
import { conflictText, endedText } from './conflict-text.ts'
import { minutesLeft } from '../layout/hold-time.ts'
import { readOpenOrder } from './read-open-order.ts'

export interface Hold extends Sale {
  minutes: number
}

/** Without a price, the service takes that of the pet, if it has one. */
export interface Sale extends Priced {
  note: string
}

/** The state of the pet after an action. */
export interface Outcome {
  status: PetStatus
  order: Order | undefined
}

/** A sale places an order and completes it. If the connection is lost in between, the pet stays on hold for this time. */
const SALE_MINUTES = 15

export async function hold(store: Petstore, pet: Pet, values: Hold): Promise<Outcome> {
  return { status: 'pending', order: await place(store, pet, values) }
}

/** Sells a pet that is available. */
export async function sell(store: Petstore, pet: Pet, sale: Sale): Promise<Outcome> {
  const order = await place(store, pet, { ...sale, minutes: SALE_MINUTES })
  return complete(store, order, {})
}

/** Sells a pet that is on hold. Without a price, that of the order stands. */
export async function complete(store: Petstore, order: Order, { price, currency }: Priced): Promise<Outcome> {
  const ended = end(store, order, () => store.orders.complete(order.id, { price, currency }))
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

/** Makes a sold pet available, then holds it again if it was on hold before the sale. */
export async function undoSale(
  store: Petstore,
  pet: Pet,
  order: Order | undefined,
  before: PetStatus,
): Promise<Outcome> {
  const outcome = await change(store, pet, 'sold', 'available', UNDO_REASON)
  if (before !== 'pending') return outcome
  return undoRelease(store, pet, order).catch((error: unknown) => {
    if (!(error instanceof ConflictError)) throw error
    throw new ExplainedError('Only partly undone', `The sale is undone, but not the hold. ${error.message}`)
  })
}

/** Holds the pet again until the same time. */
export async function undoRelease(store: Petstore, pet: Pet, order: Order | undefined): Promise<Outcome> {
  if (order === undefined) return change(store, pet, 'available', 'pending', UNDO_REASON)
  const { expiresAt, note = '', price, currency } = order
  return hold(store, pet, { minutes: minutesLeft(expiresAt, Date.now()), note, price, currency })
}

async function place(store: Petstore, pet: Pet, { minutes, note, price, currency }: Hold): Promise<Order> {
  const text = note.trim()
  try {
    return await store.orders.place({
      petId: pet.id,
      holdMinutes: minutes,
      ...(text !== '' && { note: text }),
      ...(price !== undefined && { price, currency }),
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

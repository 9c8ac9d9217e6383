// The rules of orders: at most one open order holds a pet. An order is completed or cancelled, or expires.
import { emitOrder } from './events.ts'
import { change } from './pets.ts'
import {
  type Caller,
  type Expected,
  type Id,
  once,
  type Order,
  reject,
  type Seen,
  type Store,
  takeId,
} from './store.ts'

/** How long an order without `holdMinutes` holds a pet, as configured in these tests. */
export const HOLD_MINUTES = 60

export interface NewOrder {
  petId: Id
  holdMinutes?: number | undefined
  note?: string | undefined
}

export function placeOrder(
  store: Store,
  caller: Caller,
  { petId, holdMinutes, note }: NewOrder,
  key: string | undefined,
  seen: Seen,
): Expected {
  return once(store, caller, key, ['placeOrder', petId, holdMinutes, note], () => {
    const pet = store.pets.get(Number(petId))
    if (pet === undefined) return reject('pet_not_found')
    if (pet.status !== 'available') return reject('pet_not_available')
    const createdAt = String(seen?.['createdAt'])
    const heldForMs = (holdMinutes ?? HOLD_MINUTES) * 60_000
    const order: Order = {
      id: takeId(store, 'order', seen),
      petId: pet.id,
      status: 'open',
      ...(note !== undefined && { note }),
      placedBy: caller.name,
      createdAt,
      expiresAt: new Date(Date.parse(createdAt) + heldForMs).toISOString(),
    }
    store.orders.set(order.id, order)
    const entry = byCaller('order_placed', caller)
    change(store, pet, { status: 'pending' }, entry)
    emitOrder(store, order, entry)
    return { status: 201, body: { ...order } }
  })
}

export function getOrder(store: Store, orderId: Id): Expected {
  const order = store.orders.get(Number(orderId))
  return order === undefined ? reject('order_not_found') : { status: 200, body: { ...order } }
}

export function endOrder(
  store: Store,
  caller: Caller,
  orderId: Id,
  as: 'completed' | 'cancelled',
  seen: Seen,
): Expected {
  const order = store.orders.get(Number(orderId))
  if (order === undefined) return reject('order_not_found')
  if (order.status !== 'open' && order.status !== as) return reject('order_closed')
  if (order.status === 'open') {
    const closedAt = String(seen?.['closedAt'])
    if (!(Date.parse(closedAt) >= Date.parse(order.createdAt)))
      throw new Error(`an order created at ${order.createdAt} cannot be closed at ${closedAt}`)
    Object.assign(order, { status: as, closedAt })
    const pet = store.pets.get(order.petId)
    const status = as === 'completed' ? 'sold' : 'available'
    const entry = byCaller(`order_${as}`, caller)
    emitOrder(store, order, entry)
    if (pet !== undefined) change(store, pet, { status }, entry)
  }
  return { status: 200, body: { ...order } }
}

/** Records that a hold has expired. No client requested that, so the history names the service. */
export function endHold(store: Store, orderId: number, expiresAt: string): void {
  const order = store.orders.get(orderId) as Order
  Object.assign(order, { status: 'expired', expiresAt, closedAt: expiresAt })
  const pet = store.pets.get(order.petId)
  const entry = { event: 'order_expired', apiKeyName: 'petstore', requestId: undefined }
  emitOrder(store, order, entry)
  if (pet !== undefined) change(store, pet, { status: 'available' }, entry)
}

function byCaller(event: string, { name, requestId }: Caller) {
  return { event, apiKeyName: name, requestId }
}

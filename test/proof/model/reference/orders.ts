// The rules of orders: at most one open order holds a pet. An order is completed or cancelled, or expires.
import { emitOrder } from './events.ts'
import { change } from './pets.ts'
import { priceFault } from './profiles.ts'
import {
  type Caller,
  type Expected,
  type Id,
  once,
  type Order,
  type Pet,
  reject,
  type Seen,
  type Store,
  takeId,
} from './store.ts'

/** How long an order without `holdMinutes` holds a pet, as configured in these tests. */
export const HOLD_MINUTES = 60
/** The currency of new prices, as configured in these tests. */
const CURRENCY = 'EUR'

export interface NewOrder {
  petId: Id
  holdMinutes?: number | undefined
  note?: string | undefined
  price?: string | undefined
  currency?: string | undefined
}

export function placeOrder(
  store: Store,
  caller: Caller,
  { petId, holdMinutes, note, price, currency }: NewOrder,
  key: string | undefined,
  seen: Seen,
): Expected {
  return once(store, caller, key, ['placeOrder', petId, holdMinutes, note, price, currency], () => {
    const fault = priceFault({ price, currency })
    if (fault !== undefined) return reject(fault)
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
      ...(priceOf(price) ?? priceOfProfile(pet)),
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

type Price = Pick<Order, 'price' | 'currency'>

/** A given price is in the currency of the store. */
function priceOf(given: string | undefined): Price | undefined {
  return given === undefined ? undefined : { price: given, currency: CURRENCY }
}

function priceOfProfile({ profile: { price, currency } }: Pet): Price {
  return price === undefined || currency === undefined ? {} : { price, currency }
}

export function getOrder(store: Store, orderId: Id): Expected {
  const order = store.orders.get(Number(orderId))
  return order === undefined ? reject('order_not_found') : { status: 200, body: { ...order } }
}

export interface Ending {
  as: 'completed' | 'cancelled'
  /** Cancelling ignores them. */
  price?: string | undefined
  currency?: string | undefined
}

export function endOrder(
  store: Store,
  caller: Caller,
  orderId: Id,
  { as, price, currency }: Ending,
  seen: Seen,
): Expected {
  const order = store.orders.get(Number(orderId))
  if (order === undefined) return reject('order_not_found')
  if (order.status !== 'open' && order.status !== as) return reject('order_closed')
  const fault = priceFault({ price, currency })
  if (order.status === 'open' && as === 'completed' && fault !== undefined) return reject(fault)
  if (order.status === 'open') {
    const closedAt = String(seen?.['closedAt'])
    if (!(Date.parse(closedAt) >= Date.parse(order.createdAt)))
      throw new Error(`an order created at ${order.createdAt} cannot be closed at ${closedAt}`)
    Object.assign(order, { status: as, closedAt })
    const pet = store.pets.get(order.petId)
    const otherwise = order.price === undefined && pet !== undefined ? priceOfProfile(pet) : {}
    if (as === 'completed') Object.assign(order, priceOf(price) ?? otherwise)
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

interface Sales {
  orders: number
  withoutPrice: number
  totals: { currency: string; amount: string }[]
}

/** The sales of a day in a time zone. */
export function salesOf({ orders }: Store, day: string, timeZone: string): Sales {
  const days = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  const sold = [...orders.values()].filter(
    ({ status, closedAt = '' }) => status === 'completed' && days.format(new Date(closedAt)) === day,
  )
  const byCurrency = Map.groupBy(sold, ({ currency = '' }) => currency)
  const withoutPrice = byCurrency.get('')?.length ?? 0
  byCurrency.delete('')
  const totals = [...byCurrency].map(([currency, same]) => ({ currency, amount: sumOf(same) }))
  return {
    orders: sold.length,
    withoutPrice,
    totals: totals.toSorted((a, b) => (a.currency < b.currency ? -1 : 1)),
  }
}

/** All prices of a currency have the same number of decimal places. */
function sumOf(orders: readonly Order[]): string {
  const decimals = orders[0]?.price?.split('.')[1]?.length ?? 0
  const units = orders.reduce((sum, { price = '' }) => sum + BigInt(price.replace('.', '')), 0n)
  const digits = String(units).padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

function byCaller(event: string, { name, requestId }: Caller) {
  return { event, apiKeyName: name, requestId }
}

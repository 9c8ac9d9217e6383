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
import { addSale, isDeposit, takeDeposit } from './entries.ts'
import { orderBody } from './money.ts'

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
  deposit?: string | undefined
  method?: string | undefined
}

export function placeOrder(
  store: Store,
  caller: Caller,
  { petId, holdMinutes, note, price, currency, deposit, method }: NewOrder,
  key: string | undefined,
  seen: Seen,
): Expected {
  const values = ['placeOrder', petId, holdMinutes, note, price, currency, deposit, deposit && method]
  return once(store, caller, key, values, () => {
    const fault = priceFault({ price, currency })
    if (fault !== undefined) return reject(fault)
    const pet = store.pets.get(Number(petId))
    if (pet === undefined) return reject('pet_not_found')
    if (pet.status !== 'available') return reject('pet_not_available')
    if (deposit !== undefined && !isDeposit(deposit)) return reject('invalid_body')
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
    if (deposit !== undefined) takeDeposit(store, order, { deposit, method }, caller)
    return { status: 201, body: orderBody(store, order) }
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
  return order === undefined ? reject('order_not_found') : { status: 200, body: orderBody(store, order) }
}

export interface OrderChange {
  /** Null clears it. */
  note?: string | null | undefined
  expiresAt?: string | undefined
}

/** How long after now an order can expire. */
const HOLD_MS_MAX = 10_080 * 60_000

export function updateOrder(
  store: Store,
  caller: Caller,
  orderId: Id,
  { note, expiresAt }: OrderChange,
): Expected {
  const order = store.orders.get(Number(orderId))
  if (order === undefined) return reject('order_not_found')
  if (expiresAt !== undefined && order.status !== 'open') return reject('order_closed')
  const inMs = expiresAt === undefined ? 1 : Date.parse(expiresAt) - Date.now()
  if (inMs <= 0 || inMs > HOLD_MS_MAX) return reject('invalid_body')
  const before = { ...order }
  writeNote(order, note)
  if (expiresAt !== undefined) order.expiresAt = expiresAt
  const isChanged = order.note !== before.note || order.expiresAt !== before.expiresAt
  if (isChanged) emitOrder(store, order, byCaller('', caller), true)
  return { status: 200, body: orderBody(store, order) }
}

export interface Ending {
  as: 'completed' | 'cancelled'
  /** Instead of that of the order; null clears it. */
  note?: string | null | undefined
  /** Cancelling ignores them. */
  price?: string | undefined
  currency?: string | undefined
  method?: string | undefined
  reason?: string | undefined
}

export function endOrder(
  store: Store,
  caller: Caller,
  orderId: Id,
  { as, note, price, currency, method, reason }: Ending,
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
    if (as === 'completed') sell(order, priceOf(price) ?? otherwise, note)
    const status = as === 'completed' ? 'sold' : 'available'
    const entry = byCaller(`order_${as}`, caller)
    emitOrder(store, order, entry)
    if (as === 'completed') addSale(store, order, { method, reason }, caller)
    if (pet !== undefined) change(store, pet, { status }, entry)
  }
  return { status: 200, body: orderBody(store, order) }
}

function sell(order: Order, price: Price, note: string | null | undefined): void {
  Object.assign(order, price)
  writeNote(order, note)
}

function writeNote(order: Order, note: string | null | undefined): void {
  if (note === null) delete order.note
  else if (note !== undefined) order.note = note
}

/** Records that a hold has expired. No client requested that, so the history names the service. */
export function endHold(store: Store, orderId: number, expiresAt: string): void {
  const order = store.orders.get(orderId) as Order
  Object.assign(order, { status: 'expired', expiresAt, closedAt: expiresAt })
  const pet = store.pets.get(order.petId)
  const entry = { event: 'order_expired', actor: 'petstore', requestId: undefined }
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
  return { event, actor: name, requestId }
}

// The entries of the ledger: which of them an order gets, and for which day.
import { emitEntry } from './events.ts'
import { centsOf, CURRENCY, moneyOf } from './money.ts'
import { type Caller, type MoneyEntry, type Order, type Seen, type Store, takeId } from './store.ts'

export const DAY_MS = 86_400_000

export function today({ till, settings: { timeZone } }: Store): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(till.now)
}

export const dayAfter = (day: string, days = 1) =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

function nextDay(store: Store): string {
  const closed = store.closings.at(-1)?.day
  const now = today(store)
  return closed === undefined || closed < now ? now : dayAfter(closed)
}

/** What an entry of an order is about, beyond the order itself. */
export type Movement = Pick<MoneyEntry, 'kind' | 'paid' | 'sales' | 'pets'> &
  Partial<Pick<MoneyEntry, 'method' | 'reason' | 'voids'>>

export function addEntry(
  store: Store,
  entry: Omit<MoneyEntry, 'id' | 'at' | 'day' | 'currency' | 'actor'>,
  { name: actor }: Caller,
  seen?: Seen,
): MoneyEntry {
  const added: MoneyEntry = {
    ...entry,
    id: seen === undefined ? undefined : takeId(store, 'entry', seen),
    at: new Date(store.till.now).toISOString(),
    day: entry.voids?.day ?? nextDay(store),
    currency: CURRENCY,
    actor,
  }
  store.entries.push(added)
  return added
}

/** Writes an entry of an order, with its event. */
export function addOrderEntry(
  store: Store,
  order: Order,
  movement: Movement,
  caller: Caller,
  seen?: Seen,
): MoneyEntry {
  const origin = moneyOf(store, order.id)?.origin
  // A sale does not belong to who took the deposit.
  const isOrigin = origin === undefined || movement.kind === 'sale'
  const inherited = isOrigin
    ? { categoryId: store.pets.get(order.petId)?.categoryId, seller: caller.name }
    : { categoryId: origin.categoryId, seller: origin.seller }
  const method = movement.method ?? (isOrigin ? undefined : origin.method)
  const added = addEntry(
    store,
    { orderId: order.id, petId: order.petId, ...inherited, ...movement, method },
    caller,
    seen,
  )
  emitEntry(store, order, added, { actor: caller.name, requestId: caller.requestId })
  return added
}

/** Takes a deposit for an order that was just placed. */
export function takeDeposit(
  store: Store,
  order: Order,
  { deposit, method }: { deposit: string; method?: string | undefined },
  caller: Caller,
): void {
  const paid = centsOf(deposit) as bigint
  addOrderEntry(store, order, { kind: 'deposit', paid, sales: 0n, pets: 0, method }, caller)
}

/** Whether an amount can be a deposit. */
export function isDeposit(deposit: string): boolean {
  return (centsOf(deposit) ?? 0n) > 0n
}

/** A deposit that is held pays a part of the sale. */
export function addSale(
  store: Store,
  order: Order,
  { method, reason }: { method?: string | undefined; reason?: string | undefined },
  caller: Caller,
): void {
  const sales = centsOf(order.price ?? '0.00') as bigint
  const held = moneyOf(store, order.id)?.held ?? 0n
  addOrderEntry(store, order, { kind: 'sale', paid: sales - held, sales, pets: 1, method, reason }, caller)
}

/** The order that has sold the pet, if there is one. */
export function orderThatSold(store: Store, petId: number): Order | undefined {
  return [...store.orders.values()].find(
    (order) => order.petId === petId && moneyOf(store, order.id)?.isSold === true,
  )
}

/** Gives everything back for a pet that becomes available without a word about money. */
export function refundAll(store: Store, order: Order, caller: Caller): void {
  const sales = -(moneyOf(store, order.id)?.sales ?? 0n)
  addOrderEntry(store, order, { kind: 'refund', paid: sales, sales, pets: -1 }, caller)
}

// The rules of the till: corrections, refunds, deposits, voids and cash. A day that is closed stays as it is.
import { addEntry, addOrderEntry, DAY_MS, dayAfter, today } from './entries.ts'
import { amountOf, centsOf, CURRENCY, entryBody, moneyOf, orderBody, sumOf } from './money.ts'
import { change } from './pets.ts'
import {
  type Caller,
  type Closing,
  type Expected,
  type Id,
  type MoneyEntry,
  once,
  type Order,
  reject,
  type Seen,
  type Store,
} from './store.ts'

const VOIDED_WITHIN_MS = 15 * 60_000
/** Totals of at most a leap year. */
const TOTAL_DAYS_MAX = 366

interface Payment {
  currency?: string | undefined
  method?: string | undefined
  reason?: string | undefined
}

type Fault = 'invalid_body' | 'currency_mismatch' | undefined

function amountFault(currency: string | undefined, ...amounts: string[]): Fault {
  if (currency !== undefined && currency !== CURRENCY) return 'currency_mismatch'
  return amounts.every((amount) => centsOf(amount) !== undefined) ? undefined : 'invalid_body'
}

export function correctOrder(
  store: Store,
  caller: Caller,
  orderId: Id,
  { price, currency, method, reason }: Payment & { price: string },
): Expected {
  const order = store.orders.get(Number(orderId))
  if (order === undefined) return reject('order_not_found')
  const money = moneyOf(store, order.id)
  if (money?.isSold !== true) return reject('order_not_sold')
  const fault = amountFault(currency, price)
  if (fault !== undefined) return reject(fault)
  const paid = (centsOf(price) as bigint) - money.sales
  if (paid !== 0n)
    addOrderEntry(store, order, { kind: 'correction', paid, sales: paid, pets: 0, method, reason }, caller)
  return { status: 200, body: orderBody(store, order) }
}

export interface Refund extends Payment {
  amount: string
  takeBack: boolean
}

export function refundOrder(
  store: Store,
  caller: Caller,
  orderId: Id,
  { amount, currency, takeBack, method, reason }: Refund,
  key: string | undefined,
  seen: Seen,
): Expected {
  return once(
    store,
    caller,
    key,
    ['refundOrder', orderId, amount, currency, takeBack, method, reason],
    () => {
      const order = store.orders.get(Number(orderId))
      if (order === undefined) return reject('order_not_found')
      const money = moneyOf(store, order.id)
      if (money?.isSold !== true) return reject('order_not_sold')
      const fault = amountFault(currency, amount)
      if (fault !== undefined) return reject(fault)
      const back = centsOf(amount) as bigint
      if (back === 0n && !takeBack) return reject('invalid_body')
      if (back > money.sales) return reject('amount_too_high')
      const movement = { kind: 'refund', paid: -back, sales: -back, pets: takeBack ? -1 : 0, method, reason }
      const entry = addOrderEntry(store, order, movement, caller, seen)
      if (takeBack) setStatus(store, order, 'available', 'taken_back', caller)
      return { status: 201, body: entryBody(entry) }
    },
  )
}

function setStatus(
  store: Store,
  { petId }: Order,
  status: 'available' | 'sold',
  event: string,
  { name: actor, requestId }: Caller,
): void {
  const pet = store.pets.get(petId)
  if (pet !== undefined) change(store, pet, { status }, { event, actor, requestId })
}

export function settleDeposit(
  store: Store,
  caller: Caller,
  orderId: Id,
  { refund, currency, method, reason }: Payment & { refund: string },
  key: string | undefined,
  seen: Seen,
): Expected {
  return once(store, caller, key, ['settleDeposit', orderId, refund, currency, method, reason], () => {
    const order = store.orders.get(Number(orderId))
    if (order === undefined) return reject('order_not_found')
    const held = moneyOf(store, order.id)?.held ?? 0n
    if (held === 0n) return reject('amount_too_high')
    const fault = amountFault(currency, refund)
    if (fault !== undefined) return reject(fault)
    const back = centsOf(refund) as bigint
    if (back > held) return reject('amount_too_high')
    const kind = back === 0n ? 'forfeit' : 'refund'
    const movement = { kind, paid: -back, sales: held - back, pets: 0, method, reason }
    return { status: 201, body: entryBody(addOrderEntry(store, order, movement, caller, seen)) }
  })
}

/** Takes an entry back, as if it had not been: only the last one of its order, and not for long. */
export function voidEntry(store: Store, caller: Caller, entryId: Id, seen: Seen): Expected {
  const entry = store.entries.find(({ id }) => id === Number(entryId))
  if (entry === undefined) return reject('entry_not_found')
  if (entry.actor !== caller.name && !caller.scopes.includes('till:write'))
    return reject('insufficient_scope')
  const before = store.entries.find(({ voids }) => voids === entry)
  if (before !== undefined) return { status: 200, body: entryBody(before) }
  const order = store.orders.get(Number(entry.orderId))
  const isClosed = store.closings.some(({ day }) => day >= entry.day)
  const isOld = store.till.now - Date.parse(entry.at) > VOIDED_WITHIN_MS
  if (order === undefined || entry.kind === 'void' || isClosed || isOld) return reject('entry_final')
  if (moneyOf(store, order.id)?.last !== entry) return reject('entry_final')
  const isReturn = entry.pets < 0
  if (isReturn && store.pets.get(order.petId)?.status !== 'available') return reject('pet_not_available')
  const { paid, sales, pets, method } = entry
  const movement = { kind: 'void', paid: -paid, sales: -sales, pets: 0 - pets, method, voids: entry }
  const added = addOrderEntry(store, order, movement, caller, seen)
  if (pets > 0) setStatus(store, order, 'available', 'sale_voided', caller)
  if (isReturn) setStatus(store, order, 'sold', 'return_voided', caller)
  return { status: 200, body: entryBody(added) }
}

export interface Cash {
  direction: 'in' | 'out'
  amount: string
  currency?: string | undefined
  note: string
}

export function recordCash(
  store: Store,
  caller: Caller,
  { direction, amount, currency, note }: Cash,
  key: string | undefined,
  seen: Seen,
): Expected {
  return once(store, caller, key, ['recordCash', direction, amount, currency, note], () => {
    const fault = amountFault(currency, amount)
    if (fault !== undefined) return reject(fault)
    const cents = centsOf(amount) as bigint
    if (cents === 0n) return reject('invalid_body')
    const paid = direction === 'in' ? cents : -cents
    const entry = { kind: 'cash', paid, sales: 0n, pets: 0, method: 'cash', note }
    return { status: 201, body: entryBody(addEntry(store, entry, caller, seen)) }
  })
}

/** The cash at the end of a day after the last closing. */
function expectedCash({ entries, closings }: Store, day: string): bigint {
  const last = closings.at(-1)
  const since = entries.filter((entry) => entry.day > (last?.day ?? '') && entry.day <= day)
  return (last?.kept ?? 0n) + sumOf(since.filter(({ method }) => method === 'cash').map(({ paid }) => paid))
}

export interface NewClosing {
  /** Of days: 0 is today, -1 yesterday. */
  day: string
  counted: string
  kept: string
  currency?: string | undefined
  note?: string | undefined
}

export function closeDay(
  store: Store,
  caller: Caller,
  { day, counted, kept, currency, note }: NewClosing,
): Expected {
  const fault = amountFault(currency, counted, kept)
  if (fault !== undefined) return reject(fault)
  const [cash, left] = [centsOf(counted) as bigint, centsOf(kept) as bigint]
  if (left > cash || day > today(store)) return reject('invalid_body')
  const last = store.closings.at(-1)?.day ?? ''
  if (day <= last) {
    const before = store.closings.find((closing) => closing.day === day)
    const isSame = before?.counted === cash && before.kept === left && before.note === note
    return before !== undefined && isSame ? { status: 200, body: closingBody(before) } : reject('day_closed')
  }
  const closing: Closing = {
    day,
    at: new Date(store.till.now).toISOString(),
    closedBy: caller.name,
    expected: expectedCash(store, day),
    counted: cash,
    kept: left,
    note,
  }
  store.closings.push(closing)
  return { status: 201, body: closingBody(closing) }
}

export function closingBody({ expected, counted, kept, ...closing }: Closing): Record<string, unknown> {
  return {
    ...closing,
    currency: CURRENCY,
    expected: amountOf(expected),
    counted: amountOf(counted),
    kept: amountOf(kept),
    difference: amountOf(counted - expected),
  }
}

export type Grouping = 'day' | 'seller' | 'category' | 'method' | 'kind'
const FIELDS = {
  day: 'day',
  seller: 'seller',
  category: 'categoryId',
  method: 'method',
  kind: 'kind',
} as const

export interface TotalsRange {
  from?: string | undefined
  to?: string | undefined
  by?: Grouping | undefined
}

export function getTotals(store: Store, { by, ...range }: TotalsRange): Expected {
  const now = today(store)
  const to = range.to ?? now
  const from = range.from ?? to
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days < 1 || days > TOTAL_DAYS_MAX) return reject('invalid_parameter')
  const within = store.entries.filter(({ day }) => day >= from && day <= to)
  const counted = within.filter(({ kind }) => kind !== 'cash')
  const cash = within.filter(({ kind }) => kind === 'cash')
  const until = store.entries.filter(({ day, kind }) => day <= to && kind !== 'cash')
  const held = sumOf(until.map(({ paid, sales }) => paid - sales))
  const closedThrough = store.closings.at(-1)?.day
  const isOpen = closedThrough === undefined || to > closedThrough
  return {
    status: 200,
    body: {
      timeZone: store.settings.timeZone,
      today: now,
      from,
      to,
      closedThrough,
      totals: counted.length === 0 ? [] : [sumsOf(counted)],
      groups: by === undefined ? undefined : groupsOf(counted, by),
      deposits:
        held === 0n
          ? []
          : [
              {
                currency: CURRENCY,
                amount: amountOf(held),
              },
            ],
      cash:
        cash.length === 0
          ? []
          : [
              {
                currency: CURRENCY,
                amount: amountOf(sumOf(cash.map(({ paid }) => paid))),
              },
            ],
      drawer: isOpen
        ? {
            currency: CURRENCY,
            expected: amountOf(expectedCash(store, to)),
          }
        : undefined,
    },
  }
}

/** In any order. */
function groupsOf(entries: readonly MoneyEntry[], by: Grouping): Record<string, unknown>[] {
  const groups = Map.groupBy(entries, (entry) => entry[FIELDS[by]])
  return [...groups].map(([value, own]) => ({ [FIELDS[by]]: value, ...sumsOf(own) }))
}

function sumsOf(entries: readonly MoneyEntry[]) {
  return {
    currency: CURRENCY,
    pets: entries.reduce((sum, { pets }) => sum + pets, 0),
    sales: amountOf(sumOf(entries.map(({ sales }) => sales))),
    paid: amountOf(sumOf(entries.map(({ paid }) => paid))),
  }
}

/** A day as many days from today, in the past or the future. */
export function dayFromToday(store: Store, days: number): string {
  return dayAfter(today(store), days)
}

// The money of orders: sums of entries, and how clients see them.
import type { MoneyEntry, Order, Store } from './store.ts'

export const CURRENCY = 'EUR'

/** An amount in cents; undefined if it has other decimal places than the currency. */
export function centsOf(amount: string): bigint | undefined {
  return /^\d{1,10}\.\d\d$/.test(amount) ? BigInt(amount.replace('.', '')) : undefined
}

export function amountOf(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

export const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n)

/** The money of an order; undefined without entries. */
export function moneyOf({ entries }: Store, orderId: number) {
  const own = entries.filter((entry) => entry.orderId === orderId)
  const [first] = own
  if (first === undefined) return undefined
  const sale = own.find(({ kind }) => kind === 'sale')
  const sales = sumOf(own.map((entry) => entry.sales))
  return {
    sales,
    held: sumOf(own.map(({ paid }) => paid)) - sales,
    isSold: own.reduce((sum, { pets }) => sum + pets, 0) === 1,
    wasSold: sale !== undefined,
    /** Decides the category, the seller and the method of later entries. */
    origin: sale ?? first,
    last: own.at(-1) as MoneyEntry,
    returned: own.findLast(({ pets }) => pets < 0),
  }
}

/** The order as clients see it: with what its entries say. */
export function orderBody(store: Store, order: Order): Record<string, unknown> {
  const money = moneyOf(store, order.id)
  if (money === undefined) return { ...order }
  const { sales, held, isSold, wasSold, returned } = money
  return {
    ...order,
    currency: order.currency ?? CURRENCY,
    ...(wasSold && { netPrice: amountOf(sales) }),
    ...(held !== 0n && { deposit: amountOf(held) }),
    ...(wasSold && !isSold && { broughtBackAt: returned?.at }),
  }
}

export function entryBody({ paid, sales, voids, ...entry }: MoneyEntry): Record<string, unknown> {
  return { ...entry, paid: amountOf(paid), sales: amountOf(sales), voidedEntryId: voids?.id }
}

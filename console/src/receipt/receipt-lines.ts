// What a receipt says about the money of an order: the price, the deposit, and what came later. All of it comes from the ledger.
import type { Entry, Order } from '@petstore/client'
import { type Amount, addAmounts, isNegative, isZero, negated } from '../profile/price.ts'
import { byText } from '../money/words.ts'
import { dayAndMonth } from '../till/range.ts'

export interface ReceiptLine {
  label: string
  amount: Amount | undefined
  /** A sum, in large letters. */
  isSum?: boolean
}

export interface ReceiptText {
  title: string
  /** When the sale was made, or what comes before a sale. */
  at: string
  by: string | undefined
  /** The price of the pet, next to its name. */
  price: Amount | undefined
  lines: ReceiptLine[]
}

/** Undefined if no money has moved: then there is nothing to print. `entries` are those of the order, the newest first. */
export function receiptText(order: Order, entries: Entry[]): ReceiptText | undefined {
  const counting = withoutVoided(entries).toReversed()
  const sale = counting.findLast(({ kind }) => kind === 'sale')
  const [first] = counting
  if (first === undefined) return undefined
  const isBack = counting.some(({ pets }) => pets < 0)
  const kind = isBack ? ', return' : sale === undefined ? ', deposit' : ''
  return {
    title: `Receipt ${order.id}${kind}`,
    at: (sale ?? first).at,
    by: (sale ?? first).seller,
    price: sale && { currency: sale.currency, amount: sale.sales },
    lines: counting.flatMap((entry) => linesOf(entry, sale)).concat(sumOf(counting, sale)),
  }
}

/** An entry that was undone, and its void, are as if they had not been. */
function withoutVoided(entries: Entry[]): Entry[] {
  const voided = new Set(entries.map(({ voidedEntryId }) => voidedEntryId))
  return entries.filter(({ id, kind }) => kind !== 'void' && !voided.has(id))
}

function linesOf(entry: Entry, sale: Entry | undefined): ReceiptLine[] {
  const { kind, day, currency, paid, pets, method } = entry
  const amount = (text: string) => ({ currency, amount: text })
  const on = dayAndMonth(day, false)
  const by = byText(method)
  const withMethod = (text: string) => (by === '' ? text : `${text}, ${by}`)
  switch (kind) {
    case 'deposit':
      // What was paid before is taken off the price.
      return [{ label: withMethod(`Deposit of ${on}`), amount: amount(sale ? negated(paid) : paid) }]
    case 'sale':
      return [{ label: paidLabel(paid, by), amount: amount(paid), isSum: true }]
    case 'correction':
      return [{ label: withMethod(`Price corrected on ${on}`), amount: amount(paid) }]
    case 'refund':
      return [
        ...(pets < 0 ? [{ label: `Taken back on ${on}`, amount: undefined }] : []),
        ...(isZero(paid) ? [] : [{ label: withMethod(`Refund of ${on}`), amount: amount(paid) }]),
      ]
    case 'forfeit':
      return [{ label: `Deposit kept on ${on}`, amount: undefined }]
    case 'void':
    case 'cash':
      // Neither is an entry of a receipt.
      return []
  }
}

function paidLabel(paid: string, by: string): string {
  const text = isNegative(paid) ? 'Given back' : 'Paid'
  return by === '' ? text : `${text} ${by}`
}

/** The net of the order, if something followed the sale or only deposits were paid. */
function sumOf(entries: Entry[], sale: Entry | undefined): ReceiptLine[] {
  const last = entries.at(-1)
  if (last === undefined || last === sale) return []
  const amount = { currency: last.currency, amount: addAmounts(entries.map(({ paid }) => paid)) }
  return [{ label: sale === undefined ? 'Deposit held' : 'Net price', amount, isSum: true }]
}

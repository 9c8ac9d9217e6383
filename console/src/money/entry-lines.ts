// The entries of a pet in plain words: all the money of its orders.
import type { Entry } from '@petstore/client'
import { absolute, signOf, subtract } from './amounts.ts'
import { type Amount, amountText, sumAmounts } from '../profile/price.ts'
import { byText } from './words.ts'

/** The service accepts a void for this long. */
const VOIDED_WITHIN_MS = 15 * 60_000

export interface EntryLine {
  entry: Entry
  what: string
  /** What came into the till; negative if it left the till. */
  amount: Amount
  /** Why the entry is struck through. */
  struck: 'Returned' | 'Undone' | undefined
}

/** The newest first. */
export function entryLines(entries: Entry[]): EntryLine[] {
  const sorted = newestFirst(entries)
  return sorted.map((entry) => {
    const ofOrder = sorted.filter(({ orderId }) => orderId === entry.orderId)
    return {
      entry,
      what: whatText(entry, ofOrder),
      amount: { currency: entry.currency, amount: entry.paid },
      struck: struckBy(entry, ofOrder),
    }
  })
}

/** By their ids: the void of an entry counts for the day of that entry, and can be newer than entries of later days. */
function newestFirst(entries: Entry[]): Entry[] {
  return entries.toSorted((one, other) => (BigInt(one.id) < BigInt(other.id) ? 1 : -1))
}

function struckBy({ id, kind }: Entry, ofOrder: Entry[]): EntryLine['struck'] {
  if (ofOrder.some(({ voidedEntryId }) => voidedEntryId === id)) return 'Undone'
  const isBack = kind === 'sale' && ofOrder.reduce((sum, { pets }) => sum + pets, 0) === 0
  return isBack ? 'Returned' : undefined
}

function whatText(entry: Entry, ofOrder: Entry[]): string {
  const { kind, paid, pets, currency, method } = entry
  const amount = amountText({ currency, amount: absolute(paid) })
  const by = signOf(paid) === 0 ? '' : byText(method)
  switch (kind) {
    case 'deposit':
      return joined('Deposit', by)
    case 'sale':
      return joined(soldText(entry), by && `paid ${by}`)
    case 'correction':
      return joined(correctionText(entry, ofOrder), by)
    case 'forfeit':
      return `Deposit of ${amountText({ currency, amount: entry.sales })} kept`
    case 'void':
      return `${nounOf(ofOrder.find(({ id }) => id === entry.voidedEntryId))} undone`
    case 'refund':
      if (pets < 0 && signOf(paid) === 0) return 'Taken back without a refund'
      if (pets < 0) return joined(`Taken back, ${amount} refunded`, by, ' ')
      return joined(signOf(entry.sales) < 0 ? 'Refunded' : 'Deposit given back', by)
    case 'cash':
    default:
      // Cash belongs to no pet. A later version of the service can add kinds.
      return joined('Payment', by)
  }
}

/** A sale without a price counts 0 until its price is corrected. */
function soldText({ currency, sales }: Entry): string {
  return signOf(sales) === 0 ? 'Sold without a price' : `Sold for ${amountText({ currency, amount: sales })}`
}

function joined(text: string, more: string, between = ', '): string {
  return more === '' ? text : text + between + more
}

/** Such as "Price corrected from €45.00 to €450.00". */
function correctionText({ id, currency, sales }: Entry, ofOrder: Entry[]): string {
  const until = ofOrder.filter((one) => BigInt(one.id) <= BigInt(id))
  const to = salesOf(until)
  return `Price corrected from ${amountText({ currency, amount: subtract(to, sales) })} to ${amountText({ currency, amount: to })}`
}

function salesOf(entries: Entry[]): string {
  const [sum] = sumAmounts(entries.map(({ currency, sales }) => ({ currency, amount: sales })))
  return sum?.amount ?? '0'
}

function nounOf(voided: Entry | undefined): string {
  if (voided === undefined) return 'Entry'
  if (voided.kind === 'refund') return voided.pets < 0 ? 'Return' : 'Refund'
  const nouns: Partial<Record<Entry['kind'], string>> = {
    deposit: 'Deposit',
    sale: 'Sale',
    correction: 'Correction',
    forfeit: 'Keeping the deposit',
  }
  return nouns[voided.kind] ?? 'Entry'
}

/**
 * The entry of a pet that can be undone now: the last one, for 15 minutes, if it is one's own or one may undo those of others.
 * The service also says no if its day is closed.
 */
export function undoableEntry(
  entries: Entry[],
  { nowMs, ownName, isForAll }: { nowMs: number; ownName: string | undefined; isForAll: boolean },
): Entry | undefined {
  const [last] = newestFirst(entries)
  if (last === undefined || last.kind === 'void') return undefined
  const isRecent = Date.parse(last.at) > nowMs - VOIDED_WITHIN_MS
  return isRecent && (isForAll || last.actor === ownName) ? last : undefined
}

/** How the money of a sale was paid: its entries that moved money and count, the oldest first. */
export function paymentsOf(entries: Entry[], orderId: string): Entry[] {
  const ofOrder = entries.filter((entry) => entry.orderId === orderId)
  const voided = new Set(ofOrder.map(({ voidedEntryId }) => voidedEntryId))
  const counts = ({ id, kind, paid }: Entry) => kind !== 'void' && !voided.has(id) && signOf(paid) !== 0
  return newestFirst(ofOrder.filter(counts)).toReversed()
}

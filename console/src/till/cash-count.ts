// Counting the drawer: what the coins and notes are worth, and how that compares with the ledger.
import { addAmounts, isNegative, isZero, multiplyAmount, negated, readAmount } from '../profile/price.ts'
import type { ShopCurrency } from '../shop/shop.ts'

/** The notes and coins that shops count. For other currencies, a person enters the sum. */
const DENOMINATIONS: Record<string, string[]> = {
  EUR: ['200.00', '100.00', '50.00', '20.00', '10.00', '5.00', '2.00', '1.00', '0.50', '0.20', '0.10'],
  USD: ['100.00', '50.00', '20.00', '10.00', '5.00', '1.00', '0.25', '0.10', '0.05', '0.01'],
  GBP: ['50.00', '20.00', '10.00', '5.00', '2.00', '1.00', '0.50', '0.20', '0.10', '0.05'],
  CHF: [
    '200.00',
    '100.00',
    '50.00',
    '20.00',
    '10.00',
    '5.00',
    '2.00',
    '1.00',
    '0.50',
    '0.20',
    '0.10',
    '0.05',
  ],
}

/** More pieces of one kind are a typing mistake. */
const PIECES_MAX = 99_999

/** What a person types. */
export interface CashInput {
  /** How many there are of each note or coin. */
  pieces: Record<string, string>
  /** The rest, or the whole sum in a currency without a list. */
  rest: string
  kept: string
  note: string
}

export interface CashCount {
  counted: string
  /** `counted` minus what the ledger expects. */
  difference: string
  /** What does not stay in the drawer. */
  toBank: string
  kept: string
  note: string | undefined
  /** What the person must change, by field. */
  faults: { pieces?: string; rest?: string; kept?: string; note?: string }
}

export function denominationsOf(currency: string): string[] {
  return DENOMINATIONS[currency] ?? []
}

/** What pieces of one kind are worth. Undefined if the text is no number. */
export function worthOf(denomination: string, pieces: string): string | undefined {
  const text = pieces.trim()
  if (!/^\d*$/.test(text) || Number(text) > PIECES_MAX) return undefined
  return multiplyAmount(denomination, Number(text))
}

export function countCash(input: CashInput, expected: string, shop: ShopCurrency): CashCount {
  const worths = denominationsOf(shop.code).map((one) => worthOf(one, input.pieces[one] ?? ''))
  const rest = amountOrZero(input.rest, shop)
  const kept = amountOrZero(input.kept, shop)
  const counted = addAmounts([...worths, rest, zeroOf(shop)].map((amount) => amount ?? '0'))
  const difference = addAmounts([counted, negated(expected)])
  const toBank = addAmounts([counted, negated(kept ?? '0')])
  const note = input.note.trim()
  const example = `Enter an amount such as ${zeroOf(shop).replace('0', '20')}.`
  return {
    counted,
    difference,
    toBank,
    kept: kept ?? zeroOf(shop),
    note: note === '' ? undefined : note,
    faults: {
      ...(worths.includes(undefined) && { pieces: 'Enter how many there are, in digits.' }),
      ...(rest === undefined && { rest: example }),
      ...(kept === undefined && { kept: example }),
      ...(kept !== undefined && isNegative(toBank) && { kept: 'This is more than you counted.' }),
      ...(!isZero(difference) &&
        note === '' && { note: 'Say what happened, because the drawer is not exact.' }),
    },
  }
}

function amountOrZero(text: string, shop: ShopCurrency): string | undefined {
  return text.trim() === '' ? zeroOf(shop) : readAmount(text, shop)
}

export function zeroOf({ decimals }: ShopCurrency): string {
  return decimals === 0 ? '0' : `0.${'0'.repeat(decimals)}`
}

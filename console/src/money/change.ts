// Cash that a customer gives, and the change.
import { nextMultiple, signOf, subtract } from './amounts.ts'
import { readAmount } from '../profile/price.ts'
import type { ShopCurrency } from '../shop/shop.ts'

/** Notes: what customers give if they do not have the exact amount. */
const NOTES = [10n, 50n, 100n]
const SUGGESTIONS_MAX = 3

/** The exact amount, then what a customer probably gives instead. */
export function likelyCash(due: string): string[] {
  const rounded = NOTES.map((note) => nextMultiple(due, note))
  return [...new Set([due, ...rounded])].slice(0, SUGGESTIONS_MAX)
}

export interface Change {
  /** Undefined if nothing was entered, or too little. */
  amount: string | undefined
  fault: string | undefined
}

/** `given` is what a person typed; empty if it does not matter. */
export function changeFor(due: string, given: string, shop: ShopCurrency): Change {
  if (given.trim() === '') return { amount: undefined, fault: undefined }
  const amount = readAmount(given, shop)
  if (amount === undefined) return { amount, fault: 'Enter an amount.' }
  const change = subtract(amount, due)
  if (signOf(change) < 0) return { amount: undefined, fault: 'This is less than the amount due.' }
  return { amount: change, fault: undefined }
}

// What a customer gets back, as a person types it: all that was paid, a part, or nothing.
import { signOf, subtract } from '../money/amounts.ts'
import { amountText, readAmount } from '../profile/price.ts'
import type { ShopCurrency } from '../shop/shop.ts'

export interface RefundInput {
  amount: string | undefined
  fault: string | undefined
}

/** `max` is what was paid. */
export function readRefund(typed: string, max: string, currency: ShopCurrency): RefundInput {
  const amount = readAmount(typed, currency)
  if (amount === undefined) return { amount, fault: 'Enter an amount. For no refund, enter 0.' }
  if (signOf(subtract(max, amount)) >= 0) return { amount, fault: undefined }
  return {
    amount: undefined,
    fault: `At most ${amountText({ currency: currency.code, amount: max })} was paid.`,
  }
}

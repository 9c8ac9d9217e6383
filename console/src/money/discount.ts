// A discount as a person types it: an amount, or per cent of the price. It lowers the price of the sale.
import { share, signOf, subtract } from './amounts.ts'
import { readAmount } from '../profile/price.ts'
import type { ShopCurrency } from '../shop/shop.ts'

const PERCENT = /^(\d{1,3})(?:[.,](\d{1,2}))?\s*%$/

export interface Discount {
  /** The price of the sale. */
  price: string
  /** What the discount is. Undefined without one. */
  amount: string | undefined
  fault: string | undefined
}

/** `typed` is empty without a discount. */
export function discounted(price: string, typed: string, shop: ShopCurrency): Discount {
  const text = typed.trim()
  const amount = text === '' ? undefined : (percentOf(price, text) ?? readAmount(text, shop))
  if (text !== '' && amount === undefined)
    return { price, amount, fault: 'Enter an amount, or per cent such as 10 %.' }
  if (amount === undefined || signOf(amount) === 0) return { price, amount: undefined, fault: undefined }
  const rest = subtract(price, amount)
  if (signOf(rest) < 0) return { price, amount, fault: 'The discount is higher than the price.' }
  return { price: rest, amount, fault: undefined }
}

function percentOf(price: string, text: string): string | undefined {
  const [, whole, fraction = ''] = PERCENT.exec(text) ?? []
  return whole === undefined ? undefined : share(price, BigInt(whole + fraction.padEnd(2, '0')), 10_000n)
}

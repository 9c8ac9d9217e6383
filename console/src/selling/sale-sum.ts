// What a customer pays: the price, less a discount and the deposit.
import { changeFor } from '../money/change.ts'
import { discounted } from '../money/discount.ts'
import type { Method } from '../money/words.ts'
import { signOf, subtract } from '../money/amounts.ts'
import type { ShopCurrency } from '../shop/shop.ts'

export interface SaleInput {
  /** Undefined without a price. */
  price: string | undefined
  /** What the person typed. */
  discount: string
  deposit: string | undefined
  method: Method | undefined
  /** The cash that the customer gives, as the person typed it. */
  given: string
}

export interface SaleSum {
  /** The price of the sale. Undefined without a price. */
  price: string | undefined
  hasDiscount: boolean
  /** Negative if the deposit is higher than the price. */
  due: string | undefined
  /** Whether money moves, so that someone has to say how. */
  needsMethod: boolean
  change: string | undefined
  faults: { discount?: string | undefined; method?: string | undefined; given?: string | undefined }
}

export function saleSum(input: SaleInput, shop: ShopCurrency): SaleSum {
  const { price, discount, deposit = '0', method, given } = input
  if (price === undefined) {
    const sum = { price, hasDiscount: false, due: undefined, needsMethod: false, change: undefined }
    return { ...sum, faults: discount.trim() === '' ? {} : { discount: 'Enter the price first.' } }
  }
  const less = discounted(price, discount, shop)
  const due = subtract(less.price, deposit)
  const needsMethod = signOf(due) !== 0
  const isCash = method === 'cash' && signOf(due) > 0
  const change = isCash ? changeFor(due, given, shop) : { amount: undefined, fault: undefined }
  return {
    price: less.price,
    hasDiscount: less.amount !== undefined,
    due,
    needsMethod,
    change: change.amount,
    faults: {
      discount: less.fault,
      method: needsMethod && method === undefined ? 'Choose how it is paid.' : undefined,
      given: change.fault,
    },
  }
}

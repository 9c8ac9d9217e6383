// The price of a sale that a person can change: it starts with the price of the order or of the pet.
import { type Priced, priceText, readAmount } from '../profile/price.ts'
import type { ShopCurrency } from '../shop/shop.ts'
import { priceFault } from '../profile/profile-values.ts'

export interface PriceInput {
  /** What the field shows. */
  text: string
  /** That of the stored price until the person types, then that of the shop. */
  currency: string
  /** Undefined without a price, and until the price of the pet is known. The service then takes that of the pet. */
  amount: string | undefined
  fault: string | undefined
  /** The price that was asked, if it differs. */
  description: string | undefined
}

/** `typed` is undefined until the person types. */
export function priceInput(asked: Priced, typed: string | undefined, shop: ShopCurrency): PriceInput {
  const text = typed ?? asked.price ?? ''
  // The shop can have changed its currency since. The price stays as it is, unless the person types another one.
  const currency = typed === undefined ? (asked.currency ?? shop.code) : shop.code
  const amount = typed === undefined ? asked.price : readAmount(typed, shop)
  const isMissing = text.trim() === '' && asked.price !== undefined
  const isOther = asked.price !== undefined && (amount !== asked.price || currency !== asked.currency)
  return {
    text,
    currency,
    amount,
    fault: isMissing ? 'Enter the price.' : priceFault(typed ?? '', shop),
    description: isOther ? `The price was ${priceText(asked)}.` : undefined,
  }
}

// The price of a sale that a person can change: it starts with the price of the order or of the pet.
import { type Priced, priceText, readAmount } from '../profile/price.ts'
import { priceFault } from '../profile/profile-values.ts'

export interface PriceInput {
  /** What the field shows. */
  text: string
  /** Undefined without a price, and until the price of the pet is known. The service then takes that of the pet. */
  amount: string | undefined
  fault: string | undefined
  /** The price that was asked, if it differs. */
  description: string | undefined
}

/** `typed` is undefined until the person types. The currency is that of new prices. */
export function priceInput(
  asked: Priced,
  typed: string | undefined,
  { code, decimals }: { code: string; decimals: number },
): PriceInput {
  // The shop can have changed its currency since. A price that is typed now is one of the new currency.
  const stored = asked.currency === code ? asked.price : undefined
  const text = typed ?? stored ?? ''
  const amount = typed === undefined ? stored : readAmount(typed, decimals)
  const isMissing = text.trim() === '' && stored !== undefined
  const isOther = asked.price !== undefined && amount !== asked.price
  return {
    text,
    amount,
    fault: isMissing ? 'Enter the price.' : priceFault(typed ?? '', decimals),
    description: isOther ? `The price was ${priceText(asked)}.` : undefined,
  }
}

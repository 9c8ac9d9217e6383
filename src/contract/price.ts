// The price in a request: its schema, and the check that it has the decimal places of the currency of the store.
import { Type } from 'typebox'
import { decimalsOf, isAmount } from '../values/money.ts'
import type { ErrorDetail } from './errors.ts'

/** The longest amount: ten digits, a point and four decimal places. */
const PRICE_LENGTH_MAX = 15

/** The form is that of any currency. `priceFaults` checks the decimal places, which depend on a setting. */
export const PriceSchema = Type.String({
  format: 'amount',
  maxLength: PRICE_LENGTH_MAX,
  description:
    'Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point.',
  examples: ['129.00'],
})

export const CurrencySchema = Type.String({
  description: 'Currency of the price, a code of ISO 4217. Present only with `price`.',
  examples: ['EUR'],
})

/** The fault of a price that has the right form, but not the decimal places of the currency. */
export function priceFaults(price: string | undefined, currency: string): ErrorDetail[] {
  if (price === undefined || isAmount(price, currency)) return []
  const decimals = decimalsOf(currency)
  const places = decimals === 0 ? 'no decimal places' : `${decimals} decimal places`
  const example = `129${decimals === 0 ? '' : `.${'0'.repeat(decimals)}`}`
  const message = `price must have ${places}, such as ${example}, because the currency of the store is ${currency}.`
  return [{ field: 'price', code: 'invalid_format', message }]
}

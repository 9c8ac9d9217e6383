// The price in a request: its schema, and the checks that it is in the currency of the store and has its decimal places.
import { Type } from 'typebox'
import { decimalsOf, isAmount, toUnits } from '../values/money.ts'
import { AppError, type ErrorDetail } from './errors.ts'

/** The longest amount: ten digits, a point and four decimal places. */
const PRICE_LENGTH_MAX = 15

const CURRENCY_LENGTH = 3

/** The form is that of any currency. `priceFaults` checks the decimal places, which depend on a setting. */
export const PriceSchema = Type.String({
  format: 'amount',
  maxLength: PRICE_LENGTH_MAX,
  description:
    'Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point.',
  examples: ['129.00'],
})

export const CurrencySchema = Type.String({
  description: 'Currency of the amounts, a code of ISO 4217. Absent without an amount.',
  examples: ['EUR'],
})

/** An amount of money in a request that is no price. */
export const AmountSchema = (description: string) =>
  Type.String({
    format: 'amount',
    maxLength: PRICE_LENGTH_MAX,
    description: `${description} Amount as text, with exactly the decimal places of the currency.`,
    examples: ['20.00'],
  })

/** The currency of an amount, of which the service knows the right one. */
export const OWN_CURRENCY = Type.Optional(
  Type.String({
    format: 'currency',
    maxLength: CURRENCY_LENGTH,
    description:
      'Currency of the amount, a code of ISO 4217. Another one than that of the order, or of the shop without an order, is rejected. Default: the right one.',
    examples: ['EUR'],
  }),
)

/** What a request says about a price. */
export const PRICE_FIELDS = {
  price: Type.Optional(PriceSchema),
  currency: Type.Optional(
    Type.String({
      format: 'currency',
      maxLength: CURRENCY_LENGTH,
      description:
        'Currency of the price, a code of ISO 4217. Default: the currency of the store. A price in another currency is rejected, unless it is the stored price of the pet or of the order. Required if that one has another currency.',
      examples: ['EUR'],
    }),
  ),
}

/** A price in a request, or a stored one, which has both fields or neither. */
export interface Priced {
  price?: string | undefined
  currency?: string | undefined
}

/**
 * Returns the currency of the price in a request; undefined without a price. No price ever changes its currency unless the
 * request names the new one: throws `currency_mismatch` if the request leaves the currency of a stored price open, or names
 * another one than that of the store for a price that is not stored.
 */
export function currencyOf(given: Priced, stored: Priced, currency: string): string | undefined {
  const isKept = given.price === stored.price && given.currency === stored.currency
  if (isKept && given.price !== undefined) return stored.currency
  const before = stored.currency ?? currency
  if (given.currency === undefined && given.price !== undefined && before !== currency) {
    throw currencyMismatch(
      `currency is missing, and the stored price is in ${before}. The store has ${currency}.`,
    )
  }
  if (given.currency !== undefined && given.currency !== currency) {
    throw currencyMismatch(
      `currency must be ${currency}, the currency of the store, because the price is not stored.`,
    )
  }
  return given.price === undefined ? undefined : currency
}

export function currencyMismatch(message: string): AppError {
  return new AppError('currency_mismatch', {
    details: [{ field: 'currency', code: 'currency_mismatch', message }],
  })
}

/**
 * The fault of a price that has the right form, but not the decimal places of the currency of the store. `currencyOf` checks
 * a price in another currency.
 */
export function priceFaults({ price, currency: given }: Priced, currency: string): ErrorDetail[] {
  const isOther = given !== undefined && given !== currency
  return isOther ? [] : amountFaults('price', price, currency)
}

/** The fault of an amount that has the right form, but not the decimal places of its currency. */
function amountFaults(field: string, amount: string | undefined, currency: string): ErrorDetail[] {
  if (amount === undefined || isAmount(amount, currency)) return []
  const decimals = decimalsOf(currency)
  const places = decimals === 0 ? 'no decimal places' : `${decimals} decimal places`
  const example = `129${decimals === 0 ? '' : `.${'0'.repeat(decimals)}`}`
  const message = `${field} must have ${places}, such as ${example}, because its currency is ${currency}.`
  return [{ field, code: 'invalid_format', message }]
}

/** The amounts of a request by their fields, in smallest units. Throws unless all of them are in this currency. */
export function readAmounts<Field extends string>(
  amounts: Record<Field, string>,
  given: string | undefined,
  currency: string,
): Record<Field, bigint> {
  if (given !== undefined && given !== currency) throw currencyMismatch(`currency must be ${currency}.`)
  const fields = Object.keys(amounts) as Field[]
  const details = fields.flatMap((field) => amountFaults(field, amounts[field], currency))
  if (details.length > 0) throw new AppError('invalid_body', { details })
  return Object.fromEntries(fields.map((field) => [field, toUnits(amounts[field], currency)])) as Record<
    Field,
    bigint
  >
}

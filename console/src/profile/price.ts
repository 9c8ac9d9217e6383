// Prices: what a person types, and what the pages show. An amount is decimal text and never becomes a number, because
// numbers are not exact.

export interface Amount {
  currency: string
  amount: string
}

/** The price of a pet or of an order. Both fields are set, or none. */
export interface Priced {
  price?: string | undefined
  currency?: string | undefined
}

/** The currency of new prices. */
export interface ShopCurrency {
  code: string
  /** The decimal places of an amount. Those of `Intl` are others for some currencies. */
  decimals: number
}

/** The limit of the service. */
const INTEGER_DIGITS_MAX = 10
const SPACES = /[\s'’]/g

/** Such as "€129.00". Undefined without a price. */
export function priceText({ price, currency }: Priced): string | undefined {
  return price === undefined || currency === undefined ? undefined : amountText({ currency, amount: price })
}

/** The price that a customer has agreed on with a hold, otherwise the price of the pet. */
export function askedPrice(order: Priced | undefined, profile: Priced | undefined): Priced {
  return (order?.price === undefined ? profile : order) ?? {}
}

/** Shows the decimal places that the amount has. Those that `Intl` would choose are others for some currencies. */
export function amountText({ currency, amount }: Amount): string {
  const digits = decimalsIn(amount)
  const format = new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  // Text is formatted exactly. A number would be rounded.
  return format.format(amount as `${number}`)
}

/**
 * Reads what a person typed, such as "129", "129,5" or "1 290.00", as an amount with these decimal places. Undefined if
 * it is none: a text with two separators, such as "1.290,00", could be misread.
 */
export function readAmount(text: string, decimals: number): string | undefined {
  const [, whole, typed = ''] = /^(\d+)(?:[.,](\d*))?$/.exec(text.replaceAll(SPACES, '')) ?? []
  if (whole === undefined || typed.length > decimals) return undefined
  const integer = whole.replace(/^0+(?=\d)/, '')
  if (integer.length > INTEGER_DIGITS_MAX) return undefined
  return decimals === 0 ? integer : `${integer}.${typed.padEnd(decimals, '0')}`
}

/** What to type, such as "129.00". */
export function exampleAmount(decimals: number): string {
  return readAmount('129', decimals) ?? ''
}

/** The exact sum of each currency. */
export function sumAmounts(amounts: Amount[]): Amount[] {
  const currencies = new Set(amounts.map(({ currency }) => currency))
  return [...currencies].map((currency) => {
    const added = amounts.filter((one) => one.currency === currency).map(({ amount }) => amount)
    const decimals = Math.max(...added.map(decimalsIn))
    const sum = added.reduce((total, amount) => total + units(amount, decimals), 0n)
    return { currency, amount: fromUnits(sum, decimals) }
  })
}

function decimalsIn(amount: string): number {
  return amount.split('.')[1]?.length ?? 0
}

function units(amount: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

function fromUnits(sum: bigint, decimals: number): string {
  const digits = sum.toString().padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

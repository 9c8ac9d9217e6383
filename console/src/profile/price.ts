// Prices: what a person types, and what the pages show. An amount is decimal text and never becomes a number, because
// numbers are not exact.
import type { ShopCurrency } from '../shop/shop.ts'

export interface Amount {
  currency: string
  amount: string
}

/** The price of a pet or of an order. Both fields are set, or none. */
export interface Priced {
  price?: string | undefined
  currency?: string | undefined
}

/** The limit of the service. */
const INTEGER_DIGITS_MAX = 10
/** The sign of a negative amount, as wide as a plus. */
const MINUS = '−'
const SPACES = /[\s'’]/g

type DecimalMark = '.' | ','

/** That of the language of the browser. */
const BROWSER_MARK: DecimalMark = new Intl.NumberFormat().format(0.5).includes(',') ? ',' : '.'

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
  return format.format(amount as `${number}`).replace('-', MINUS)
}

/** Such as "€360.00 and US$20.00". */
export function amountsText(amounts: Amount[]): string {
  return amounts.map(amountText).join(' and ')
}

/**
 * Reads what a person typed, such as "129", "1.150,00", "1,150.00" or "€ 45,-", as an amount. Undefined if it is none. Of "1.150", only the
 * decimal mark of the reader's language tells whether it is more than a thousand.
 */
export function readAmount(
  text: string,
  { code, decimals }: ShopCurrency,
  languageMark: DecimalMark = BROWSER_MARK,
): string | undefined {
  const typed = withoutCurrency(text, code)
    .replaceAll(SPACES, '')
    .replace(/[.,][-–—]$/, '')
  const mark = decimalMarkIn(typed, languageMark)
  const [whole = '', fraction = '', ...more] = mark === undefined ? [typed] : typed.split(mark)
  const isWhole = /^\d+$/.test(whole) || /^\d{1,3}(?:[.,]\d{3})+$/.test(whole)
  if (!isWhole || more.length > 0 || !/^\d*$/.test(fraction) || fraction.length > decimals) return undefined
  const integer = whole.replaceAll(/[.,]/g, '').replace(/^0+(?=\d)/, '')
  if (integer.length > INTEGER_DIGITS_MAX) return undefined
  return decimals === 0 ? integer : `${integer}.${fraction.padEnd(decimals, '0')}`
}

/** With marks of both kinds, or more than one, the text tells. */
function decimalMarkIn(typed: string, languageMark: DecimalMark): string | undefined {
  const marks = typed.match(/[.,]/g) ?? []
  if (marks.length > 1) return new Set(marks).size === 1 ? undefined : marks.at(-1)
  return hasThousands(typed) && marks[0] !== languageMark ? undefined : marks[0]
}

/** Whether three digits follow a mark, so that another person could read another amount. */
export function hasThousands(typed: string): boolean {
  return /\d[.,]\d{3}(?!\d)/.test(typed)
}

/** Only the currency of the shop: an amount in another one is none. */
function withoutCurrency(text: string, code: string): string {
  const parts = new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: code,
    currencyDisplay: 'narrowSymbol',
  })
  const symbol = parts.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? code
  return text.replace(code, '').replace(symbol, '')
}

/** What to type, such as "129.00". */
export function exampleAmount(decimals: number): string {
  return decimals === 0 ? '129' : `129.${'0'.repeat(decimals)}`
}

/** The exact sum of each currency. */
export function sumAmounts(amounts: Amount[]): Amount[] {
  const currencies = new Set(amounts.map(({ currency }) => currency))
  return [...currencies].map((currency) => {
    const added = amounts.filter((one) => one.currency === currency).map(({ amount }) => amount)
    return { currency, amount: addAmounts(added) }
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
  const digits = String(sum < 0n ? -sum : sum).padStart(decimals + 1, '0')
  const text = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
  return sum < 0n ? `-${text}` : text
}

/** The exact sum of amounts of one currency. */
export function addAmounts(amounts: string[]): string {
  const decimals = Math.max(0, ...amounts.map(decimalsIn))
  return fromUnits(
    amounts.reduce((total, amount) => total + units(amount, decimals), 0n),
    decimals,
  )
}

/** The same amount several times, such as coins. */
export function multiplyAmount(amount: string, times: number): string {
  const decimals = decimalsIn(amount)
  return fromUnits(units(amount, decimals) * BigInt(times), decimals)
}

export function negated(amount: string): string {
  return multiplyAmount(amount, -1)
}

export function isNegative(amount: string): boolean {
  return amount.startsWith('-')
}

/** True for "0.00". */
export function isZero(amount: string): boolean {
  return !/[1-9]/.test(amount)
}

// Amounts of money: decimal text, never a number, because numbers are not exact.

/** The currencies of ISO 4217 that do not have two decimal places. The data of `Intl` differs, for example for IQD. */
const DECIMALS: Record<string, number> = {
  ...of(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...of(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...of(4, 'CLF UYW'),
}
const DECIMALS_DEFAULT = 2
const CURRENCIES = new Set(Intl.supportedValuesOf('currency'))
const INTEGER_DIGITS_MAX = 10

export function isCurrency(code: string): boolean {
  // `Intl` does not know some of the currencies above.
  return CURRENCIES.has(code) || Object.hasOwn(DECIMALS, code)
}

/** The number of decimal places of an amount in this currency. */
export function decimalsOf(currency: string): number {
  return DECIMALS[currency] ?? DECIMALS_DEFAULT
}

/** An amount has exactly the decimal places of its currency, such as `129.00` in EUR and `129` in JPY. */
export function isAmount(text: string, currency: string): boolean {
  const match = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text)
  if (match === null) return false
  const [, whole = '', decimals = ''] = match
  return whole.length <= INTEGER_DIGITS_MAX && decimals.length === decimalsOf(currency)
}

/** An amount in the smallest units of its currency, for sums and comparisons. `text` has its decimal places or fewer. */
export function toUnits(text: string, currency: string): bigint {
  const [whole = '', decimals = ''] = text.split('.')
  return BigInt(whole + decimals.padEnd(decimalsOf(currency), '0'))
}

/** The amount of these units, with the decimal places of the currency. */
export function toAmount(units: bigint, currency: string): string {
  const decimals = decimalsOf(currency)
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const amount = decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`
  return units < 0n ? `-${amount}` : amount
}

/** A sum as PostgreSQL writes it, with the decimal places of the currency. The sum of no rows has none. */
export function withDecimals(text: string, currency: string): string {
  return toAmount(toUnits(text, currency), currency)
}

function of(decimals: number, currencies: string): Record<string, number> {
  return Object.fromEntries(currencies.split(' ').map((currency) => [currency, decimals]))
}

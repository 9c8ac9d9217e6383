// Calculates with amounts, exactly.
import { addAmounts, isNegative, isZero, negated } from '../profile/price.ts'

/** The exact difference of two amounts in one currency. It can be negative, such as "-20.00". */
export function subtract(amount: string, subtracted: string): string {
  return addAmounts([amount, negated(subtracted)])
}

/** The amount without its sign. */
export function absolute(amount: string): string {
  return isNegative(amount) ? negated(amount) : amount
}

/** -1, 0 or 1. */
export function signOf(amount: string): number {
  if (isZero(amount)) return 0
  return isNegative(amount) ? -1 : 1
}

/** The amount multiplied by `numerator / denominator`, rounded to the decimal places of the amount, half of one up. */
export function share(amount: string, numerator: bigint, denominator: bigint): string {
  const { units, decimals } = unitsOf(amount)
  return withDecimals((2n * units * numerator + denominator) / (2n * denominator), decimals)
}

/** The next multiple of `step` whole units of the currency that is higher than the amount. */
export function nextMultiple(amount: string, step: bigint): string {
  const { units, decimals } = unitsOf(amount)
  const unit = step * 10n ** BigInt(decimals)
  return withDecimals((units / unit + 1n) * unit, decimals)
}

/** Of an amount that is not negative. */
function unitsOf(amount: string): { units: bigint; decimals: number } {
  const [whole = '', fraction = ''] = amount.split('.')
  return { units: BigInt(whole + fraction), decimals: fraction.length }
}

function withDecimals(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

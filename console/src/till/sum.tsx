// An amount of the till: what leaves it is red.
import { type Amount, amountText, isNegative } from '../profile/price.ts'

export function Sum({ amount }: { amount: Amount }) {
  return (
    <span className={isNegative(amount.amount) ? 'till-sum minus' : 'till-sum'}>{amountText(amount)}</span>
  )
}

interface SumRowProps {
  label: string
  amount: Amount
  /** Below a line, such as a total. */
  isTotal?: boolean
}

/** A line of a calculation in a dialog. */
export function SumRow({ label, amount, isTotal = false }: SumRowProps) {
  return (
    <div className="sum-row" data-total={isTotal || undefined}>
      <span>{label}</span>
      <Sum amount={amount} />
    </div>
  )
}

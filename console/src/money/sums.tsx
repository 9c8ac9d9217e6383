// The sum of a dialog: a line for each amount, which a person can type or only read, and what results.
import './money.css'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { PriceField } from '../profile/price-field.tsx'
import { signOf } from './amounts.ts'
import { type Amount, amountText } from '../profile/price.ts'

export function Sums({ children }: { children: ReactNode }) {
  return <div className="sums">{children}</div>
}

/** An amount that a person types. */
export function SumField({
  label,
  ...props
}: Omit<ComponentProps<typeof PriceField>, 'label'> & { label: string }) {
  const id = useId()
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <PriceField
        {...props}
        id={id}
        label={undefined}
        inputWrapperOrder={['input', 'description', 'error']}
      />
    </>
  )
}

export function SumLine({ label, children }: { label: ReactNode; children: ReactNode }) {
  return (
    <>
      <span>{label}</span>
      <span className="sum">{children}</span>
    </>
  )
}

/** What results, in large figures. Money that leaves the till is red. */
export function SumTotal({ label, amount }: { label: string; amount: Amount }) {
  return (
    <p className="sum-total" aria-live="polite">
      <span>{label}</span> <b data-negative={signOf(amount.amount) < 0 || undefined}>{amountText(amount)}</b>
    </p>
  )
}

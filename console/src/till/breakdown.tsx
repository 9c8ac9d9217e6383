// The same net by payment, category and seller. On a phone, one of them at a time.
import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import { categoriesQuery, categoryName } from '../pets/queries.ts'
import { useStore } from '../session/session.ts'
import {
  categoryLines,
  type MethodLine,
  methodLines,
  sellerLines,
  shares,
  type SumLine,
  type TillTotals,
} from './day-totals.ts'
import { Sum } from './sum.tsx'

const PARTS = [
  { value: 'payment', label: 'Payment' },
  { value: 'category', label: 'Category' },
  { value: 'seller', label: 'Seller' },
]

export function Breakdown({ totals }: { totals: TillTotals }) {
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  const [part, setPart] = useState('payment')
  const methods = methodLines(totals.byMethod)
  if (totals.sums.length === 0) return null
  const lines: Record<string, SumLine[]> = {
    payment: methods,
    category: categoryLines(totals.byCategory, (id) => categoryName(categories, id)),
    seller: sellerLines(totals.bySeller),
  }
  return (
    <div className="breakdown">
      <div className="only-phone">
        <SegmentedControl aria-label="Totals by" fullWidth data={PARTS} value={part} onChange={setPart} />
      </div>
      <div className="card">
        {PARTS.map(({ value, label }) => (
          <Part
            key={value}
            title={`By ${label.toLowerCase()}`}
            isShown={value === part}
            lines={lines[value] ?? []}
          >
            {value === 'payment' && <Bar lines={methods} />}
          </Part>
        ))}
      </div>
    </div>
  )
}

interface PartProps {
  title: string
  /** On a phone. */
  isShown: boolean
  lines: (SumLine & Partial<MethodLine>)[]
  children: ReactNode
}

function Part({ title, isShown, lines, children }: PartProps) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={isShown ? undefined : 'only-desk'}>
      <h2 id={id}>{title}</h2>
      <ul className="plain-list">
        {lines.map((line) => (
          <li key={`${line.label} ${line.amount.currency}`}>
            {'method' in line && <span className="method-key" data-method={line.method} />}
            <span>{line.label}</span>
            <Sum amount={line.amount} />
          </li>
        ))}
      </ul>
      {children}
    </section>
  )
}

function Bar({ lines }: { lines: MethodLine[] }) {
  const parts = shares(lines)
  return (
    parts && (
      <div className="method-bar" aria-hidden="true">
        {lines.map(({ method, label }, index) => (
          <i key={label} data-method={method} style={{ flex: parts[index] }} />
        ))}
      </div>
    )
  )
}

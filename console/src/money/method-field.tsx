// How money is paid or given back: one of four.
import './money.css'
import { Radio } from '@mantine/core'
import { BankIcon, BanknoteIcon, CardIcon, GiftIcon } from '../layout/icons.tsx'
import { type Method, METHODS, methodText } from './words.ts'

const ICONS = { cash: BanknoteIcon, card: CardIcon, transfer: BankIcon, other: GiftIcon }

interface Props {
  label: string
  value: Method | undefined
  onChange: (method: Method) => void
  error?: string | undefined
  /** The dialog opens with the focus here. */
  isFirst?: boolean
}

export function MethodField({ label, value, onChange, error, isFirst = false }: Props) {
  return (
    <Radio.Group label={label} value={value ?? null} error={error} onChange={onChange}>
      <div className="methods">
        {METHODS.map((method, index) => {
          const Icon = ICONS[method]
          return (
            <Radio.Card
              key={method}
              value={method}
              aria-label={methodText(method)}
              data-autofocus={(isFirst && index === 0) || undefined}
            >
              <Icon size={20} />
              {methodText(method)}
            </Radio.Card>
          )
        })}
      </div>
    </Radio.Group>
  )
}

// Why money is given back or a price is corrected: one of five.
import './money.css'
import { Chip, Input } from '@mantine/core'
import { type Reason, REASONS, reasonText } from './words.ts'

interface Props {
  value: Reason | undefined
  onChange: (reason: Reason) => void
  error?: string | undefined
  /** The dialog opens with the focus here. */
  isFirst?: boolean
}

export function ReasonField({ value, onChange, error, isFirst = false }: Props) {
  return (
    <Input.Wrapper label="Reason" labelElement="div" labelProps={{ id: 'entry-reason' }} error={error}>
      <div className="reasons" role="radiogroup" aria-labelledby="entry-reason">
        <Chip.Group value={value ?? null} onChange={onChange}>
          {REASONS.map((reason, index) => (
            <Chip
              key={reason}
              value={reason}
              variant="outline"
              data-autofocus={(isFirst && index === 0) || undefined}
            >
              {reasonText(reason)}
            </Chip>
          ))}
        </Chip.Group>
      </div>
    </Input.Wrapper>
  )
}

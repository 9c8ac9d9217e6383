// Chooses the days whose sales the page shows.
import { Group, SegmentedControl, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { isDay } from '../layout/dates.ts'
import { choiceOf, chosenRange, type DayRange, type RangeChoice, type SalesSearch } from './range.ts'

const CHOICES: { value: RangeChoice; label: string }[] = [
  { value: 'today', label: 'Today' },
  { value: 'yesterday', label: 'Yesterday' },
  { value: 'week', label: '7 days' },
  { value: 'month', label: '30 days' },
  { value: 'other', label: 'Other' },
]

const DAY_MIN = '2000-01-01'

interface Props {
  range: DayRange
  today: string
  onChange: (days: SalesSearch) => void
}

export function RangeField({ range, today, onChange }: Props) {
  const [isOther, setOther] = useState(false)
  const choice = isOther ? 'other' : choiceOf(range, today)
  function choose(next: RangeChoice): void {
    setOther(next === 'other')
    if (next !== 'other') onChange(chosenRange(next, today))
  }
  return (
    <Group align="flex-end" gap="sm" className="sales-range">
      <SegmentedControl aria-label="Days" data={CHOICES} value={choice} onChange={choose} />
      {choice === 'other' && (
        <Group gap="sm" wrap="nowrap">
          <DayField
            label="From"
            day={range.from}
            today={today}
            onChange={(from) => onChange({ from, to: from > range.to ? from : range.to })}
          />
          <DayField
            label="To"
            day={range.to}
            today={today}
            onChange={(to) => onChange({ from: to < range.from ? to : range.from, to })}
          />
        </Group>
      )}
    </Group>
  )
}

interface DayFieldProps {
  label: string
  day: string
  today: string
  onChange: (day: string) => void
}

/** While a person types a date, the field has no value or an early year. The page keeps the last day. */
function DayField({ label, day, today, onChange }: DayFieldProps) {
  const [text, setText] = useState(day)
  useEffect(() => setText(day), [day])
  return (
    <TextInput
      type="date"
      label={label}
      min={DAY_MIN}
      max={today}
      value={text}
      onChange={({ currentTarget: { value } }) => {
        setText(value)
        if (isDay(value) && value >= DAY_MIN && value <= today) onChange(value)
      }}
    />
  )
}

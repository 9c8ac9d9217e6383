// Chooses the days that the till shows: one day after the other with the arrows, any days in the window below.
import { ActionIcon, Button, Group, Popover, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { isDay } from '../layout/dates.ts'
import { ForwardIcon } from '../layout/icons.tsx'
import {
  choiceOf,
  chosenRange,
  type DayRange,
  movedRange,
  type RangeChoice,
  rangeText,
  steppedRange,
  type TillSearch,
} from './range.ts'

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
  onChange: (days: TillSearch) => void
}

export function DayField({ range, today, onChange }: Props) {
  const later = steppedRange(range, 1, today)
  const isDays = range.from !== range.to
  return (
    <Group gap={4} wrap="nowrap" className="day-field">
      <ActionIcon
        aria-label={isDays ? 'Days before' : 'Day before'}
        className="earlier"
        onClick={() => onChange(steppedRange(range, -1, today) ?? {})}
      >
        <ForwardIcon />
      </ActionIcon>
      <Popover position="bottom-start" shadow="md" trapFocus>
        <Popover.Target>
          <Button size="xs" variant="default" aria-haspopup="dialog">
            {rangeText(range, today)}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label="Days">
          <RangeField range={range} today={today} onChange={onChange} />
        </Popover.Dropdown>
      </Popover>
      <ActionIcon
        aria-label={isDays ? 'Days after' : 'Day after'}
        disabled={later === undefined}
        onClick={() => later && onChange(later)}
      >
        <ForwardIcon />
      </ActionIcon>
    </Group>
  )
}

function RangeField({ range, today, onChange }: Props) {
  const [isOther, setOther] = useState(false)
  const choice = isOther ? 'other' : choiceOf(range, today)
  function choose(next: RangeChoice): void {
    setOther(next === 'other')
    if (next !== 'other') onChange(chosenRange(next, today))
  }
  const move = (moved: TillSearch) => onChange(movedRange(range, moved, today))
  return (
    <Stack gap="sm">
      <SegmentedControl aria-label="Days" data={CHOICES} value={choice} onChange={choose} />
      <Group gap="sm" grow wrap="nowrap">
        <DayInput label="From" day={range.from} today={today} onChange={(from) => move({ from })} />
        <DayInput label="To" day={range.to} today={today} onChange={(to) => move({ to })} />
      </Group>
    </Stack>
  )
}

interface DayInputProps {
  label: string
  day: string
  today: string
  onChange: (day: string) => void
}

/** While a person types a date, the field has no value or an early year. The page keeps the last day. */
function DayInput({ label, day, today, onChange }: DayInputProps) {
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

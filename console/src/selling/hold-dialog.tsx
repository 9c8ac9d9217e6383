// The dialog that holds a pet for a customer. If another person takes the pet meanwhile, it says who.
import { Button, Group, Input, NumberInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import type { Pet } from '@petstore/client'
import { type FormEvent, useState } from 'react'
import { useTimedText } from '../layout/clock.ts'
import { Dialog } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { PriceField } from '../profile/price-field.tsx'
import { readClosingTime, rememberClosingTime } from './closing-time.ts'
import { clockText, minutesUntil } from './hold-time.ts'
import { NoteField } from './note-field.tsx'
import { TakenAlert } from './taken-alert.tsx'
import { useDialogAction, useTakenText } from './use-dialog-action.ts'
import { usePrice } from './use-price.ts'
import { useSelling } from './use-selling.ts'

const LENGTHS = [
  { value: '15', label: '15 min' },
  { value: '30', label: '30 min' },
  { value: '60', label: '1 h' },
  { value: 'closing', label: 'Until closing' },
  { value: 'other', label: 'Other' },
]
const LENGTH_DEFAULT = '60'
/** The limits of the service. A week is the max. */
const MINUTES_MAX = 10_080
const MINUTE_MS = 60_000

interface Props {
  pet: Pet
  onClose: () => void
}

export function HoldDialog({ pet, onClose }: Props) {
  const [note, setNote] = useState('')
  const length = useLength()
  const price = usePrice(pet, undefined)
  const { hold, isPending } = useSelling(pet)
  const { run, isDone, error } = useDialogAction(pet, onClose)
  const taken = useTakenText(pet)
  const isTaken = taken !== undefined && !isPending && !isDone

  function submit(event: FormEvent): void {
    event.preventDefault()
    const minutes = length.minutesAt(Date.now())
    if (minutes === undefined || price.fault !== undefined) return
    void run(() => hold({ minutes, note, price: price.amount }))
  }

  return (
    <Dialog title={`Hold ${pet.name} · No. ${pet.id}`} onClose={onClose} focusId={`pet-${pet.id}`}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <NoteField
            description="Optional. Who is it for, and when do they come?"
            placeholder="Ms Okafor, comes at noon"
            value={note}
            onChange={setNote}
          />
          <PriceField {...price.field} />
          <LengthField {...length} />
          <UntilText {...length} />
          {isTaken && error === undefined && <TakenAlert pet={pet} taken={taken} />}
          {error !== undefined && <ErrorMessage error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {isTaken ? 'Close' : 'Cancel'}
            </Button>
            <Button type="submit" loading={isPending} disabled={isTaken}>
              Hold
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

interface Length {
  choice: string
  choose: (choice: string) => void
  closingTime: string
  setClosingTime: (time: string) => void
  minutes: number | string
  setMinutes: (minutes: number | string) => void
  /** Undefined if the choice is not possible. */
  minutesAt: (nowMs: number) => number | undefined
}

function useLength(): Length {
  const [choice, choose] = useState(LENGTH_DEFAULT)
  const [closingTime, setClosingTime] = useState(readClosingTime)
  const [minutes, setMinutes] = useState<number | string>(120)
  return {
    choice,
    choose,
    closingTime,
    setClosingTime: (time) => {
      setClosingTime(time)
      if (time !== '') rememberClosingTime(time)
    },
    minutes,
    setMinutes,
    minutesAt: (nowMs) => {
      if (choice === 'closing') return minutesUntil(closingTime, nowMs)
      const wanted = Number(choice === 'other' ? minutes : choice)
      return Number.isInteger(wanted) && wanted >= 1 && wanted <= MINUTES_MAX ? wanted : undefined
    },
  }
}

function LengthField({ choice, choose, closingTime, setClosingTime, minutes, setMinutes }: Length) {
  return (
    <Stack gap="xs">
      <Input.Wrapper label="For how long" labelElement="div" labelProps={{ id: 'hold-length' }}>
        <SegmentedControl
          aria-labelledby="hold-length"
          className="hold-lengths"
          fullWidth
          data={LENGTHS}
          value={choice}
          onChange={choose}
        />
      </Input.Wrapper>
      {choice === 'closing' && (
        <TextInput
          type="time"
          label="The shop closes at"
          description="This browser remembers it."
          value={closingTime}
          onChange={(event) => setClosingTime(event.currentTarget.value)}
        />
      )}
      {choice === 'other' && (
        <NumberInput
          label="Minutes"
          description="One week at most."
          min={1}
          max={MINUTES_MAX}
          allowDecimal={false}
          hideControls
          value={minutes}
          onChange={setMinutes}
        />
      )}
    </Stack>
  )
}

function UntilText({ choice, minutesAt }: Length) {
  const until = useTimedText((now) => {
    const minutes = minutesAt(now)
    return minutes === undefined ? '' : clockText(now + minutes * MINUTE_MS, now)
  })
  if (until !== '') {
    return (
      <Text size="sm" c="dimmed" aria-live="polite">
        Held until {until}. Then the pet is available again.
      </Text>
    )
  }
  return (
    <Text size="sm" c="var(--danger-text)" aria-live="polite">
      {choice === 'closing'
        ? 'This time has passed. Choose another one.'
        : `Enter 1 to ${MINUTES_MAX} minutes.`}
    </Text>
  )
}

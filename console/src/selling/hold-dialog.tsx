// The dialog that holds a pet for a customer. If another person takes the pet meanwhile, it says who.
import {
  Alert,
  Button,
  Group,
  Input,
  NumberInput,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import type { Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { useTimedText } from '../layout/clock.ts'
import { Dialog } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import { petQuery } from '../pets/queries.ts'
import { useStore } from '../session/session.ts'
import { readClosingTime, rememberClosingTime } from './closing-time.ts'
import { conflictText } from './conflict-text.ts'
import { clockText, minutesUntil } from './hold-time.ts'
import { useOpenOrder } from './queries.ts'
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
const NOTE_LENGTH_MAX = 500
const MINUTE_MS = 60_000

interface Props {
  pet: Pet
  onClose: () => void
}

export function HoldDialog({ pet, onClose }: Props) {
  const [note, setNote] = useState('')
  const [isHeld, setHeld] = useState(false)
  const [error, setError] = useState<Error>()
  const notify = useNotify()
  const length = useLength()
  const { hold, isPending } = useSelling(pet)
  const taken = useTakenText(pet)
  const isTaken = taken !== undefined && !isPending && !isHeld
  const isOpen = useIsOpen()

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    const minutes = length.minutesAt(Date.now())
    if (minutes === undefined) return
    setError(undefined)
    try {
      await hold({ minutes, note })
      setHeld(true)
      if (isOpen.current) onClose()
    } catch (failure) {
      if (isOpen.current) setError(failure as Error)
      else notify.error(failure as Error, pet.id)
    }
  }

  return (
    <Dialog title={`Hold ${pet.name} · No. ${pet.id}`} onClose={onClose} focusId={`pet-${pet.id}`}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          <TextInput
            label="Note"
            description="Optional. Who is it for, and when do they come?"
            placeholder="Ms Okafor, comes at noon"
            maxLength={NOTE_LENGTH_MAX}
            data-autofocus
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
          <LengthField {...length} />
          <UntilText {...length} />
          {isTaken && error === undefined && (
            <Alert color="yellow" role="alert" title={`${pet.name} is not available any more`}>
              {taken}
            </Alert>
          )}
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

/** A person can close the dialog while a request is in flight, and open it for another pet. */
function useIsOpen(): RefObject<boolean> {
  const isOpen = useRef(false)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
    }
  }, [])
  return isOpen
}

/** Who has taken the pet while the dialog is open. */
function useTakenText(pet: Pet): string | undefined {
  const { data: current } = useQuery(petQuery(useStore(), pet.id))
  const { order } = useOpenOrder(current ?? pet)
  if (current === undefined || current?.status === 'available') return undefined
  return conflictText(current?.status, order, Date.now())
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

// The dialog that holds a pet for a customer. If another person takes the pet meanwhile, it says who.
import { Button, Input, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import type { Pet } from '@petstore/client'
import { type FormEvent, useState } from 'react'
import { useTimedText } from '../layout/clock.ts'
import { addDays, dayOf } from '../layout/dates.ts'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { MethodField } from '../money/method-field.tsx'
import type { Method } from '../money/words.ts'
import { shopCurrency } from '../shop/shop.ts'
import { PriceField } from '../profile/price-field.tsx'
import { signOf } from '../money/amounts.ts'
import { amountText, readAmount } from '../profile/price.ts'
import { priceFault } from '../profile/profile-values.ts'
import { readClosingTime, rememberClosingTime } from './closing-time.ts'
import { clockText, minutesUntil } from '../layout/hold-time.ts'
import { NoteField } from './note-field.tsx'
import { TakenAlert } from './taken-alert.tsx'
import { usePrice } from './use-price.ts'
import { useSelling } from './use-selling.ts'
import { useTakenText } from './use-taken-text.ts'

const LENGTHS = [
  { value: '15', label: '15 min' },
  { value: '30', label: '30 min' },
  { value: '60', label: '1 h' },
  { value: 'closing', label: 'Until closing' },
  { value: 'other', label: 'Other' },
]
const LENGTH_DEFAULT = '60'
const MINUTE_MS = 60_000

interface Props {
  pet: Pet
  onClose: () => void
}

export function HoldDialog({ pet, onClose }: Props) {
  const [note, setNote] = useState('')
  const length = useLength()
  const price = usePrice(pet, undefined)
  const deposit = useDeposit()
  const { hold, isPending, isDone, error } = useSelling(pet, onClose)
  const taken = useTakenText(pet)
  const isTaken = taken !== undefined && !isPending && !isDone

  function submit(event: FormEvent): void {
    event.preventDefault()
    const minutes = length.minutesAt(Date.now())
    deposit.setTried(true)
    if (minutes === undefined || price.fault !== undefined || deposit.fault !== undefined) return
    hold({ minutes, note, ...price.given, deposit: deposit.amount, method: deposit.method })
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
          <DepositFields {...deposit} />
          {isTaken && error === undefined && <TakenAlert pet={pet} taken={taken} />}
          {error !== undefined && <ErrorMessage error={error} />}
          <DialogFoot>
            <Button variant="default" onClick={onClose}>
              {isTaken ? 'Close' : 'Cancel'}
            </Button>
            <Button type="submit" loading={isPending} disabled={isTaken}>
              {deposit.amount === undefined
                ? 'Hold'
                : `Hold, take ${amountText({ currency: shopCurrency().code, amount: deposit.amount })}`}
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </Dialog>
  )
}

type Deposit = ReturnType<typeof useDeposit>

/** Money that the customer pays now. */
function useDeposit() {
  const [typed, setTyped] = useState('')
  const [method, setMethod] = useState<Method>()
  const [isTried, setTried] = useState(false)
  const amount = typed.trim() === '' ? undefined : readAmount(typed, shopCurrency())
  const isNothing = amount === undefined || signOf(amount) === 0
  const typedFault = priceFault(typed, shopCurrency())
  const isWithoutMethod = !isNothing && method === undefined
  return {
    typed,
    setTyped,
    typedFault,
    method,
    setMethod,
    setTried,
    amount: isNothing ? undefined : amount,
    methodFault: isTried && isWithoutMethod ? 'Choose how the deposit is paid.' : undefined,
    fault: typedFault ?? (isWithoutMethod ? 'Choose how the deposit is paid.' : undefined),
  }
}

function DepositFields({ typed, setTyped, typedFault, amount, method, setMethod, methodFault }: Deposit) {
  return (
    <>
      <PriceField
        label="Deposit"
        placeholder="Optional"
        currency={shopCurrency().code}
        value={typed}
        error={typedFault}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {amount !== undefined && (
        <MethodField label="Deposit paid by" value={method} onChange={setMethod} error={methodFault} />
      )}
    </>
  )
}

interface Length {
  choice: string
  choose: (choice: string) => void
  closingTime: string
  setClosingTime: (time: string) => void
  /** The end that the person chooses, such as "2026-11-21T12:00". */
  otherTime: string
  setOtherTime: (time: string) => void
  /** Undefined if the choice is not possible. */
  minutesAt: (nowMs: number) => number | undefined
}

function useLength(): Length {
  const [choice, choose] = useState(LENGTH_DEFAULT)
  const [closingTime, setClosingTime] = useState(readClosingTime)
  const [otherTime, setOtherTime] = useState(() => `${addDays(dayOf(Date.now()), 1)}T${closingTime}`)
  return {
    choice,
    choose,
    closingTime,
    setClosingTime: (time) => {
      setClosingTime(time)
      if (time !== '') rememberClosingTime(time)
    },
    otherTime,
    setOtherTime,
    minutesAt: (nowMs) => {
      if (choice === 'closing') return minutesUntil(`${dayOf(nowMs)}T${closingTime}`, nowMs)
      return choice === 'other' ? minutesUntil(otherTime, nowMs) : Number(choice)
    },
  }
}

function LengthField({ choice, choose, closingTime, setClosingTime, otherTime, setOtherTime }: Length) {
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
        <TextInput
          type="datetime-local"
          label="Until"
          description="One week at most."
          value={otherTime}
          onChange={(event) => setOtherTime(event.currentTarget.value)}
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
    <Text size="sm" c="var(--bad-ink)" aria-live="polite">
      {choice === 'closing'
        ? 'This time has passed. Choose another one.'
        : 'Choose a time in the next 7 days.'}
    </Text>
  )
}

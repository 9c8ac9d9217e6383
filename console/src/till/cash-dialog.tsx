// Puts cash into the drawer or takes it out, without a sale: change from the bank, stamps, hay.
import { Button, Group, SegmentedControl, Stack, TextInput } from '@mantine/core'
import type { CashMovement } from '@petstore/client'
import { CASH_MOVEMENT } from '@petstore/client/rules'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import { LineNote } from '../layout/tints.tsx'
import { useOnceKey } from '../money/once-key.ts'
import { shopCurrency } from '../shop/shop.ts'
import { PriceField } from '../profile/price-field.tsx'
import { addAmounts, amountText, exampleAmount, isZero, negated, readAmount } from '../profile/price.ts'
import { KEYS } from '../session/query-keys.ts'
import { useStore } from '../session/session.ts'
import { zeroOf } from './cash-count.ts'
import { drawerQuery } from './queries.ts'
import { SumRow } from './sum.tsx'

const DIRECTIONS = [
  { value: 'in', label: 'Put cash in' },
  { value: 'out', label: 'Take cash out' },
]
const OFTEN = {
  in: ['Change from the bank'],
  out: ['To the bank', 'Stamps', 'Hay and straw', 'Vet, in cash'],
}

type Direction = CashMovement['direction']

export function CashDialog({ onClose }: { onClose: () => void }) {
  const [direction, setDirection] = useState<Direction>('out')
  const [typed, setTyped] = useState('')
  const [note, setNote] = useState('')
  const [isChecked, setChecked] = useState(false)
  const { record, isPending, error } = useRecordCash(onClose)
  const amount = readAmount(typed, shopCurrency())
  const isAmount = amount !== undefined && !isZero(amount)
  const faults = {
    amount: isAmount ? undefined : `Enter an amount such as ${exampleAmount(shopCurrency().decimals)}.`,
    note: note.trim() === '' ? 'Enter what it is for.' : undefined,
  }

  function submit(event: FormEvent): void {
    event.preventDefault()
    setChecked(true)
    if (amount === undefined || !isAmount || faults.note !== undefined) return
    record({ direction, amount, currency: shopCurrency().code, note: note.trim() })
  }

  return (
    <Dialog title="Cash in or out" about="Money that moves without a sale" onClose={onClose} isForm>
      <form onSubmit={submit} noValidate>
        <Stack>
          <SegmentedControl
            aria-label="Direction"
            fullWidth
            data={DIRECTIONS}
            value={direction}
            onChange={(value) => setDirection(value as Direction)}
          />
          <PriceField
            label="Amount"
            currency={shopCurrency().code}
            value={typed}
            error={isChecked && faults.amount}
            data-autofocus
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <div>
            <TextInput
              label="What for?"
              maxLength={CASH_MOVEMENT.note.maxLength}
              value={note}
              error={isChecked && faults.note}
              onChange={(event) => setNote(event.currentTarget.value)}
            />
            <Group gap="xs" mt="xs" role="group" aria-label="Often used">
              {OFTEN[direction].map((text) => (
                <button key={text} type="button" className="often" onClick={() => setNote(text)}>
                  {text}
                </button>
              ))}
            </Group>
          </div>
          <Drawer direction={direction} amount={isAmount ? amount : undefined} />
          <LineNote>
            Counts for the drawer, in no sale and for no seller. An entry stays: put a mistake right with an
            opposite one.
          </LineNote>
          {error !== null && <ErrorMessage error={error} />}
          <DialogFoot>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending}>
              {direction === 'in' ? 'Put in' : 'Take out'}
              {isAmount && ` ${amountText({ currency: shopCurrency().code, amount })}`}
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </Dialog>
  )
}

/** What the drawer should contain, before and after. */
function Drawer({
  direction,
  amount = zeroOf(shopCurrency()),
}: {
  direction: Direction
  amount: string | undefined
}) {
  const { data: totals } = useQuery(drawerQuery(useStore(), {}))
  const drawer = totals?.drawer
  if (drawer === undefined) return null
  const { currency, expected } = drawer
  const moved = direction === 'in' ? amount : negated(amount)
  const then = addAmounts([expected, moved])
  return (
    <div>
      <SumRow label="Expected in the drawer now" amount={{ currency, amount: expected }} />
      <SumRow label={direction === 'in' ? 'Put in' : 'Taken out'} amount={{ currency, amount: moved }} />
      <SumRow label="Expected then" amount={{ currency, amount: then }} isTotal />
    </div>
  )
}

/** After a lost response, the same values are sent with the same key, so that the cash is recorded once. */
function useRecordCash(onDone: () => void) {
  const store = useStore()
  const cache = useQueryClient()
  const notify = useNotify()
  const onceKey = useOnceKey()
  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ movement, idempotencyKey }: { movement: CashMovement; idempotencyKey: string }) =>
      store.till.recordCash(movement, { idempotencyKey }),
    onSuccess: (_, { movement: { direction, amount, currency = shopCurrency().code } }) => {
      const text = amountText({ currency, amount })
      notify.done(direction === 'in' ? `${text} put into the drawer.` : `${text} taken out of the drawer.`)
      onDone()
    },
    onSettled: () => void cache.invalidateQueries({ queryKey: KEYS.till }),
  })
  const record = (movement: CashMovement) => mutate({ movement, idempotencyKey: onceKey(movement) })
  return { record, isPending, error }
}

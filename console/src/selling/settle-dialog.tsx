// The dialog that gives back a deposit, or a part of it. The shop keeps the rest.
import { Button, Stack } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { MethodField } from '../money/method-field.tsx'
import { useOnceKey } from '../money/once-key.ts'
import { entriesOfPetQuery } from '../money/queries.ts'
import { SumField, SumLine, Sums } from '../money/sums.tsx'
import type { Method } from '../money/words.ts'
import { signOf, subtract } from '../money/amounts.ts'
import { amountText } from '../profile/price.ts'
import { useStore } from '../session/session.ts'
import { readRefund } from './refund.ts'
import { currencyOfSale } from './sale-currency.ts'
import { useSelling } from './use-selling.ts'

interface Props {
  pet: Pet
  /** It has ended, and holds a deposit. */
  order: Order
  onClose: () => void
}

export function SettleDialog({ pet, order, onClose }: Props) {
  const { deposit = '0', note } = order
  const { data: entries = [] } = useQuery(entriesOfPetQuery(useStore(), pet.id))
  const paidBy = entries.find(({ orderId, kind }) => orderId === order.id && kind === 'deposit')?.method
  const [typed, setTyped] = useState(deposit)
  const [method, setMethod] = useState<Method>()
  const [isTried, setTried] = useState(false)
  const onceKey = useOnceKey()
  const { settleDeposit, isPending, error } = useSelling(pet, onClose)
  const ofOrder = currencyOfSale(order)
  const currency = ofOrder.code
  const { amount, fault } = readRefund(typed, deposit, ofOrder)
  const used = method ?? paidBy
  const kept = amount === undefined ? undefined : subtract(deposit, amount)
  const isFree = amount !== undefined && signOf(amount) === 0

  function submit(event: FormEvent): void {
    event.preventDefault()
    setTried(true)
    if (amount === undefined || (used === undefined && !isFree)) return
    const values = { amount, currency, method: isFree ? undefined : used }
    settleDeposit(order, { ...values, idempotencyKey: onceKey(values) })
  }

  return (
    <Dialog
      title={`Give back the deposit for ${pet.name}`}
      about={note}
      onClose={onClose}
      focusId={`deposit-${order.id}`}
      isShort
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <Sums>
            <SumLine label="Deposit">{amountText({ currency, amount: deposit })}</SumLine>
            <SumField
              label="Give back"
              currency={currency}
              value={typed}
              error={fault}
              data-autofocus
              autoFocus
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
            {kept !== undefined && signOf(kept) > 0 && (
              <SumLine label="The shop keeps">{amountText({ currency, amount: kept })}</SumLine>
            )}
          </Sums>
          {!isFree && (
            <MethodField
              label="Given back by"
              value={used}
              onChange={setMethod}
              error={isTried && used === undefined ? 'Choose how it is given back.' : undefined}
            />
          )}
          {error !== undefined && <ErrorMessage error={error} />}
          <DialogFoot>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending}>
              {amount === undefined || isFree
                ? 'Keep the deposit'
                : `Give back ${amountText({ currency, amount })}`}
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </Dialog>
  )
}

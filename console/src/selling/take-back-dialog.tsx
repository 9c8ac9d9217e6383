// The dialog that takes a sold pet back: what was paid, why it comes back, and what the customer gets.
import { Button, Stack } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { dateText } from '../layout/dates.ts'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { LineNote } from '../layout/tints.tsx'
import { paymentsOf } from '../money/entry-lines.ts'
import { MethodField } from '../money/method-field.tsx'
import { useOnceKey } from '../money/once-key.ts'
import { entriesOfPetQuery } from '../money/queries.ts'
import { ReasonField } from '../money/reason-field.tsx'
import { SumField, SumLine, Sums, SumTotal } from '../money/sums.tsx'
import { byText, type Method, type Reason } from '../money/words.ts'
import { signOf } from '../money/amounts.ts'
import { amountText } from '../profile/price.ts'
import { useStore } from '../session/session.ts'
import { readRefund } from './refund.ts'
import { currencyOfSale } from './sale-currency.ts'
import { soldText } from './sold-text.ts'
import { useSaleEntry } from './use-sale-entry.ts'
import { useSelling } from './use-selling.ts'

interface Props {
  pet: Pet
  sale: Order
  onClose: () => void
}

export function TakeBackDialog({ pet, sale, onClose }: Props) {
  const { netPrice = '0' } = sale
  const ofSale = currencyOfSale(sale)
  const currency = ofSale.code
  const [typed, setTyped] = useState(netPrice)
  const [method, setMethod] = useState<Method>()
  const [reason, setReason] = useState<Reason>()
  const [isTried, setTried] = useState(false)
  const paidBy = useSaleEntry(pet, sale)?.method
  const onceKey = useOnceKey()
  const { takeBack, isPending, error } = useSelling(pet, onClose)
  const { amount, fault } = readRefund(typed, netPrice, ofSale)
  const isFree = amount !== undefined && signOf(amount) === 0
  const used = method ?? paidBy
  const methodFault = !isFree && used === undefined ? 'Choose how it is given back.' : undefined

  function submit(event: FormEvent): void {
    event.preventDefault()
    setTried(true)
    if (amount === undefined || reason === undefined || methodFault !== undefined) return
    const values = { amount, currency, method: isFree ? undefined : used, reason }
    takeBack(sale, { ...values, idempotencyKey: onceKey(values) })
  }

  return (
    <Dialog
      title={`Take back ${pet.name} · No. ${pet.id}`}
      about={soldText(sale)}
      onClose={onClose}
      focusId={`pet-${pet.id}`}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <Payments pet={pet} sale={sale} />
          <ReasonField
            value={reason}
            onChange={setReason}
            error={isTried && reason === undefined ? 'Choose a reason.' : undefined}
            isFirst
          />
          <Sums>
            <SumField
              label="Refund"
              currency={currency}
              value={typed}
              error={fault}
              description={amount === netPrice ? 'All that was paid.' : undefined}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          </Sums>
          {!isFree && (
            <MethodField
              label="Refund by"
              value={used}
              onChange={setMethod}
              error={isTried ? methodFault : undefined}
            />
          )}
          <LineNote>{pet.name} is then available again. The refund is in the till of today.</LineNote>
          {error !== undefined && <ErrorMessage error={error} />}
          <DialogFoot>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending}>
              {takeBackText(amount, currency)}
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </Dialog>
  )
}

/** The amount that moves. */
function takeBackText(amount: string | undefined, currency: string): string {
  if (amount === undefined) return 'Take back'
  return signOf(amount) === 0
    ? 'Take back without a refund'
    : `Take back, refund ${amountText({ currency, amount })}`
}

/** What was paid and how. */
function Payments({ pet, sale }: { pet: Pet; sale: Order }) {
  const { data: entries = [] } = useQuery(entriesOfPetQuery(useStore(), pet.id))
  const payments = paymentsOf(entries, sale.id)
  const { netPrice = '0' } = sale
  const isMixed = new Set(payments.map(({ method }) => method)).size > 1
  return (
    <>
      <Sums>
        {payments.map(({ id, at, method, paid, currency: paidIn }) => (
          <SumLine
            key={id}
            label={`${signOf(paid) < 0 ? 'Given back' : 'Paid'} on ${dateText(at)} ${byText(method)}`}
          >
            {amountText({ currency: paidIn, amount: paid })}
          </SumLine>
        ))}
        <SumTotal label="Paid in all" amount={{ currency: currencyOfSale(sale).code, amount: netPrice }} />
      </Sums>
      {isMixed && (
        <LineNote>
          It was paid in more than one way. To give back a part in another way, choose Correct price for that
          part first.
        </LineNote>
      )}
    </>
  )
}

// The dialog that corrects the price of a sale: the right price, and how the difference is settled.
import { Button, Stack } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { type FormEvent, useState } from 'react'
import { calendarDayText, dayOf } from '../layout/dates.ts'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { LineNote } from '../layout/tints.tsx'
import { MethodField } from '../money/method-field.tsx'
import { ReasonField } from '../money/reason-field.tsx'
import { SumField, SumLine, Sums, SumTotal } from '../money/sums.tsx'
import type { Method, Reason } from '../money/words.ts'
import { absolute, signOf, subtract } from '../money/amounts.ts'
import { amountText, readAmount } from '../profile/price.ts'
import { priceFault } from '../profile/profile-values.ts'
import { currencyOfSale } from './sale-currency.ts'
import { soldText } from './sold-text.ts'
import { useSaleEntry } from './use-sale-entry.ts'
import { useSelling } from './use-selling.ts'

interface Props {
  pet: Pet
  sale: Order
  onClose: () => void
}

export function CorrectDialog({ pet, sale, onClose }: Props) {
  const { netPrice = '0' } = sale
  const ofSale = currencyOfSale(sale)
  const currency = ofSale.code
  const [typed, setTyped] = useState('')
  const [method, setMethod] = useState<Method>()
  const [reason, setReason] = useState<Reason>('wrong_price')
  const { method: paidBy, day: soldOn } = useSaleEntry(pet, sale) ?? {}
  const { correct, isPending, error } = useSelling(pet, onClose)
  const price = readAmount(typed, ofSale)
  const difference = price === undefined ? undefined : subtract(price, netPrice)
  const isSame = difference === undefined || signOf(difference) === 0

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (price !== undefined && !isSame) correct(sale, { price, currency, method: method ?? paidBy, reason })
  }

  return (
    <Dialog
      title={`Correct the price of ${pet.name} · No. ${pet.id}`}
      about={soldText(sale)}
      onClose={onClose}
      focusId={`pet-${pet.id}`}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <Sums>
            <SumLine label="Sold for">
              <span className={isSame ? undefined : 'struck'}>
                {amountText({ currency, amount: netPrice })}
              </span>
            </SumLine>
            <SumField
              label="Right price"
              currency={currency}
              value={typed}
              error={priceFault(typed, ofSale)}
              data-autofocus
              autoFocus
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
            {difference !== undefined && (
              <SumTotal
                label={signOf(difference) < 0 ? 'To give back' : 'To pay'}
                amount={{ currency, amount: difference }}
              />
            )}
          </Sums>
          <MethodField
            label={difference !== undefined && signOf(difference) < 0 ? 'Given back by' : 'Payment'}
            value={method ?? paidBy}
            onChange={setMethod}
          />
          <ReasonField value={reason} onChange={setReason} />
          <LineNote>{dayNote(soldOn ?? dayOf(sale.closedAt ?? ''))}</LineNote>
          {error !== undefined && <ErrorMessage error={error} />}
          <DialogFoot>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending} disabled={isSame}>
              {correctText(difference, currency)}
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </Dialog>
  )
}

/** The amount that moves. */
function correctText(difference: string | undefined, currency: string): string {
  if (difference === undefined || signOf(difference) === 0) return 'Correct'
  const amount = amountText({ currency, amount: absolute(difference) })
  return `Correct, ${signOf(difference) < 0 ? 'give back' : 'take'} ${amount}`
}

/** `day` is that for which the sale counts. */
function dayNote(day: string): string {
  return day >= dayOf(Date.now())
    ? 'The correction is a new entry in the till. The sale stays as it is.'
    : `The till of ${calendarDayText(day)} stays as it is. The correction is in the till of today.`
}

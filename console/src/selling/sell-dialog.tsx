// The dialog that sells a pet: to whom, at which price, and how it is paid.
import { Button, Checkbox, Stack, Text, UnstyledButton } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { clockText } from '../layout/hold-time.ts'
import { likelyCash } from '../money/change.ts'
import { MethodField } from '../money/method-field.tsx'
import { SumField, SumLine, Sums, SumTotal } from '../money/sums.tsx'
import type { Method } from '../money/words.ts'
import { shopCurrency } from '../shop/shop.ts'
import { absolute, signOf } from '../money/amounts.ts'
import { amountText } from '../profile/price.ts'
import { useScopes } from '../session/session.ts'
import { NoteField } from './note-field.tsx'
import { readReceiptChoice, rememberReceiptChoice } from './receipt-choice.ts'
import { type SaleSum, saleSum } from './sale-sum.ts'
import { TakenAlert } from './taken-alert.tsx'
import { usePrice } from './use-price.ts'
import { useSelling } from './use-selling.ts'
import { useTakenText } from './use-taken-text.ts'

interface Props {
  pet: Pet
  /** The open order of a pet on hold. */
  order: Order | undefined
  onClose: () => void
}

export function SellDialog({ pet, order, onClose }: Props) {
  const [note, setNote] = useState(order?.note ?? '')
  const payment = usePayment(pet, order)
  const { sum, method, isTried } = payment
  const { sell, isPending, isDone, error } = useSelling(pet, onClose)
  const taken = useTakenText(pet)
  const receipt = useReceiptChoice()
  const navigate = useNavigate()
  const isTaken = order === undefined && taken !== undefined && !isPending && !isDone

  function showReceipt(sold: Order | undefined): void {
    if (sold === undefined) return
    void navigate({ to: '/receipt/$orderId', params: { orderId: sold.id }, search: { original: true } })
  }

  function submit(event: FormEvent): void {
    event.preventDefault()
    payment.setTried(true)
    if (payment.isFaulty) return
    const { price, currency } = payment.given
    const discount = sum.hasDiscount ? ({ reason: 'discount' } as const) : {}
    const sale = { note, price, currency, ...(sum.needsMethod && { method }), ...discount }
    sell(order, sale, (outcome) => receipt.isWanted && showReceipt(outcome.order))
  }

  return (
    <Dialog
      title={`Sell ${pet.name} · No. ${pet.id}`}
      about={order && `Held by ${order.placedBy} until ${clockText(order.expiresAt, Date.now())}`}
      onClose={onClose}
      focusId={`pet-${pet.id}`}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <NoteField
            label="Buyer"
            description={order ? undefined : 'Optional. Who buys it?'}
            placeholder="Ms Okafor, 030 5550147"
            value={note}
            onChange={setNote}
            isNotFirst={order !== undefined}
          />
          <PaymentFields {...payment} deposit={order?.deposit} isMethodFirst={order !== undefined} />
          {isTaken && error === undefined && <TakenAlert pet={pet} taken={taken} />}
          {error !== undefined && <ErrorMessage error={error} />}
          {isTried && payment.isFaulty && (
            <Text size="sm" c="var(--bad-ink)" role="alert">
              {sum.faults.method ?? 'Check the amounts.'}
            </Text>
          )}
          <DialogFoot>
            {receipt.isOffered && (
              <Checkbox
                label="Receipt"
                checked={receipt.isWanted}
                onChange={receipt.toggle}
                mr="auto"
                my="auto"
              />
            )}
            <Button variant="default" onClick={onClose}>
              {isTaken ? 'Close' : 'Cancel'}
            </Button>
            <Button type="submit" loading={isPending} disabled={isTaken || payment.isLoading}>
              {sellText(sum, payment.currency)}
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </Dialog>
  )
}

/** The receipt shows the entries of the order. */
function useReceiptChoice() {
  const isOffered = useScopes().has('orders:read')
  const [isChosen, setChosen] = useState(readReceiptChoice)
  const toggle = () => {
    rememberReceiptChoice(!isChosen)
    setChosen(!isChosen)
  }
  return { isOffered, isWanted: isOffered && isChosen, toggle }
}

/** The amount that moves. */
function sellText({ due }: SaleSum, currency: string): string {
  if (due === undefined || signOf(due) === 0) return 'Sell'
  const amount = amountText({ currency, amount: absolute(due) })
  return signOf(due) < 0 ? `Sell, give back ${amount}` : `Sell for ${amount}`
}

type Payment = ReturnType<typeof usePayment>

function usePayment(pet: Pet, order: Order | undefined) {
  const price = usePrice(pet, order)
  const [discount, setDiscount] = useState('')
  const [method, setMethod] = useState<Method>()
  const [cash, setCash] = useState('')
  const [isTried, setTried] = useState(false)
  const input = { price: price.amount, discount, deposit: order?.deposit, method, given: cash }
  const sum = saleSum(input, shopCurrency())
  const hasFault = Object.values(sum.faults).some((fault) => fault !== undefined)
  return {
    priceField: price.field,
    isLoading: price.isLoading,
    currency: price.currency,
    /** What the service gets. */
    given: sum.hasDiscount ? { price: sum.price, currency: price.currency } : price.given,
    sum,
    isFaulty: price.fault !== undefined || hasFault,
    discount,
    setDiscount,
    method,
    setMethod,
    cash,
    setCash,
    /** Faults of what was not entered yet appear after the first attempt. */
    isTried,
    setTried,
  }
}

interface FieldsProps extends Payment {
  deposit: string | undefined
  isMethodFirst: boolean
}

function PaymentFields({ sum, currency, deposit, isMethodFirst, ...payment }: FieldsProps) {
  const { due, change, faults } = sum
  return (
    <>
      <Sums>
        <SumField label="Price" {...payment.priceField} />
        <SumField
          label="Discount"
          currency={payment.discount.includes('%') ? '' : currency}
          placeholder="10.00 or 10 %"
          inputMode="text"
          value={payment.discount}
          error={faults.discount}
          onChange={(event) => payment.setDiscount(event.currentTarget.value)}
        />
        {deposit !== undefined && (
          <SumLine label="Deposit">{amountText({ currency, amount: `-${deposit}` })}</SumLine>
        )}
        {due !== undefined && (
          <SumTotal
            label={signOf(due) < 0 ? 'To give back' : deposit === undefined ? 'Amount due' : 'To pay'}
            amount={{ currency, amount: due }}
          />
        )}
      </Sums>
      {sum.needsMethod && (
        <MethodField
          label="Payment"
          value={payment.method}
          onChange={payment.setMethod}
          error={payment.isTried ? faults.method : undefined}
          isFirst={isMethodFirst}
        />
      )}
      {payment.method === 'cash' && due !== undefined && signOf(due) > 0 && (
        <CashFields
          due={due}
          currency={currency}
          change={change}
          fault={faults.given}
          value={payment.cash}
          onChange={payment.setCash}
        />
      )}
    </>
  )
}

interface CashProps {
  due: string
  currency: string
  change: string | undefined
  fault: string | undefined
  value: string
  onChange: (cash: string) => void
}

/** What the customer gives, and the change. Nothing of it is stored. */
function CashFields({ due, currency, change, fault, value, onChange }: CashProps) {
  return (
    <Sums>
      <SumField
        label="Cash received"
        currency={currency}
        placeholder="Optional"
        value={value}
        error={fault}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <div className="suggestions">
        {likelyCash(due).map((amount) => (
          <UnstyledButton
            key={amount}
            className="suggestion"
            aria-pressed={value === amount}
            onClick={() => onChange(amount)}
          >
            {amountText({ currency, amount })}
          </UnstyledButton>
        ))}
      </div>
      {change !== undefined && (
        <SumLine label={<b>Change to give</b>}>
          <b role="status">{amountText({ currency, amount: change })}</b>
        </SumLine>
      )}
    </Sums>
  )
}

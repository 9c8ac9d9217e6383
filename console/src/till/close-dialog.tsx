// Closes a day: what is in the drawer, what should be there, and what stays there.
import { Button, Stack, Text, TextInput } from '@mantine/core'
import type { Closing, NewClosing, Totals } from '@petstore/client'
import { NEW_CLOSING } from '@petstore/client/rules'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { addDays } from '../layout/dates.ts'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { useNotify } from '../layout/notify.tsx'
import { shopCurrency } from '../shop/shop.ts'
import { PriceField } from '../profile/price-field.tsx'
import { addAmounts, amountsText, amountText, isZero, negated } from '../profile/price.ts'
import { KEYS } from '../session/query-keys.ts'
import { useStore } from '../session/session.ts'
import { type CashCount, type CashInput, countCash, denominationsOf, worthOf, zeroOf } from './cash-count.ts'
import { paidOf, type TillTotals } from './day-totals.ts'
import { closingsQuery, drawerQuery } from './queries.ts'
import { dayAndMonth, longDayText, RANGE_DAYS_MAX } from './range.ts'
import { SumRow } from './sum.tsx'

interface Props {
  day: string
  totals: TillTotals
  onClose: () => void
}

export function CloseDialog({ day, totals, onClose }: Props) {
  const store = useStore()
  const { closedThrough, sums } = totals
  const from = closedThrough === undefined ? addDays(day, 1 - RANGE_DAYS_MAX) : addDays(closedThrough, 1)
  const { data: since, error } = useQuery(drawerQuery(store, { from, to: day }))
  const { data: closings, error: closingsError } = useQuery(closingsQuery(store))
  const fault = error ?? closingsError
  const net = sums.length === 0 ? 'No entries' : `Net ${amountsText(sums.map(paidOf))}`
  return (
    <Dialog
      title={`Close ${longDayText(day)}`}
      about={`${net}. After this, the day cannot change: later corrections are on the next day.`}
      onClose={onClose}
      isForm
      isWidest
    >
      {fault !== null && <ErrorMessage error={fault} />}
      {since === undefined || closings === undefined ? (
        fault === null && <Loading what="the drawer" height={300} />
      ) : (
        <CountForm day={day} since={since} last={closings[0]} onClose={onClose} />
      )}
    </Dialog>
  )
}

interface FormProps {
  day: string
  /** The totals since the last closing. */
  since: Totals
  last: Closing | undefined
  onClose: () => void
}

function CountForm({ day, since, last, onClose }: FormProps) {
  const [input, setInput] = useState<CashInput>({ pieces: {}, rest: '', kept: last?.kept ?? '', note: '' })
  const [isChecked, setChecked] = useState(false)
  const { close, isPending, error } = useCloseDay(onClose)
  const expected = since.drawer?.expected ?? zeroOf(shopCurrency())
  const count = countCash(input, expected, shopCurrency())
  const { counted, kept, note, faults } = count
  const change = (changed: Partial<CashInput>) => setInput((before) => ({ ...before, ...changed }))

  function submit(event: FormEvent): void {
    event.preventDefault()
    setChecked(true)
    if (Object.keys(faults).length === 0) close({ day, counted, kept, note, currency: shopCurrency().code })
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <div className="two-columns">
          <Counting input={input} count={count} onChange={change} />
          <section aria-label="Cash drawer">
            <h3 className="part-title">Cash drawer</h3>
            <Expected expected={expected} since={since} last={last} counted={counted} />
            <Difference count={count} />
            {!isZero(count.difference) && (
              <TextInput
                label="What happened?"
                description={!isChecked && 'Needed, because the drawer is not exact.'}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                maxLength={NEW_CLOSING.note.maxLength}
                value={input.note}
                error={isChecked && faults.note}
                onChange={(event) => change({ note: event.currentTarget.value })}
              />
            )}
            <PriceField
              label="Stays in the drawer"
              mt="md"
              currency={shopCurrency().code}
              value={input.kept}
              // Before the count, what stayed last time is more than was counted.
              error={(isChecked || input.kept !== last?.kept) && faults.kept}
              onChange={(event) => change({ kept: event.currentTarget.value })}
            />
            <SumRow
              label="To the bank"
              amount={{ currency: shopCurrency().code, amount: count.toBank }}
              isTotal
            />
          </section>
        </div>
        {error !== null && <ErrorMessage error={error} />}
        <DialogFoot>
          {/* What a person counts is above, what results from it below. */}
          <div className="only-phone foot-difference" aria-hidden="true">
            <span>Difference</span>
            <span data-tone={isZero(count.difference) ? 'ok' : 'wait'}>
              {amountText({ currency: shopCurrency().code, amount: count.difference })}
            </span>
          </div>
          <Button variant="default" onClick={onClose}>
            Not yet
          </Button>
          <Button type="submit" loading={isPending}>
            Close the day
          </Button>
        </DialogFoot>
      </Stack>
    </form>
  )
}

interface CountingProps {
  input: CashInput
  count: CashCount
  onChange: (changed: Partial<CashInput>) => void
}

function Counting({ input, count: { counted, faults }, onChange }: CountingProps) {
  const { code } = shopCurrency()
  const denominations = denominationsOf(code)
  return (
    <section aria-label="Count the cash" onKeyDown={goOnWithEnter}>
      <h3 className="part-title">Count the cash</h3>
      {denominations.map((one, index) => (
        <div key={one} className="count-row">
          <span aria-hidden="true">{pieceText(one)}</span>
          <TextInput
            size="xs"
            aria-label={pieceText(one)}
            inputMode="numeric"
            autoComplete="off"
            data-autofocus={index === 0 || undefined}
            value={input.pieces[one] ?? ''}
            error={worthOf(one, input.pieces[one] ?? '') === undefined}
            onChange={(event) => onChange({ pieces: { ...input.pieces, [one]: event.currentTarget.value } })}
          />
          <span className="amount">
            {amountText({ currency: code, amount: worthOf(one, input.pieces[one] ?? '') ?? '0' })}
          </span>
        </div>
      ))}
      {faults.pieces !== undefined && <Text className="danger">{faults.pieces}</Text>}
      <PriceField
        label={denominations.length === 0 ? 'Cash in the drawer' : 'Other cash'}
        mt="sm"
        currency={code}
        value={input.rest}
        error={faults.rest}
        data-autofocus={denominations.length === 0 || undefined}
        onChange={(event) => onChange({ rest: event.currentTarget.value })}
      />
      <SumRow label="Counted" amount={{ currency: code, amount: counted }} isTotal />
    </section>
  )
}

/** Such as "€100" or "€0.50". */
function pieceText(denomination: string): string {
  return amountText({ currency: shopCurrency().code, amount: denomination.replace(/\.00$/, '') })
}

/** While a person counts, Enter goes to the next field instead of closing the day. */
function goOnWithEnter(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter') return
  event.preventDefault()
  const fields = [...(event.currentTarget.closest('form')?.querySelectorAll('input') ?? [])]
  fields[fields.indexOf(event.target as HTMLInputElement) + 1]?.focus()
}

interface ExpectedProps extends Pick<FormProps, 'since' | 'last'> {
  expected: string
  counted: string
}

function Expected({ expected, since, last, counted }: ExpectedProps) {
  const currency = shopCurrency().code
  const kept = last?.kept ?? zeroOf(shopCurrency())
  const moved = since.cash.find((one) => one.currency === currency)?.amount ?? zeroOf(shopCurrency())
  const taken = addAmounts([expected, negated(kept), negated(moved)])
  const sinceText = last === undefined ? '' : ` since ${dayAndMonth(last.day, false)}`
  return (
    <div>
      <SumRow label="In the drawer before" amount={{ currency, amount: kept }} />
      <SumRow label={`Paid in cash${sinceText}`} amount={{ currency, amount: taken }} />
      {!isZero(moved) && <SumRow label="Cash in and out" amount={{ currency, amount: moved }} />}
      <SumRow label="Expected" amount={{ currency, amount: expected }} isTotal />
      <SumRow label="Counted" amount={{ currency, amount: counted }} />
    </div>
  )
}

function Difference({ count: { difference } }: { count: CashCount }) {
  return (
    <div className="line-note difference" data-tone={isZero(difference) ? 'ok' : 'wait'} role="status">
      <span>Difference</span>
      <b>{amountText({ currency: shopCurrency().code, amount: difference })}</b>
    </div>
  )
}

function useCloseDay(onDone: () => void) {
  const store = useStore()
  const cache = useQueryClient()
  const notify = useNotify()
  const { mutate, isPending, error } = useMutation({
    mutationFn: (closing: NewClosing) => store.till.closeDay(closing),
    onSuccess: ({ day }) => {
      notify.done(`${longDayText(day)} is closed.`)
      onDone()
    },
    onSettled: () => void cache.invalidateQueries({ queryKey: KEYS.till }),
  })
  return { close: mutate, isPending, error }
}

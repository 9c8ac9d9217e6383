// What a receipt says about the money of an order.
import type { Entry, Order } from '@petstore/client'
import { expect, test } from 'vitest'
import { readCopy } from '../../console/src/receipt/copy.ts'
import { receiptText } from '../../console/src/receipt/receipt-lines.ts'

const ORDER: Order = {
  id: '418',
  petId: '388',
  status: 'completed',
  placedBy: 'Kim',
  createdAt: '2026-11-12T09:00:00.000Z',
  expiresAt: '2026-11-20T09:00:00.000Z',
}

let lastId = 0
const entry = (kind: Entry['kind'], paid: string, more: Partial<Entry> = {}): Entry => ({
  id: String(++lastId),
  orderId: '418',
  petId: '388',
  kind,
  day: '2026-11-19',
  at: '2026-11-19T13:45:00.000Z',
  paid,
  sales: paid,
  pets: 0,
  currency: 'EUR',
  method: 'card',
  seller: 'Kim',
  actor: 'Kim',
  ...more,
})
const DEPOSIT = entry('deposit', '100.00', { day: '2026-11-12', method: 'cash', sales: '0.00' })
const SALE = entry('sale', '1140.00', { sales: '1240.00', pets: 1 })

/** `entries` from the oldest to the newest. */
function shown(...entries: Entry[]) {
  const text = receiptText(ORDER, entries.toReversed())
  return (
    text && [
      text.title,
      text.price?.amount,
      ...text.lines.map(({ label, amount }) => `${label}: ${amount?.amount ?? ''}`),
    ]
  )
}

test('takes the deposit off the price, and says what was paid', () => {
  expect(shown(DEPOSIT, SALE)).toEqual([
    'Receipt 418',
    '1240.00',
    'Deposit of 12 Nov, in cash: -100.00',
    'Paid by card: 1140.00',
  ])
  expect(
    shown(entry('deposit', '50.00'), entry('sale', '-20.00', { sales: '30.00', pets: 1, method: 'cash' })),
  ).toEqual(['Receipt 418', '30.00', 'Deposit of 19 Nov, by card: -50.00', 'Given back in cash: -20.00'])
})

test('shows what came after the sale, and the net price', () => {
  expect(
    shown(DEPOSIT, SALE, entry('correction', '-36.00'), entry('refund', '-4.00', { method: 'cash' })),
  ).toEqual([
    'Receipt 418',
    '1240.00',
    'Deposit of 12 Nov, in cash: -100.00',
    'Paid by card: 1140.00',
    'Price corrected on 19 Nov, by card: -36.00',
    'Refund of 19 Nov, in cash: -4.00',
    'Net price: 1200.00',
  ])
})

test('a return is on the receipt of its sale', () => {
  expect(shown(SALE, entry('refund', '-890.00', { pets: -1 }))).toEqual([
    'Receipt 418, return',
    '1240.00',
    'Paid by card: 1140.00',
    'Taken back on 19 Nov: ',
    'Refund of 19 Nov, by card: -890.00',
    'Net price: 250.00',
  ])
  expect(shown(SALE, entry('refund', '0.00', { pets: -1 }))).not.toContain('Refund of 19 Nov, by card: 0.00')
})

test('an undone entry is as if it had not been', () => {
  expect(shown(SALE, entry('void', '-1140.00', { pets: -1, voidedEntryId: SALE.id }))).toBeUndefined()
  expect(shown(DEPOSIT, SALE, entry('void', '-1140.00', { pets: -1, voidedEntryId: SALE.id }))).toEqual([
    'Receipt 418, deposit',
    undefined,
    'Deposit of 12 Nov, in cash: 100.00',
    'Deposit held: 100.00',
  ])
  expect(shown()).toBeUndefined()
})

test('only the dialog of the sale opens the original', () => {
  expect(readCopy({ original: 'true' })).toEqual({ original: true })
  expect([readCopy({}), readCopy({ original: '1' })]).toEqual([{}, {}])
})

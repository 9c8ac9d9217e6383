// The money of a sale: discount, amount due, change, refunds, and the entries of a pet in words.
import type { Entry } from '@petstore/client'
import { expect, test } from 'vitest'
import { changeFor, likelyCash } from '../../console/src/money/change.ts'
import { discounted } from '../../console/src/money/discount.ts'
import { entryLines, paymentsOf, undoableEntry } from '../../console/src/money/entry-lines.ts'
import { pastOf } from '../../console/src/pet/past.ts'
import { subtract } from '../../console/src/money/amounts.ts'
import { amountText } from '../../console/src/profile/price.ts'
import { readRefund } from '../../console/src/selling/refund.ts'
import { saleSum } from '../../console/src/selling/sale-sum.ts'

const EURO = { code: 'EUR', decimals: 2 }
const YEN = { code: 'JPY', decimals: 0 }
const INPUT = { price: '129.00', discount: '', deposit: undefined, method: undefined, given: '' }

test.each([
  ['109.00', '129.00', '-20.00'],
  ['0.10', '0.30', '-0.20'],
  ['129', '9', '120'],
  ['99999999999.99', '0.01', '99999999999.98'],
])('%s − %s = %s', (amount, subtracted, difference) => {
  expect(subtract(amount, subtracted)).toBe(difference)
})

test('writes a negative amount with a minus', () => {
  expect(amountText({ currency: 'EUR', amount: '-1036.50' })).toBe('−€1,036.50')
})

test.each([
  ['', '129.00', undefined],
  ['10', '119.00', '10.00'],
  ['10 %', '116.10', '12.90'],
  ['7,5%', '119.32', '9.68'],
  ['100%', '0.00', '129.00'],
  ['0', '129.00', undefined],
])('a discount of "%s" makes 129.00 %s', (typed, price, amount) => {
  expect(discounted('129.00', typed, EURO)).toEqual({ price, amount, fault: undefined })
})

test('rounds a discount to the decimal places of the currency', () => {
  expect(discounted('1999', '12.5%', YEN)).toMatchObject({ price: '1749', amount: '250' })
})

test.each([
  ['130', 'The discount is higher than the price.'],
  ['101 %', 'The discount is higher than the price.'],
  ['ten', 'Enter an amount, or per cent such as 10 %.'],
])('rejects the discount "%s"', (typed, fault) => {
  expect(discounted('129.00', typed, EURO).fault).toBe(fault)
})

test('the deposit is subtracted from the amount due, not from the price of the sale', () => {
  const sum = saleSum({ ...INPUT, deposit: '20.00', method: 'card' }, EURO)
  expect(sum).toMatchObject({ price: '129.00', due: '109.00', needsMethod: true })
  expect(sum.faults.method).toBeUndefined()
  expect(saleSum({ ...INPUT, price: '30.00', deposit: '50.00', method: 'cash' }, EURO).due).toBe('-20.00')
})

test('a payment method is required as soon as money moves', () => {
  expect(saleSum(INPUT, EURO).faults.method).toBe('Choose how it is paid.')
  expect(saleSum({ ...INPUT, deposit: '129.00' }, EURO).faults.method).toBeUndefined()
  expect(saleSum({ ...INPUT, price: undefined }, EURO).faults.method).toBeUndefined()
})

test('cash shows the change, and too little is a fault', () => {
  const paid = (given: string) => saleSum({ ...INPUT, method: 'cash', given }, EURO)
  expect(paid('150').change).toBe('21.00')
  expect(paid('129').change).toBe('0.00')
  expect(paid('').change).toBeUndefined()
  expect(paid('100').faults.given).toBe('This is less than the amount due.')
  expect(saleSum({ ...INPUT, method: 'card', given: '100' }, EURO).faults.given).toBeUndefined()
  expect(changeFor('129.00', 'much', EURO).fault).toBe('Enter an amount.')
  expect(likelyCash('550.00')).toEqual(['550.00', '560.00', '600.00'])
  expect(likelyCash('1749')).toEqual(['1749', '1750', '1800'])
})

test('a refund is at most what was paid, and can be nothing', () => {
  expect(readRefund('100', '129.00', EURO)).toEqual({ amount: '100.00', fault: undefined })
  expect(readRefund('0', '129.00', EURO).amount).toBe('0.00')
  expect(readRefund('129,01', '129.00', EURO).fault).toBe('At most €129.00 was paid.')
  expect(readRefund('', '129.00', EURO).fault).toBe('Enter an amount. For no refund, enter 0.')
})

const AT = '2026-11-19T10:00:00.000Z'
const ENTRY = {
  orderId: '1',
  petId: '9',
  day: '2026-11-19',
  at: AT,
  currency: 'EUR',
  method: 'cash',
  seller: 'Ana',
  actor: 'Ana',
} as const

function entry(
  id: string,
  kind: Entry['kind'],
  [pets, sales, paid]: [number, string, string],
  more = {},
): Entry {
  return { ...ENTRY, id, kind, pets, sales, paid, ...more }
}

const SALE = entry('2', 'sale', [1, '129.00', '109.00'], { method: 'card' })

test('says in words what each entry did', () => {
  const entries = [
    entry('1', 'deposit', [0, '0.00', '20.00']),
    SALE,
    entry('3', 'correction', [0, '-10.00', '-10.00'], { reason: 'wrong_price' }),
    entry('4', 'refund', [0, '-9.00', '-9.00']),
    entry('5', 'refund', [-1, '-100.00', '-100.00'], { reason: 'ill' }),
  ]
  // The service lists them by day.
  const lines = entryLines(entries.toSorted(() => 1))
  expect(lines.map(({ what, amount, struck }) => [what, amount.amount, struck])).toEqual([
    ['Taken back, €100.00 refunded in cash', '-100.00', undefined],
    ['Refunded, in cash', '-9.00', undefined],
    ['Price corrected from €129.00 to €119.00, in cash', '-10.00', undefined],
    ['Sold for €129.00, paid by card', '109.00', 'Returned'],
    ['Deposit, in cash', '20.00', undefined],
  ])
  const others = [
    entry('6', 'sale', [1, '0.00', '0.00'], { orderId: '2', method: undefined }),
    entry('7', 'refund', [-1, '0.00', '0.00'], { orderId: '2' }),
    entry('8', 'deposit', [0, '0.00', '20.00'], { orderId: '3' }),
    entry('9', 'refund', [0, '15.00', '-5.00'], { orderId: '3' }),
    entry('10', 'deposit', [0, '0.00', '20.00'], { orderId: '4' }),
    entry('11', 'forfeit', [0, '20.00', '0.00'], { orderId: '4' }),
  ]
  expect(entryLines(others).map(({ what }) => what)).toEqual([
    'Deposit of €20.00 kept',
    'Deposit, in cash',
    'Deposit given back, in cash',
    'Deposit, in cash',
    'Taken back without a refund',
    'Sold without a price',
  ])
})

test('a void strikes its entry through', () => {
  const lines = entryLines([SALE, entry('3', 'void', [-1, '-129.00', '-109.00'], { voidedEntryId: '2' })])
  expect(lines.map(({ what, struck }) => [what, struck])).toEqual([
    ['Sale undone', undefined],
    ['Sold for €129.00, paid by card', 'Undone'],
  ])
})

test('offers to undo the last entry for 15 minutes: the own one, with till:write any', () => {
  const at = (minutes: number, seconds: number) => Date.parse(AT) + (minutes * 60 + seconds) * 1_000
  const undoable = (entries: Entry[], nowMs: number, ownName = 'Ana', isForAll = false) =>
    undoableEntry(entries, { nowMs, ownName, isForAll })?.id
  expect(undoable([SALE], at(14, 59))).toBe('2')
  expect(undoable([SALE], at(15, 0))).toBeUndefined()
  expect(undoable([SALE], at(1, 0), 'Ben')).toBeUndefined()
  expect(undoable([SALE], at(1, 0), 'Ben', true)).toBe('2')
  const correction = entry('10', 'correction', [0, '1.00', '1.00'], { actor: 'Ben' })
  expect(undoable([correction, SALE], at(1, 0))).toBeUndefined()
  expect(
    undoable([entry('3', 'void', [-1, '-129.00', '-109.00'], { voidedEntryId: '2' }), SALE], at(1, 0)),
  ).toBe(undefined)
  expect(undoable([], at(0, 0))).toBeUndefined()
})

test('shows how a sale was paid, without what was undone', () => {
  const entries = [
    entry('5', 'void', [0, '-5.00', '-5.00'], { voidedEntryId: '4' }),
    entry('4', 'correction', [0, '5.00', '5.00']),
    entry('3', 'refund', [0, '-9.00', '-9.00']),
    SALE,
    entry('1', 'deposit', [0, '0.00', '20.00']),
    entry('6', 'sale', [1, '7.00', '7.00'], { orderId: '2' }),
  ]
  expect(paymentsOf(entries, '1').map(({ id }) => id)).toEqual(['1', '2', '3'])
})

test('an entry takes the place of the change that caused it', () => {
  const change = (event: 'created' | 'order_completed', at: string) => ({
    at,
    event,
    actor: 'Ana',
    requestId: 'r',
  })
  const changes = [change('order_completed', AT), change('created', '2026-11-18T10:00:00Z')]
  const texts = (entries: Entry[] | undefined, hasMore = false) =>
    pastOf(changes, entries, hasMore).map((item) =>
      'line' in item ? item.line.entry.kind : item.change.event,
    )
  expect(texts([SALE])).toEqual(['sale', 'created'])
  // Somebody who may not see the till.
  expect(texts(undefined)).toEqual(['order_completed', 'created'])
  const old = { ...SALE, at: '2026-11-01T10:00:00Z' }
  expect(texts([old], true)).toEqual(['created'])
  expect(texts([old])).toEqual(['created', 'sale'])
})

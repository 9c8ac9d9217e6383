// The page of sales: its days, the sums of the figures, and the CSV file.
import type { DayFigures, Order } from '@petstore/client'
import { expect, test } from 'vitest'
import { addDays, dayOf, isDay } from '../../console/src/layout/dates.ts'
import { CSV_COLUMNS, salesCsv } from '../../console/src/sales/csv.ts'
import { sumOfDays, totalText } from '../../console/src/sales/day-sales.ts'
import {
  choiceOf,
  chosenRange,
  daysBack,
  rangeOf,
  readRange,
  timesOf,
} from '../../console/src/sales/range.ts'

const TODAY = '2026-11-18'

test('days are those of the calendar in the time zone of the browser', () => {
  expect(dayOf(new Date(2026, 10, 18, 0, 0).getTime())).toBe(TODAY)
  expect(dayOf(new Date(2026, 10, 18, 23, 59).toISOString())).toBe(TODAY)
  expect(addDays('2026-03-01', -1)).toBe('2026-02-28')
  expect(['2026-11-18', '2026-02-30', '2026-1-1', 'today'].map(isDay)).toEqual([true, false, false, false])
})

test('ignores days in the URL that are no range', () => {
  expect(readRange({ from: '2026-11-01', to: '2026-11-02' })).toEqual({
    from: '2026-11-01',
    to: '2026-11-02',
  })
  expect(readRange({ from: '2026-11-02', to: '2026-11-01' })).toEqual({})
  expect(readRange({ from: '2026-11-02' })).toEqual({})
  expect(readRange({ from: 'x', to: 'y' })).toEqual({})
})

test.each(['today', 'yesterday', 'week', 'month'] as const)(
  'finds the choice of its own days: %s',
  (choice) => {
    const range = rangeOf(chosenRange(choice, TODAY), TODAY)
    expect(choiceOf(range, TODAY)).toBe(choice)
    expect(daysBack(range, TODAY)).toBe({ today: 1, yesterday: 2, week: 7, month: 30 }[choice])
  },
)

test('other days are another choice', () => {
  expect(choiceOf({ from: '2026-11-01', to: '2026-11-02' }, TODAY)).toBe('other')
})

test('the times include the whole last day', () => {
  const { closedFrom, closedTo } = timesOf({ from: '2026-11-17', to: TODAY })
  expect(new Date(closedFrom)).toEqual(new Date(2026, 10, 17))
  expect(new Date(closedTo)).toEqual(new Date(2026, 10, 19))
})

const eur = (amount: string) => ({ currency: 'EUR', amount })
const DAYS: DayFigures[] = [
  { day: '2026-11-16', added: 0, sold: 9, sales: { orders: 9, withoutPrice: 0, totals: [eur('900.00')] } },
  { day: '2026-11-17', added: 0, sold: 3, sales: { orders: 2, withoutPrice: 1, totals: [eur('0.10')] } },
  // The service counts a sale a moment after its order.
  { day: '2026-11-18', added: 0, sold: 1, sales: { orders: 2, withoutPrice: 0, totals: [eur('0.20')] } },
]

test('adds up the days of the range', () => {
  expect(sumOfDays(DAYS, { from: '2026-11-17', to: TODAY })).toEqual({
    orders: 4,
    withoutPrice: 1,
    totals: [eur('0.30')],
    withoutOrder: 1,
  })
  expect(totalText([eur('0.30'), { currency: 'USD', amount: '5.00' }])).toBe('€0.30 and US$5.00')
})

test('has no sum for days before those that the service counts', () => {
  expect(sumOfDays(DAYS, { from: '2026-11-15', to: TODAY })).toBeUndefined()
  expect(sumOfDays([], { from: TODAY, to: TODAY })).toBeUndefined()
})

test('the CSV file has one row per sale, and a spreadsheet runs none of its texts', () => {
  const order: Order = {
    id: '7',
    petId: '5',
    status: 'completed',
    note: '=HYPERLINK("http://x")',
    placedBy: 'Ada, till 2',
    createdAt: '2026-11-18T09:00:00.000Z',
    expiresAt: '2026-11-18T10:00:00.000Z',
    closedAt: new Date(2026, 10, 18, 9, 5).toISOString(),
    price: '129.00',
    currency: 'EUR',
  }
  const pet = { id: '5', name: 'Bella', categoryId: '1', status: 'sold' as const }
  const { note: _, price: __, currency: ___, ...plain } = order
  const csv = salesCsv([
    { order, pet, category: 'Dogs' },
    { order: plain, pet: { ...pet, status: 'available' }, category: 'Dogs' },
    { order: plain, pet: undefined, category: '' },
  ])
  expect(csv.slice(1).split('\r\n')).toEqual([
    CSV_COLUMNS.join(','),
    `2026-11-18 09:05:00,5,Bella,Dogs,"Ada, till 2","'=HYPERLINK(""http://x"")",129.00,EUR,7,`,
    '2026-11-18 09:05:00,5,Bella,Dogs,"Ada, till 2",,,,7,yes',
    '2026-11-18 09:05:00,5,,,"Ada, till 2",,,,7,',
    '',
  ])
})

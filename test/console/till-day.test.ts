// The till in the console: its days, its sums, the count of the drawer, the words of entries, and the CSV file.
import type { Entry } from '@petstore/client'
import { expect, test } from 'vitest'
import { addDays, dayOf, isDay } from '../../console/src/layout/dates.ts'
import { countCash, denominationsOf } from '../../console/src/till/cash-count.ts'
import {
  categoryLines,
  type Group,
  kindLines,
  methodLines,
  sellerLines,
  shares,
} from '../../console/src/till/day-totals.ts'
import { CSV_COLUMNS, entriesCsv } from '../../console/src/till/entries-csv.ts'
import { byDay, kindText, shopDateTime, shopTime, voidedIds } from '../../console/src/till/entry-text.ts'
import {
  choiceOf,
  chosenRange,
  isClosed,
  movedRange,
  rangeText,
  readRange,
  steppedRange,
} from '../../console/src/till/range.ts'
import { salesOfDay } from '../../console/src/overview/overview-days.ts'
import { addAmounts } from '../../console/src/profile/price.ts'

const TODAY = '2026-11-19'
const one = (day: string) => ({ from: day, to: day })

test('days are those of the calendar', () => {
  expect(dayOf(new Date(2026, 10, 18, 0, 0).getTime())).toBe('2026-11-18')
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
    const { from = TODAY, to = TODAY } = chosenRange(choice, TODAY)
    expect(choiceOf({ from, to }, TODAY)).toBe(choice)
    expect((Date.parse(to) - Date.parse(from)) / 86_400_000 + 1).toBe(
      { today: 1, yesterday: 1, week: 7, month: 30 }[choice],
    )
  },
)

test('steps from day to day, and not into the future', () => {
  expect(steppedRange(one(TODAY), -1, TODAY)).toEqual(one('2026-11-18'))
  expect(steppedRange(one('2026-11-18'), 1, TODAY)).toEqual({})
  expect(steppedRange(one(TODAY), 1, TODAY)).toBeUndefined()
  const week = { from: '2026-11-05', to: '2026-11-11' }
  expect(steppedRange(week, -1, TODAY)).toEqual({ from: '2026-10-29', to: '2026-11-04' })
  expect(steppedRange(week, 1, TODAY)).toEqual({ from: '2026-11-12', to: '2026-11-18' })
  expect(steppedRange({ from: '2026-11-10', to: '2026-11-16' }, 1, TODAY)).toEqual({
    from: '2026-11-17',
    to: TODAY,
  })
})

test('a range has no day before its first one, and at most a leap year', () => {
  const range = { from: '2026-11-10', to: '2026-11-16' }
  expect(movedRange(range, { from: '2026-11-18' }, TODAY)).toEqual(one('2026-11-18'))
  expect(movedRange(range, { to: '2026-11-02' }, TODAY)).toEqual(one('2026-11-02'))
  expect(movedRange(range, { to: '2027-01-01' }, TODAY)).toEqual({ from: '2026-11-10', to: TODAY })
  expect(movedRange(range, { from: '2020-01-01' }, TODAY)).toEqual({ from: '2020-01-01', to: '2020-12-31' })
  expect(movedRange({ from: '2020-01-01', to: '2020-12-31' }, { to: TODAY }, TODAY)).toEqual({
    from: '2025-11-19',
    to: TODAY,
  })
})

test('names the days', () => {
  expect(rangeText(one(TODAY), TODAY)).toBe('Today, Thu 19 Nov')
  expect(rangeText(one('2025-12-31'), TODAY)).toBe('Wed 31 Dec 2025')
  expect(rangeText({ from: '2025-12-31', to: '2026-01-02' }, TODAY)).toBe('31 Dec 2025 to 2 Jan 2026')
  expect(isClosed(one('2026-11-18'), { closedThrough: '2026-11-18' })).toBe(true)
  expect(isClosed({ from: '2026-11-18', to: TODAY }, { closedThrough: '2026-11-18' })).toBe(false)
  expect(isClosed(one(TODAY), {})).toBe(false)
})

const group = (paid: string, more: Partial<Group> = {}): Group => ({
  currency: 'EUR',
  pets: 0,
  sales: paid,
  paid,
  ...more,
})

test('the kinds of a day with mistakes add up to its net', () => {
  const lines = kindLines([
    group('-13.00', { kind: 'void', pets: -1 }),
    group('-45.00', { kind: 'refund', pets: -1 }),
    group('1658.00', { kind: 'sale', pets: 4 }),
    group('0.00', { kind: 'forfeit', sales: '20.00' }),
  ])
  expect(lines.map(({ label, amount }) => [label, amount.amount])).toEqual([
    ['Sold', '1658.00'],
    ['Refunds, 1 return', '-45.00'],
    ['Undone', '-13.00'],
  ])
  expect(addAmounts(lines.map(({ amount }) => amount.amount))).toBe('1600.00')
})

test('payments keep their order, and shares exist only of one amount', () => {
  const lines = methodLines([
    group('5.00'),
    group('10.00', { method: 'cash' }),
    group('20.00', { method: 'card' }),
  ])
  expect(lines.map(({ label }) => label)).toEqual(['Card', 'Cash', 'Not given'])
  expect(shares(lines)).toEqual([20, 10, 5])
  expect(shares(methodLines([group('-5.00', { method: 'cash' })]))).toBeUndefined()
  expect(
    shares(methodLines([group('5.00', { method: 'cash' }), group('5.00', { currency: 'USD' })])),
  ).toBeUndefined()
  expect(shares([])).toBeUndefined()
})

test('the largest categories come first, and the others share a line', () => {
  const groups = Array.from({ length: 8 }, (_, index) =>
    group(`${index + 1}.10`, { categoryId: String(index + 1) }),
  )
  const lines = categoryLines(groups, (id) => (id === '8' ? 'Fish' : `Category ${id}`))
  expect(lines.map(({ label }) => label)).toEqual([
    'Fish',
    'Category 7',
    'Category 6',
    'Category 5',
    'Category 4',
    '3 others',
  ])
  expect(lines.at(-1)?.amount.amount).toBe('6.30')
  expect(sellerLines([group('-926.00', { seller: 'Ada' }), group('297.00', { seller: 'Sam' })])).toEqual([
    { label: 'Sam', amount: { currency: 'EUR', amount: '297.00' } },
    { label: 'Ada', amount: { currency: 'EUR', amount: '-926.00' } },
  ])
})

test('the overview shows the net of a day, also below zero', () => {
  const groups = [group('-200.00', { day: '2026-11-18', pets: -1 }), group('60.00', { day: TODAY, pets: 2 })]
  expect(salesOfDay('2026-11-18', groups)).toEqual({
    sold: -1,
    net: [{ currency: 'EUR', amount: '-200.00' }],
  })
  expect(salesOfDay('2026-11-17', groups)).toEqual({ sold: 0, net: [] })
})

const EUR = { code: 'EUR', decimals: 2 }
const INPUT = { pieces: {}, rest: '', kept: '', note: '' }

test('counts the drawer: two euros are missing', () => {
  const pieces = { '100.00': '2', '50.00': '3', '20.00': ' 6 ', '10.00': '2', '0.50': '4', '0.10': '' }
  const count = countCash({ pieces, rest: '21,00', kept: '200', note: ' Change ' }, '515.00', EUR)
  expect(count).toEqual({
    counted: '513.00',
    difference: '-2.00',
    toBank: '313.00',
    kept: '200.00',
    note: 'Change',
    faults: {},
  })
})

test('a difference needs a note, and no more can stay than was counted', () => {
  expect(countCash(INPUT, '0.00', EUR)).toMatchObject({ counted: '0.00', difference: '0.00', faults: {} })
  expect(Object.keys(countCash(INPUT, '0.05', EUR).faults)).toEqual(['note'])
  expect(Object.keys(countCash({ ...INPUT, rest: '0.05' }, '0.00', EUR).faults)).toEqual(['note'])
  expect(Object.keys(countCash({ ...INPUT, kept: '0.01' }, '0.00', EUR).faults)).toEqual(['kept'])
  const typos = { ...INPUT, pieces: { '5.00': '1,5' }, rest: 'x', kept: 'y', note: 'n' }
  expect(Object.keys(countCash(typos, '0.00', EUR).faults)).toEqual(['pieces', 'rest', 'kept'])
  expect(denominationsOf('JPY')).toEqual([])
  const yen = countCash({ ...INPUT, rest: '12900', kept: '900' }, '12900', { code: 'JPY', decimals: 0 })
  expect(yen).toMatchObject({ counted: '12900', difference: '0', toBank: '12000', kept: '900', faults: {} })
})

const SALE: Entry = {
  id: '8',
  orderId: '3',
  petId: '5',
  kind: 'sale',
  day: TODAY,
  at: '2026-11-18T23:30:00.000Z',
  paid: '129.00',
  sales: '129.00',
  pets: 1,
  currency: 'EUR',
  method: 'card',
  categoryId: '1',
  seller: 'Ada, till 2',
  actor: 'Ada, till 2',
}
const VOID: Entry = {
  ...SALE,
  id: '9',
  kind: 'void',
  paid: '-129.00',
  sales: '-129.00',
  pets: -1,
  voidedEntryId: '8',
}
const CASH: Entry = {
  id: '7',
  kind: 'cash',
  day: '2026-11-18',
  at: '2026-11-18T09:00:00.000Z',
  paid: '-24.50',
  sales: '0.00',
  pets: 0,
  currency: 'EUR',
  method: 'cash',
  actor: 'Ada',
  note: '=HYPERLINK("http://x")',
}

test('names entries, and knows which are undone', () => {
  const texts = [SALE, VOID, CASH, { ...CASH, paid: '1.00' }].map((entry) => kindText(entry).text)
  expect(texts).toEqual(['Sale', 'Undone', 'Cash out', 'Cash in'])
  expect(kindText({ kind: 'refund', pets: -1, paid: '-1.00' })).toEqual({ text: 'Return', tone: 'bad' })
  expect(kindText({ kind: 'refund', pets: 0, paid: '-1.00' }).text).toBe('Refund')
  expect([...voidedIds([VOID, SALE, CASH])]).toEqual(['8'])
  expect(byDay([VOID, SALE, CASH]).map(({ day, entries }) => [day, entries.length])).toEqual([
    [TODAY, 2],
    ['2026-11-18', 1],
  ])
})

test('times are those of the shop, not of the browser', () => {
  expect(shopTime(SALE.at, 'Europe/Berlin')).toBe('00:30')
  expect(shopDateTime(SALE.at, 'Europe/Berlin')).toBe('Thu 19 Nov 2026, 00:30')
  expect(shopTime(SALE.at, 'America/Los_Angeles')).toBe('15:30')
})

test('the CSV file has one row per entry: amounts are numbers, and a spreadsheet runs none of its texts', () => {
  const csv = entriesCsv([VOID, CASH], {
    pets: { 5: { id: '5', name: 'Bella', categoryId: '1', status: 'available' } },
    nameOf: (id) => `Category ${id}`,
    timeZone: 'Europe/Berlin',
  })
  expect(csv.slice(1).split('\r\n')).toEqual([
    CSV_COLUMNS.join(','),
    '2026-11-19,2026-11-19 00:30:00,9,void,3,5,Bella,Category 1,"Ada, till 2","Ada, till 2",card,,,EUR,-129.00,-129.00,-1,8',
    `2026-11-18,2026-11-18 10:00:00,7,cash,,,,,,Ada,cash,,"'=HYPERLINK(""http://x"")",EUR,-24.50,0.00,0,`,
    '',
  ])
  expect(
    entriesCsv([{ ...CASH, paid: '-1+cmd' }], {
      pets: {},
      nameOf: (id) => `Category ${id}`,
      timeZone: 'UTC',
    }),
  ).toContain(`,'-1+cmd,`)
})

// The scale, the bars and the texts of the chart of days on the overview.
import type { DayFigures } from '@petstore/client'
import { expect, test } from 'vitest'
import {
  barsOf,
  chartSummary,
  dayLabels,
  dayText,
  scaleTop,
  total,
} from '../../console/src/overview/day-chart-shape.ts'

/** 30 days that end on 16 November 2026. Only the day before the last has figures. */
const DAYS: DayFigures[] = Array.from({ length: 30 }, (_, index) => ({
  day: new Date(Date.UTC(2026, 9, 18 + index)).toISOString().slice(0, 10),
  added: index === 28 ? 1_200 : 0,
  sold: 0,
}))

test.each([
  { values: [], top: 1 },
  { values: [0, 0], top: 1 },
  { values: [1], top: 1 },
  { values: [7], top: 8 },
  { values: [8, 9], top: 10 },
  { values: [10], top: 10 },
  { values: [11], top: 20 },
  { values: [32, 4], top: 40 },
  { values: [601], top: 800 },
  { values: [999], top: 1_000 },
])('the scale of $values ends at $top', ({ values, top }) => {
  expect(scaleTop(values)).toBe(top)
})

test('bars stay inside the drawing, in the order of the days, without overlap', () => {
  const values = [0, 1, 5, 10]
  const bars = barsOf(values, 100, 80)
  expect(bars.map(({ height }) => height)).toEqual([0, 8, 40, 80])
  for (const [index, { x, width }] of bars.entries()) {
    expect(x).toBeGreaterThanOrEqual(index * 25)
    expect(x + width).toBeLessThanOrEqual((index + 1) * 25)
  }
})

test('a bar of 1 next to a bar of 5,000 is visible, and a bar of 0 is not', () => {
  expect(barsOf([0, 1, 5_000], 90, 80).map(({ height }) => height)).toEqual([0, 2, 80])
})

test('every seventh day is labelled, counted back from today', () => {
  expect(dayLabels(DAYS)).toEqual([
    { index: 1, text: '19 Oct' },
    { index: 8, text: '26 Oct' },
    { index: 15, text: '2 Nov' },
    { index: 22, text: '9 Nov' },
    { index: 29, text: 'Today' },
  ])
})

test('the texts name the day of the API, whatever the time zone of the browser', () => {
  expect(dayText({ day: '2026-11-14', added: 1_200, sold: 3 })).toBe('Sat 14 Nov: 1,200 added, 3 sold')
})

test('the summary has the totals and the day with the most', () => {
  expect(total(DAYS, 'added')).toBe(1_200)
  expect(chartSummary(DAYS)).toBe('Last 30 days: 1,200 added, most of them on 15 Nov (1,200); no pet sold.')
})

// The facts of a pet in words, and the columns of the list that show them.
import { expect, test } from 'vitest'
import { cellsOf, COLUMNS_DEFAULT, gridColumns, readColumns } from '../../console/src/list/columns.ts'
import { ageText, bornText, cardFacts } from '../../console/src/profile/facts.ts'

const TODAY = '2026-11-18'

test.each([
  ['2026-11-19', '0 days'],
  ['2026-11-18', '0 days'],
  ['2026-11-17', '1 day'],
  ['2026-11-05', '13 days'],
  ['2026-11-04', '2 weeks'],
  ['2026-08-27', '11 weeks'],
  ['2026-08-26', '2 months'],
  ['2026-08-18', '3 months'],
  ['2025-11-18', '12 months'],
  ['2024-11-19', '23 months'],
  ['2024-11-18', '2 years'],
  ['1996-02-29', '30 years'],
])('a pet that was born on %s is %s old', (bornOn, text) => {
  expect(ageText(bornOn, TODAY)).toBe(text)
})

test('the card says sex and age, and leaves out what is not known', () => {
  expect(cardFacts({ sex: 'female', bornOn: '2026-09-20' }, TODAY)).toEqual(['Female', '8 weeks'])
  expect(cardFacts({ sex: 'unknown' }, TODAY)).toEqual([])
  expect(bornText('2026-11-01', TODAY)).toBe('2 weeks, born 1 Nov 2026')
})

test('columns are remembered, and those of another version are ignored', () => {
  expect(readColumns(null)).toEqual(COLUMNS_DEFAULT)
  expect(readColumns('')).toEqual([])
  expect(readColumns('price,weight,sex')).toEqual(['sex', 'price'])
})

test('a row has a place for each chosen column', () => {
  const count = ({ wide, medium, narrow }: ReturnType<typeof gridColumns>) =>
    [wide, medium, narrow].map((text) => text.replaceAll(/\(.*?\)/g, '').split(' ').length)
  expect(count(gridColumns([], false))).toEqual([5, 5, 5])
  expect(count(gridColumns(['price', 'chipNumber'], true))).toEqual([8, 8, 7])
  // The time when a pet was added is the first to go.
  expect(count(gridColumns(['price', 'chipNumber', 'added'], true))).toEqual([9, 8, 7])
  // The sex is below the age, and has a place of its own only without it.
  expect(count(gridColumns(['bornOn', 'sex'], false))).toEqual([6, 6, 5])
  expect(cellsOf(['sex']).map(({ id, second }) => [id, second])).toEqual([['sex', undefined]])
})

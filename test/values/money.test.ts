// Amounts of money: as many decimal places as ISO 4217 says for the currency.
import { expect, test } from 'vitest'
import { decimalsOf, isAmount, isCurrency } from '../../src/values/money.ts'

test.each([
  ['EUR', 2],
  ['JPY', 0],
  ['KWD', 3],
  ['IQD', 3],
  ['CLF', 4],
])('%s has %i decimal places', (currency, decimals) => {
  expect(decimalsOf(currency)).toBe(decimals)
  expect(isCurrency(currency)).toBe(true)
})

test.each(['EURO', 'eur', 'ZZZ', ''])('%j is no currency', (code) => {
  expect(isCurrency(code)).toBe(false)
})

test.each([
  ['129.00', 'EUR'],
  ['0.00', 'EUR'],
  ['9999999999.99', 'EUR'],
  ['129', 'JPY'],
  ['1.250', 'KWD'],
])('%s is an amount in %s', (text, currency) => {
  expect(isAmount(text, currency)).toBe(true)
})

test.each([
  ['129', 'EUR'],
  ['129.0', 'EUR'],
  ['129.000', 'EUR'],
  ['129.00', 'JPY'],
  ['-1.00', 'EUR'],
  ['01.00', 'EUR'],
  ['.50', 'EUR'],
  ['1.', 'JPY'],
  ['1e3', 'JPY'],
  ['10000000000.00', 'EUR'],
  ['1٫00', 'EUR'],
  ['', 'EUR'],
])('%j is no amount in %s', (text, currency) => {
  expect(isAmount(text, currency)).toBe(false)
})

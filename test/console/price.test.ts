// Prices in the console: what a person types, what the pages show, and exact sums.
import { expect, test } from 'vitest'
import {
  amountText,
  askedPrice,
  exampleAmount,
  hasThousands,
  priceText,
  readAmount,
  sumAmounts,
} from '../../console/src/profile/price.ts'

const CODES: Record<number, string> = { 0: 'JPY', 2: 'EUR', 3: 'IQD' }
const shop = (decimals: number) => ({ code: CODES[decimals] ?? '', decimals })

test.each([
  ['129', 2, '129.00'],
  ['129,5', 2, '129.50'],
  ['129.', 2, '129.00'],
  [' 1 290.00 ', 2, '1290.00'],
  ['1’290', 2, '1290.00'],
  ['007', 2, '7.00'],
  ['0', 2, '0.00'],
  ['129', 0, '129'],
  ['129', 3, '129.000'],
  ['9999999999', 2, '9999999999.00'],
  ['1.150,00', 2, '1150.00'],
  ['1,150.00', 2, '1150.00'],
  ['1.234.567', 2, '1234567.00'],
  ['1.234.567,8', 2, '1234567.80'],
  ['€ 45,-', 2, '45.00'],
  ['45.–', 2, '45.00'],
  ['EUR 45.5', 2, '45.50'],
  ['45 €', 2, '45.00'],
  ['¥12,900', 0, '12900'],
])('reads %j with %d decimal places as %s', (text, decimals, amount) => {
  expect(readAmount(text, shop(decimals), '.')).toBe(amount)
})

test.each([
  ['', 2],
  ['-1', 2],
  ['1e3', 2],
  ['129.005', 2],
  ['129.5', 0],
  ['1.29,00', 2],
  ['1,290.0.0', 2],
  ['1,2,3', 2],
  ['10000000000', 2],
  ['$ 129', 2],
  ['USD 129', 2],
  ['.5', 2],
  [',-', 2],
])('does not read %j with %d decimal places as an amount', (text, decimals) => {
  expect(readAmount(text, shop(decimals), '.')).toBeUndefined()
})

test('only the language tells whether "1.150" is more than a thousand, and the form says how it reads it', () => {
  expect(readAmount('1.150', shop(2), ',')).toBe('1150.00')
  expect(readAmount('1,150', shop(2), '.')).toBe('1150.00')
  expect(readAmount('1,150', shop(2), ',')).toBeUndefined()
  expect([',', '.'].map((mark) => readAmount('1.250', shop(3), mark as ','))).toEqual(['1250.000', '1.250'])
  expect(['1.150', '1,150.00', '1150', '1150.5', '12.3456'].map(hasThousands)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})

test('the example has the decimal places of the currency', () => {
  expect([0, 2, 3].map(exampleAmount)).toEqual(['129', '129.00', '129.000'])
})

test('shows an amount exactly, with the decimal places that it has', () => {
  expect(amountText({ currency: 'EUR', amount: '129.00' })).toBe('€129.00')
  expect(amountText({ currency: 'EUR', amount: '9999999999.99' })).toBe('€9,999,999,999.99')
  expect(amountText({ currency: 'JPY', amount: '1290' })).toBe('JP¥1,290')
  expect(amountText({ currency: 'IQD', amount: '1.250' })).toMatch(/1\.250$/)
  expect(priceText({})).toBeUndefined()
  expect(priceText({ price: '5.00', currency: 'USD' })).toBe('US$5.00')
})

test('the price of a hold stands over that of the pet', () => {
  const [order, profile] = [
    { price: '120.00', currency: 'EUR' },
    { price: '129.00', currency: 'EUR' },
  ]
  expect(askedPrice(order, profile)).toBe(order)
  expect(askedPrice({}, profile)).toBe(profile)
  expect(askedPrice(undefined, undefined)).toEqual({})
})

test('sums are exact, one for each currency', () => {
  const eur = (amount: string) => ({ currency: 'EUR', amount })
  const cents = Array.from({ length: 10 }, () => eur('0.10'))
  expect(sumAmounts([...cents, { currency: 'JPY', amount: '500' }, eur('9999999999.99')])).toEqual([
    eur('10000000000.99'),
    { currency: 'JPY', amount: '500' },
  ])
  expect(sumAmounts([eur('0.01'), eur('0.02')])).toEqual([eur('0.03')])
  expect(sumAmounts([])).toEqual([])
})

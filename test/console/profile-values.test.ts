// The price and the facts of a pet in a form, and what the console sends.
import { expect, test } from 'vitest'
import {
  chipNumberOf,
  isChipNumber,
  isSameProfile,
  priceFault,
  profileOf,
  profileValues,
  valuesOfNext,
} from '../../console/src/profile/profile-values.ts'

const EURO = { code: 'EUR', decimals: 2 }
const YEN = { code: 'JPY', decimals: 0 }
const PROFILE = { petId: '5', price: '129.00', currency: 'EUR', breed: 'Beagle', chipNumber: '276' }

test('a form that was not changed sends the same profile', () => {
  const fields = profileOf(profileValues(PROFILE), EURO)
  expect(fields).toEqual({ price: '129.00', currency: 'EUR', breed: 'Beagle', chipNumber: '276' })
  expect(isSameProfile(fields, PROFILE)).toBe(true)
  expect(isSameProfile({ ...fields, price: '120.00' }, PROFILE)).toBe(false)
  expect(isSameProfile({}, undefined)).toBe(true)
  expect(isSameProfile({}, PROFILE)).toBe(false)
})

test('sends amounts and chip numbers as the service stores them, and leaves out what is blank', () => {
  const values = { ...profileValues(undefined), price: '129,5', breed: '  ', chipNumber: '276 098-100' }
  expect(profileOf(values, EURO)).toEqual({ price: '129.50', currency: 'EUR', chipNumber: '276098100' })
})

test('sends a stored price as it is if the shop has another currency, and a typed one in that of the shop', () => {
  const values = { ...profileValues(PROFILE), breed: 'Boxer' }
  const fields = { ...profileOf(profileValues(PROFILE), EURO), breed: 'Boxer' }
  expect(profileOf(values, YEN)).toEqual(fields)
  expect(isSameProfile(profileOf(profileValues(PROFILE), YEN), PROFILE)).toBe(true)
  // The form sets the currency when a person types.
  expect(profileOf({ ...values, price: '129', currency: 'JPY' }, YEN)).toEqual({
    ...fields,
    price: '129',
    currency: 'JPY',
  })
  expect(isSameProfile({ ...fields, breed: 'Beagle', currency: 'USD' }, PROFILE)).toBe(false)
  expect(profileOf({ ...values, price: '', currency: 'JPY' }, YEN)).not.toHaveProperty('currency')
})

test('says what to type instead of a text that is no amount', () => {
  expect(priceFault('a lot', EURO)).toBe('Enter an amount such as 129.00.')
  expect(priceFault('129.00', { code: 'JPY', decimals: 0 })).toBe('Enter an amount such as 129.')
  expect([priceFault('', EURO), priceFault('129', EURO)]).toEqual([undefined, undefined])
})

test('chip numbers are letters and digits', () => {
  expect(chipNumberOf(' 276.098-100 123 ')).toBe('276098100123')
  expect(['276', 'A'.repeat(40), '', 'A'.repeat(41), 'ü'].map(isChipNumber)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})

test('the next pet of a litter has another sex and chip number', () => {
  const values = { ...profileValues(PROFILE), sex: 'male' }
  expect(valuesOfNext(values)).toEqual({ ...values, sex: '', chipNumber: '' })
})

// The price and the facts of a pet as a form has them: text, empty if a field is not set.
import type { PetProfile, NewPetProfile } from '@petstore/client'
import { LIST_PET_PROFILES } from '@petstore/client/rules'
import { exampleAmount, readAmount } from './price.ts'

export interface ProfileValues {
  price: string
  breed: string
  sex: string
  bornOn: string
  chipNumber: string
  description: string
}

export const PROFILE_FIELDS: (keyof ProfileValues)[] = [
  'price',
  'breed',
  'sex',
  'bornOn',
  'chipNumber',
  'description',
]

export function profileValues(profile: PetProfile | undefined): ProfileValues {
  const values = PROFILE_FIELDS.map((field) => [field, profile?.[field] ?? ''])
  return Object.fromEntries(values) as Record<keyof ProfileValues, string>
}

/** What the service stores. Values that are no amount are sent as they are, and the service says what is wrong. */
export function profileOf(values: ProfileValues, decimals: number): NewPetProfile {
  const price = readAmount(values.price, decimals) ?? values.price.trim()
  const texts = { ...values, price, chipNumber: chipNumberOf(values.chipNumber) }
  const given = PROFILE_FIELDS.map((field) => [field, texts[field].trim()] as const)
  return Object.fromEntries(given.filter(([, text]) => text !== ''))
}

export function isSameProfile(fields: NewPetProfile, profile: PetProfile | undefined): boolean {
  return PROFILE_FIELDS.every((field) => fields[field] === profile?.[field])
}

/** Readers and documents show chip numbers in groups, such as "276 098 100 123 456". */
export function chipNumberOf(typed: string): string {
  return typed.replaceAll(/[\s.-]/g, '')
}

export function isChipNumber(text: string): boolean {
  const { pattern, maxLength } = LIST_PET_PROFILES.chipNumber
  return new RegExp(pattern).test(text) && text.length <= maxLength
}

/** What is wrong with a price that a person typed. An empty text is no price. */
export function priceFault(text: string, decimals: number): string | undefined {
  if (text.trim() === '' || readAmount(text, decimals) !== undefined) return undefined
  return `Enter an amount such as ${exampleAmount(decimals)}.`
}

/** The values for the next pet of a litter: all but those that differ between its pets. */
export function valuesOfNext(values: ProfileValues): ProfileValues {
  return { ...values, sex: '', chipNumber: '' }
}

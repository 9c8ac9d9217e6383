// The price and the facts of a pet as a form has them: text, empty if a field is not set.
import type { PetProfile, NewPetProfile } from '@petstore/client'
import { LIST_PET_PROFILES } from '@petstore/client/rules'
import { FACT_NAMES, type FactName, FACTS } from './facts.ts'
import { exampleAmount, readAmount } from './price.ts'
import type { ShopCurrency } from '../shop/shop.ts'

/** The currency is that of the price; empty without a stored price. It becomes that of the shop when a person types a price. */
export type ProfileValues = Record<'price' | 'currency' | FactName, string>

/** Without the currency, which belongs to the price. */
export const PROFILE_FIELDS: Exclude<keyof ProfileValues, 'currency'>[] = ['price', ...FACT_NAMES]

export function profileValues(profile: PetProfile | undefined): ProfileValues {
  const values = [...PROFILE_FIELDS, 'currency' as const].map((field) => [field, profile?.[field] ?? ''])
  return Object.fromEntries(values) as ProfileValues
}

/** The stored price is not in the currency of the shop. The form sends it as it is. */
export function isOtherCurrency(currency: string, shopCurrency: string): boolean {
  return currency !== '' && currency !== shopCurrency
}

/**
 * What the service stores. Values that are no amount are sent as they are, and the service says what is wrong. It also
 * rejects the price if the shop has another currency since the page was loaded.
 */
export function profileOf(values: ProfileValues, shop: ShopCurrency): NewPetProfile {
  const isOther = isOtherCurrency(values.currency, shop.code)
  const typed = isOther ? undefined : readAmount(values.price, shop)
  const price = typed ?? values.price.trim()
  const currency = price === '' ? '' : isOther ? values.currency : shop.code
  const texts = { ...values, price, currency, chipNumber: chipNumberOf(values.chipNumber) }
  const given = [...PROFILE_FIELDS, 'currency' as const].map((field) => [field, texts[field].trim()] as const)
  return Object.fromEntries(given.filter(([, text]) => text !== ''))
}

/** The fields of a stored profile, to store them again. */
export function storedFields(profile: PetProfile | undefined): NewPetProfile {
  const stored = [...PROFILE_FIELDS, 'currency' as const].map((field) => [field, profile?.[field]] as const)
  return Object.fromEntries(stored.filter(([, value]) => value !== undefined))
}

export function isSameProfile(fields: NewPetProfile, profile: PetProfile | undefined): boolean {
  const isSame = (field: keyof ProfileValues) => fields[field] === profile?.[field]
  return PROFILE_FIELDS.every(isSame) && isSame('currency')
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
export function priceFault(text: string, shop: ShopCurrency): string | undefined {
  if (text.trim() === '' || readAmount(text, shop) !== undefined) return undefined
  return `Enter an amount such as ${exampleAmount(shop.decimals)}.`
}

/** The values for the next pet of a litter: all but those that differ between its pets. */
export function valuesOfNext(values: ProfileValues): ProfileValues {
  const others = FACT_NAMES.filter((name) => FACTS[name].isOfOnePet).map((name) => [name, ''])
  return { ...values, ...Object.fromEntries(others) }
}

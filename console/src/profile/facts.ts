// The facts of a pet: what the form, the list, the page of a pet, its history and the import know about each of them. The
// compiler names a fact that is missing. Facts in words: sex and age.
import type { PetProfile } from '@petstore/client'
import { NEW_PET_PROFILE } from '@petstore/client/rules'
import { counted } from '../layout/counted.ts'
import { calendarDayText, DAY_MS } from '../layout/dates.ts'

export const SEXES = NEW_PET_PROFILE.sex.enum
export type Sex = (typeof SEXES)[number]

export interface Facts {
  sex?: Sex | undefined
  /** A date without a time, such as "2026-08-14". */
  bornOn?: string | undefined
}

const SEX_TEXTS: Record<Sex, string> = { female: 'Female', male: 'Male', unknown: 'Unknown' }

/** Below these ages, a larger unit would be too coarse. */
const DAYS_BELOW = 14
const WEEKS_BELOW_DAYS = 84
const MONTHS_BELOW = 24
const WEEK_DAYS = 7

export function sexText(sex: string): string {
  return SEX_TEXTS[sex as Sex]
}

/** Only the price is not among them: its text also depends on the currency. */
export type FactName = Exclude<keyof PetProfile, 'petId' | 'price' | 'currency'>

interface Fact {
  label: string
  /** Within a sentence. Default: the label in lower case. */
  words?: string
  /** On the page of the pet. Default: the value. */
  text?: (value: string, today: string) => string
  /** In a sentence of the history. Default: the value. */
  historyText?: (value: string) => string
  /** The column in the list of pets, if there is one, with its width on a wide screen. */
  column?: { width: string; text?: (value: string, today: string) => string | undefined }
  /** Too long for a line. */
  isLong?: boolean
  /** Differs between the pets of a litter. */
  isOfOnePet?: boolean
}

/** In the order of forms and files. Ages and chip numbers are never cut off in the list. */
export const FACTS: Record<FactName, Fact> = {
  breed: { label: 'Breed', column: { width: 'minmax(0, 10rem)' } },
  sex: {
    label: 'Sex',
    text: sexText,
    historyText: (sex) => sexText(sex).toLowerCase(),
    column: { width: 'minmax(0, 5.5rem)', text: (sex) => (sex === 'unknown' ? undefined : sexText(sex)) },
    isOfOnePet: true,
  },
  bornOn: {
    label: 'Age',
    words: 'date of birth',
    text: bornText,
    historyText: (day) => calendarDayText(day),
    column: { width: '6.5rem', text: ageText },
  },
  chipNumber: { label: 'Chip number', column: { width: '8.5rem' }, isOfOnePet: true },
  reference: { label: 'Reference', isOfOnePet: true },
  description: { label: 'Description', isLong: true },
}
export const FACT_NAMES = Object.keys(FACTS) as FactName[]

/** Such as "9 weeks" or "3 years", rounded down. */
export function ageText(bornOn: string, today: string): string {
  const days = Math.max(0, Math.round((Date.parse(today) - Date.parse(bornOn)) / DAY_MS))
  if (days < DAYS_BELOW) return counted(days, 'day')
  if (days < WEEKS_BELOW_DAYS) return counted(Math.floor(days / WEEK_DAYS), 'week')
  const months = monthsBetween(bornOn, today)
  return months < MONTHS_BELOW ? counted(months, 'month') : counted(Math.floor(months / 12), 'year')
}

/** Such as "9 weeks, born 14 Aug 2026". */
export function bornText(bornOn: string, today: string): string {
  return `${ageText(bornOn, today)}, born ${calendarDayText(bornOn)}`
}

/** What the card for the cage says below the breed. */
export function cardFacts({ sex, bornOn }: Facts, today: string): string[] {
  const sexIfKnown = sex === undefined || sex === 'unknown' ? undefined : sexText(sex)
  return [sexIfKnown, bornOn && ageText(bornOn, today)].filter((text) => text !== undefined)
}

/** Completed months. A pet that was born on the 31st is a month old on the first day after a shorter month. */
function monthsBetween(from: string, to: string): number {
  const [fromYear = 0, fromMonth = 0, fromDay = 0] = from.split('-').map(Number)
  const [toYear = 0, toMonth = 0, toDay = 0] = to.split('-').map(Number)
  return (toYear - fromYear) * 12 + toMonth - fromMonth - (toDay < fromDay ? 1 : 0)
}

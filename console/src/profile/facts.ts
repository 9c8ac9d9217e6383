// The facts of a pet in words: breed, sex, age and chip number.
import { NEW_PET_PROFILE } from '@petstore/client/rules'
import { counted } from '../layout/counted.ts'
import { DAY_MS, dateText } from '../layout/dates.ts'

export const SEXES = NEW_PET_PROFILE.sex.enum
export type Sex = (typeof SEXES)[number]

export interface Facts {
  breed?: string | undefined
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

export function sexText(sex: Sex): string {
  return SEX_TEXTS[sex]
}

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
  return `${ageText(bornOn, today)}, born ${dateText(`${bornOn}T00:00`)}`
}

/** What the card for the cage says below the price. */
export function cardFacts({ breed, sex, bornOn }: Facts, today: string): string[] {
  return [
    breed,
    sex === undefined || sex === 'unknown' ? undefined : sexText(sex),
    bornOn && bornText(bornOn, today),
  ].filter((text) => text !== undefined)
}

/** Completed months. A pet that was born on the 31st is a month old on the first day after a shorter month. */
function monthsBetween(from: string, to: string): number {
  const [fromYear = 0, fromMonth = 0, fromDay = 0] = from.split('-').map(Number)
  const [toYear = 0, toMonth = 0, toDay = 0] = to.split('-').map(Number)
  return (toYear - fromYear) * 12 + toMonth - fromMonth - (toDay < fromDay ? 1 : 0)
}

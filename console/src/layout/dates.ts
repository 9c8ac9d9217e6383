// Writes dates for people. The pages are in English, so dates are too, in the time zone of the shop.
import { formatIn, inShop } from '../shop/zoned.ts'

export const DAY_MS = 86_400_000

const DATE = { day: 'numeric', month: 'short', year: 'numeric' } as const
const numericDate = inShop({ day: '2-digit', month: '2-digit', year: 'numeric' })
const dayAndMonth = inShop({ day: 'numeric', month: 'short' })

/** Such as "14 Nov 2026". */
export const dateText = inShop(DATE)

/** Such as "14 Nov", or "14 Nov 2025" of another year than now. */
export function shortDateText(time: string | number, now: number): string {
  return dayOf(time).slice(0, 4) === dayOf(now).slice(0, 4) ? dayAndMonth(time) : dateText(time)
}

/** Such as "14 Nov 2026, 09:30". */
export const dateTimeText = inShop({ ...DATE, hour: '2-digit', minute: '2-digit' })

/** A day that no time zone changes, such as that of a birth: "2026-11-14" becomes "14 Nov 2026". */
export function calendarDayText(day: string): string {
  return formatIn('UTC', DATE).format(new Date(day))
}

/** The day of the shop at a time, such as "2026-11-14". */
export function dayOf(time: string | number): string {
  return numericDate(time).split('/').toReversed().join('-')
}

/** The day that is this many days later, or earlier if the number is negative. */
export function addDays(day: string, days: number): string {
  return isoDay(Date.parse(day) + days * DAY_MS)
}

/** True for a date of the calendar, such as "2026-11-14". */
export function isDay(text: string): boolean {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(ms) && isoDay(ms) === text
}

function isoDay(utcMs: number): string {
  return new Date(utcMs).toISOString().slice(0, 10)
}

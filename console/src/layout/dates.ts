// Writes dates for people. The pages are in English, so dates are too, in the time zone of the browser.

export const DAY_MS = 86_400_000

const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const DATE_AND_TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})

/** Such as "14 Nov 2026". */
export function dateText(time: string | number): string {
  return DATE.format(new Date(time))
}

/** Such as "14 Nov 2026, 09:30". */
export function dateTimeText(time: string | number): string {
  return DATE_AND_TIME.format(new Date(time))
}

/** The day of a time in the time zone of the browser, such as "2026-11-14". */
export function dayOf(time: string | number): string {
  const date = new Date(time)
  return isoDay(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()))
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

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

// When a change was made: about how long ago, and exactly.
import { DAY_MS, dateText } from './dates.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** After this, a date says more than a number of days. */
const DATE_AFTER_MS = 7 * DAY_MS

const AGO = new Intl.RelativeTimeFormat('en-GB', { numeric: 'always' })
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' })

/** Such as "5 minutes ago", or a date if it is longer ago than a week. */
export function agoText(time: string, nowMs: number): string {
  const ms = nowMs - Date.parse(time)
  if (ms < MINUTE_MS) return 'just now'
  if (ms < HOUR_MS) return AGO.format(-Math.floor(ms / MINUTE_MS), 'minute')
  if (ms < DAY_MS) return AGO.format(-Math.floor(ms / HOUR_MS), 'hour')
  if (ms < DATE_AFTER_MS) return AGO.format(-Math.floor(ms / DAY_MS), 'day')
  return dateText(time)
}

/** With seconds and the time zone of the browser. */
export function exactText(time: string): string {
  return EXACT.format(new Date(time))
}

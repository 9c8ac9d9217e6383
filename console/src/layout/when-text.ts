// When something happens: about how long ago or from now, and exactly.
import { inShop } from '../shop/zoned.ts'
import { DAY_MS, dateText } from './dates.ts'

const MINUTE_MS = 60_000
/** After this, a date says more than a number of days. */
const DATE_AFTER_MS = 7 * DAY_MS

const MINUTE = { unit: 'minute', unitMs: MINUTE_MS } as const
const UNITS = [{ unit: 'day', unitMs: DAY_MS }, { unit: 'hour', unitMs: 60 * MINUTE_MS }, MINUTE] as const

const RELATIVE = new Intl.RelativeTimeFormat('en-GB', { numeric: 'always' })

/** Such as "5 minutes ago", or a date if it is longer ago than a week. */
export function agoText(time: string, nowMs: number): string {
  const ms = nowMs - Date.parse(time)
  if (ms < MINUTE_MS) return 'just now'
  return ms < DATE_AFTER_MS ? relativeText(-ms) : dateText(time)
}

/** Less than a minute from now, or a time that has passed. */
export const SOON = 'soon'

/** Such as "in 5 minutes". */
export function inText(time: string, nowMs: number): string {
  const ms = Date.parse(time) - nowMs
  return ms < MINUTE_MS ? SOON : relativeText(ms)
}

function relativeText(ms: number): string {
  const { unit, unitMs } = UNITS.find((one) => Math.abs(ms) >= one.unitMs) ?? MINUTE
  return RELATIVE.format(Math.trunc(ms / unitMs), unit)
}

/** With seconds and the time zone of the shop. */
export const exactText = inShop({ dateStyle: 'full', timeStyle: 'long' })

// The times of a hold in words.
import { NEW_ORDER } from '@petstore/client/rules'
import { inShop, readShopTime } from '../shop/zoned.ts'
import { DAY_MS, dayOf } from './dates.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Seconds are shown only near the end: before that, they distract. */
const SECONDS_BELOW_MS = 5 * MINUTE_MS

const CLOCK = { hour: '2-digit', minute: '2-digit' } as const
const dayAndClock = inShop({ weekday: 'short', day: 'numeric', month: 'short', ...CLOCK })

/** The time of day in the shop, such as "14:30". */
export const timeText = inShop(CLOCK)

/** Such as "1 h 5 min left". Rounded down, so that the text never promises too much. */
export function timeLeftText(expiresAt: string, nowMs: number): string {
  const ms = Date.parse(expiresAt) - nowMs
  if (ms < SECOND_MS) return 'Time is up'
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s left`
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS)
  if (ms < SECONDS_BELOW_MS) return `${minutes} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s left`
  if (ms < HOUR_MS) return `${minutes} min left`
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS)
  if (ms < DAY_MS) return minutes === 0 ? `${hours} h left` : `${hours} h ${minutes} min left`
  const days = Math.floor(ms / DAY_MS)
  return hours === 0 ? `${days} d left` : `${days} d ${hours} h left`
}

/** True if the hold ends within five minutes. */
export function isEnding(expiresAt: string, nowMs: number): boolean {
  return Date.parse(expiresAt) - nowMs < SECONDS_BELOW_MS
}

/** The time of day, such as "14:30", with the date if it is another day than today. */
export function clockText(time: string | number, nowMs: number): string {
  return dayOf(time) === dayOf(nowMs) ? timeText(time) : dayAndClock(time)
}

const { minimum: HOLD_MINUTES_MIN, maximum: HOLD_MINUTES_MAX } = NEW_ORDER.holdMinutes

/** The minutes until a time of the shop such as "2026-11-21T12:00", rounded up. Undefined if a hold cannot end then. */
export function minutesUntil(localTime: string, nowMs: number): number | undefined {
  const ms = readShopTime(localTime) - nowMs
  return ms > 0 && ms <= HOLD_MINUTES_MAX * MINUTE_MS ? Math.ceil(ms / MINUTE_MS) : undefined
}

/** The minutes that are left of a hold, to hold the pet again until the same time. */
export function minutesLeft(expiresAt: string, nowMs: number): number {
  return Math.max(HOLD_MINUTES_MIN, Math.ceil((Date.parse(expiresAt) - nowMs) / MINUTE_MS))
}

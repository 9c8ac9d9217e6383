// The result of one check of `petstore doctor`.
import { countOf } from '../../values/count-text.ts'

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 60 * MINUTE_SECONDS
const DAY_SECONDS = 24 * HOUR_SECONDS

export interface Finding {
  check: string
  state: 'ok' | 'warning' | 'fault'
  message: string
  remedy?: string
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** How long ago something was, or how long until it happens. */
export function ageOf(seconds: number): string {
  if (seconds >= 2 * DAY_SECONDS) return countOf(Math.floor(seconds / DAY_SECONDS), 'day')
  if (seconds >= HOUR_SECONDS) return countOf(Math.floor(seconds / HOUR_SECONDS), 'hour')
  if (seconds >= 2 * MINUTE_SECONDS) return countOf(Math.floor(seconds / MINUTE_SECONDS), 'minute')
  return countOf(Math.floor(Math.max(0, seconds)), 'second')
}

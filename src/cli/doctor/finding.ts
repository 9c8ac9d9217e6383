// The result of one check of `petstore doctor`.
import { countOf } from '../../values/count-text.ts'

const HOUR_SECONDS = 3_600
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

export function ageOf(seconds: number): string {
  if (seconds >= 2 * DAY_SECONDS) return countOf(Math.floor(seconds / DAY_SECONDS), 'day')
  if (seconds >= HOUR_SECONDS) return countOf(Math.floor(seconds / HOUR_SECONDS), 'hour')
  return countOf(Math.floor(Math.max(0, seconds) / 60), 'minute')
}

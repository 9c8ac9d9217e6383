// For tests of figures per day: a day may end between a change and the request that counts it.
import { setTimeout as sleep } from 'node:timers/promises'

/** Much longer than a test that cannot start again takes. */
const BEFORE_MIDNIGHT_MS = 180_000

/** The day in a time zone, such as 2026-11-15: from Node instead of PostgreSQL. */
export function dayIn(timeZone: string, time = new Date()): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(time)
}

/** Does the work again if a day ended meanwhile, in one of the time zones or in UTC, whether or not the work failed. */
export async function onOneDay<Result>(work: () => Promise<Result>, ...timeZones: string[]): Promise<Result> {
  const days = () => ['UTC', ...timeZones].map((timeZone) => dayIn(timeZone)).join()
  for (;;) {
    const before = days()
    try {
      const result = await work()
      if (days() === before) return result
    } catch (error) {
      if (days() === before) throw error
    }
  }
}

/** Waits for midnight of this host if it is near: for tests whose changes remain, so that they cannot start again. */
export async function untilAfterMidnight(): Promise<void> {
  const leftMs = new Date().setHours(24, 0, 0, 0) - Date.now()
  if (leftMs < BEFORE_MIDNIGHT_MS) await sleep(leftMs + 1_000)
}

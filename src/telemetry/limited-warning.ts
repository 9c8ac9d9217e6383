// Limits the log lines about a failure that happens many times a second.
import type { Log } from './log.ts'

const WARNED_EVERY_MS = 60_000

/**
 * Returns a function that warns of the first failure, and then at most once a minute. The field `counted` is the total
 * since the previous line.
 */
export function limitedWarning(
  log: Pick<Log, 'warn'>,
  counted: string,
  message: string,
): (facts: object, count?: number) => void {
  let warnedAt = Number.NEGATIVE_INFINITY
  let total = 0
  return (facts, count = 1) => {
    total += count
    if (performance.now() - warnedAt < WARNED_EVERY_MS) return
    warnedAt = performance.now()
    log.warn({ ...facts, [counted]: total }, message)
    total = 0
  }
}

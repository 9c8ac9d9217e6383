// Limits the log lines about a failure that happens many times a second.
import type { Log } from './log.ts'

const WARNED_EVERY_MS = 60_000

/**
 * Returns a function that warns of the first failure, and then at most once in `everyMs`. A failure whose `reason` differs
 * from that of the previous line is logged at once. The field `counted` is the total since the previous line.
 */
export function limitedWarning(
  log: Pick<Log, 'warn'>,
  counted: string,
  message: string,
  everyMs = WARNED_EVERY_MS,
): (facts: object, count?: number, reason?: string) => void {
  let warned = { at: Number.NEGATIVE_INFINITY, reason: '' }
  let total = 0
  return (facts, count = 1, reason = '') => {
    total += count
    if (performance.now() - warned.at < everyMs && reason === warned.reason) return
    warned = { at: performance.now(), reason }
    log.warn({ ...facts, [counted]: total }, message)
    total = 0
  }
}

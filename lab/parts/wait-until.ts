// Waits for a condition.
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 50

/** Polls until the condition holds, and returns the milliseconds waited. Rejects after the timeout. */
export async function waitUntil(
  what: string,
  timeoutMs: number,
  condition: () => Promise<boolean> | boolean,
  pollMs = POLL_MS,
): Promise<number> {
  // Tests replace the other clocks.
  const startedAt = process.hrtime.bigint()
  const waitedMs = () => Number(process.hrtime.bigint() - startedAt) / 1_000_000
  while (!(await condition())) {
    if (waitedMs() > timeoutMs) throw new Error(`${what}: not within ${timeoutMs / 1000} s`)
    await sleep(pollMs)
  }
  return waitedMs()
}

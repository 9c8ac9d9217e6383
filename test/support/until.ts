// Waits for a condition without moving fake timers. `expect.poll` moves them by its interval at each poll.
import { setTimeout as sleep } from 'node:timers/promises'

const POLLED_EVERY_MS = 20
/** After a failed test, an endless loop would keep the process running. */
const UNTIL_MAX_MS = 120_000

export async function until(isTrue: () => Promise<boolean> | boolean): Promise<void> {
  const endsAt = process.hrtime.bigint() + BigInt(UNTIL_MAX_MS) * 1_000_000n
  while (!(await isTrue())) {
    if (process.hrtime.bigint() > endsAt) throw new Error('the condition did not become true in time')
    await sleep(POLLED_EVERY_MS)
  }
}

// Waits for a condition without moving fake timers. `expect.poll` moves them by its interval at each poll.
import { waitUntil } from '../../lab/parts/wait-until.ts'

const POLLED_EVERY_MS = 20
/** After a failed test, an endless loop would keep the process running. */
const UNTIL_MAX_MS = 120_000

export async function until(
  isTrue: () => Promise<boolean> | boolean,
  what = 'the condition is true',
): Promise<void> {
  await waitUntil(what, UNTIL_MAX_MS, isTrue, POLLED_EVERY_MS)
}

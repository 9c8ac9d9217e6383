// Repeats work until it is stopped.
import { setTimeout as sleep } from 'node:timers/promises'

/** Returns a function that stops the repetition and waits for the work in flight. It throws the error of failed work. */
export function repeat(everyMs: number, work: () => Promise<unknown>): () => Promise<void> {
  const stopping = new AbortController()
  const running = run()
  // Without a handler, failed work would end the process before it has stopped what it started.
  running.catch(() => {})
  return async () => {
    stopping.abort()
    await running
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await work()
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
}

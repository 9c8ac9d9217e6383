// Work that a running service repeats beside its requests.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../telemetry/log.ts'

export interface BackgroundJob {
  name: string
  everyMs: number
  work: () => Promise<void>
}

/** Runs each job again and again, one at a time; a failure is logged and tried again the next time round. */
export function startBackground(jobs: readonly BackgroundJob[], log: Log): { stop: () => Promise<void> } {
  const ending = new AbortController()

  async function repeat({ name, everyMs, work }: BackgroundJob): Promise<void> {
    while (!ending.signal.aborted) {
      await sleep(everyMs, undefined, { signal: ending.signal }).catch(() => {})
      // The last round comes at the stop, so that nothing collected is lost.
      await work().catch((err: unknown) => log.warn({ err, job: name }, 'background job failed'))
    }
  }

  const running = jobs.map(repeat)
  return {
    stop: async () => {
      ending.abort()
      await Promise.all(running)
    },
  }
}

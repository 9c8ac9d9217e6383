// Runs periodic jobs while the service handles requests.
// Knows nothing about what a job does.
import { setTimeout as sleep } from 'node:timers/promises'
import type { JobObserver } from '../telemetry/job-metrics.ts'
import type { Log } from '../telemetry/log.ts'

export interface BackgroundJob {
  name: string
  everyMs: number
  work: () => Promise<void>
}

/** Starts every job. Runs of one job never overlap. A failed run is logged; the next run starts after the interval. */
export function startBackground(
  jobs: readonly BackgroundJob[],
  log: Log,
  observer?: JobObserver,
): { stop: () => Promise<void> } {
  const stopping = new AbortController()

  async function runPeriodically({ name, everyMs, work }: BackgroundJob): Promise<void> {
    observer?.onStart(name)
    while (!stopping.signal.aborted) {
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {})
      // When `stop` interrupts the sleep, the job runs one last time, so that collected data is written.
      try {
        await work()
        observer?.onSuccess(name)
      } catch (err) {
        observer?.onFailure(name)
        log.warn({ err, job: name }, 'background job failed')
      }
    }
  }

  const running = jobs.map(runPeriodically)
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

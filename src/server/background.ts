// Runs periodic jobs while the service handles requests.
import type { JobObserver } from '../telemetry/job-metrics.ts'
import type { Log } from '../telemetry/log.ts'
import { openWakeup, type Wakeup } from './wakeup.ts'

export interface BackgroundJob {
  name: string
  /** The next run starts this long after the last one, or earlier if `wakeup` asks for it. */
  everyMs: number
  wakeup?: Wakeup
  work: () => Promise<void>
}

/** Starts every job. Runs of one job never overlap. A failed run is logged; the next run starts after the interval. */
export function startBackground(
  jobs: readonly BackgroundJob[],
  log: Log,
  observer?: JobObserver,
): { stop: () => Promise<void> } {
  const stopping = new AbortController()

  async function runPeriodically({ name, everyMs, wakeup, work }: BackgroundJob): Promise<void> {
    const { wait } = wakeup ?? openWakeup(everyMs)
    observer?.onStart(name)
    while (!stopping.signal.aborted) {
      await wait(everyMs, stopping.signal)
      // When `stop` interrupts the wait, the job runs one last time, so that collected data is written.
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

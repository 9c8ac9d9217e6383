// Starts the next run of a background job early, when there is work for it.
import { setTimeout as sleep } from 'node:timers/promises'

export interface Wakeup {
  /** Asks for a run after this time, or earlier. */
  wake: (afterMs?: number) => void
  /** Waits `everyMs` after a run, or until the run that was asked for, but always at least the pause. */
  wait: (everyMs: number, stopping: AbortSignal) => Promise<void>
}

/** @param pauseMs Min time between two runs. It coalesces the work of many requests into one run. */
export function openWakeup(pauseMs: number): Wakeup {
  let wantedAt = Number.POSITIVE_INFINITY
  let replan = () => {}

  return {
    wake: (afterMs = 0) => {
      const at = performance.now() + afterMs
      // Most calls end here: while the store is busy, a run is already wanted.
      if (at >= wantedAt) return
      wantedAt = at
      replan()
    },
    wait: async (everyMs, stopping) => {
      const endedAt = performance.now()
      const leftMs = () =>
        Math.max(endedAt + pauseMs, Math.min(endedAt + everyMs, wantedAt)) - performance.now()
      for (let left = leftMs(); left > 0 && !stopping.aborted; left = leftMs()) {
        const planning = new AbortController()
        replan = () => planning.abort()
        stopping.addEventListener('abort', replan, { once: true })
        await sleep(left, undefined, { signal: planning.signal }).catch(() => {})
        stopping.removeEventListener('abort', replan)
      }
      replan = () => {}
      // Work that appears during the run asks for another one.
      wantedAt = Number.POSITIVE_INFINITY
    },
  }
}

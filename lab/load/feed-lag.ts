// The time from the acknowledgement of a pet until the follower has read its event.
// An event that arrives before the acknowledgement has no lag.
import { createHistogram } from 'node:perf_hooks'

export interface Lag {
  /** Records that a client received the acknowledgement of a pet. */
  acknowledge: (petId: number) => void
  /** Records that the follower read the event of the pet. */
  see: (petId: number) => void
  /** Starts a new window, for `worstMs`. */
  startWindow: () => void
  /** The longest lag of the window, including acknowledged pets whose event has not arrived. */
  worstMs: () => number
  /** Over the whole run, in milliseconds. */
  percentile: (percent: number) => number
}

export function openLag(
  hasSeen: (petId: number) => boolean,
  now: () => number = () => performance.now(),
): Lag {
  const acknowledgedAt = new Map<number, number>()
  const histogram = createHistogram()
  let worst = 0
  const record = (ms: number) => {
    worst = Math.max(worst, ms)
    histogram.record(Math.max(1, Math.round(ms)))
  }
  return {
    acknowledge: (petId) => {
      if (hasSeen(petId)) record(0)
      else acknowledgedAt.set(petId, now())
    },
    see: (petId) => {
      const at = acknowledgedAt.get(petId)
      if (at === undefined) return
      acknowledgedAt.delete(petId)
      record(now() - at)
    },
    startWindow: () => {
      worst = 0
    },
    worstMs: () => {
      const [oldest] = acknowledgedAt.values()
      return oldest === undefined ? worst : Math.max(worst, now() - oldest)
    },
    percentile: (percent) => (histogram.count === 0 ? 0 : histogram.percentile(percent)),
  }
}

// Whether the receiver of a webhook works, and how many attempts may be in flight.
// A receiver that fails for several pets in a row is down: it then gets one attempt at a time, with pauses, until one
// succeeds. A receiver that fails for a single pet gets the events of all other pets.
import type { Schedule } from './schedule.ts'

/** Failures of this many different lanes without a success in between mean that the receiver is down. */
const DOWN_AFTER_LANES = 3

export interface Health {
  succeeded: () => void
  /** @param retryAfterMs The receiver has asked for this pause. */
  failed: (lane: string, now: number, retryAfterMs?: number) => void
  /** Whether another attempt may start. */
  hasRoom: (now: number, inFlight: number) => boolean
  isDown: () => boolean
  /** Since when every attempt has failed. */
  failingSince: () => number | undefined
}

export function trackHealth(
  schedule: Pick<Schedule, 'probeMs'>,
  inFlightMax: number,
  since: number | undefined,
): Health {
  let failingSince = since
  let failures = 0
  let probeAt = 0
  let pausedUntil = 0
  const failedLanes = new Set<string>()
  const isDown = () => failedLanes.size >= DOWN_AFTER_LANES

  return {
    succeeded: () => {
      failingSince = undefined
      failures = 0
      probeAt = 0
      failedLanes.clear()
    },
    failed: (lane, now, retryAfterMs = 0) => {
      failingSince ??= now
      if (!isDown()) failedLanes.add(lane)
      // Attempts that were in flight together count as one failure.
      if (isDown() && now >= probeAt) {
        failures += 1
        probeAt = now + schedule.probeMs(failures)
      }
      pausedUntil = Math.max(pausedUntil, now + retryAfterMs)
    },
    hasRoom: (now, inFlight) =>
      now >= pausedUntil && now >= probeAt && inFlight < (isDown() ? 1 : inFlightMax),
    isDown,
    failingSince: () => failingSince,
  }
}

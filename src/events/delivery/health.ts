// Whether the receiver of a webhook works, and how many attempts may be in flight.
// A receiver that fails for several pets in a row is down: it then gets one attempt at a time, with pauses, until one
// succeeds. A receiver that fails for a single pet gets the events of all other pets.
import type { Schedule } from './schedule.ts'

/** Failures of this many different lanes without a success in between mean that the receiver is down. */
const DOWN_AFTER_LANES = 3

/** Only functions that transitions.ts calls change it. */
export interface Health {
  /** Since when every attempt has failed. */
  failingSince: number | undefined
  /** Lanes that have failed since the last success, until the receiver is down. */
  failedLanes: Set<string>
  /** Failed attempts since it is down. */
  failures: number
  /** No attempt starts before this time, because the receiver is down. */
  probeAt: number
  /** No attempt starts before this time, because the receiver has asked for a pause. */
  pausedUntil: number
}

export const initialHealth = (failingSince: number | undefined): Health => ({
  failingSince,
  failedLanes: new Set(),
  failures: 0,
  probeAt: 0,
  pausedUntil: 0,
})

export const isDown = ({ failedLanes }: Readonly<Health>): boolean => failedLanes.size >= DOWN_AFTER_LANES

/** Whether another attempt may start. */
export function hasRoom(health: Readonly<Health>, now: number, inFlight: number): boolean {
  return now >= health.pausedUntil && now >= health.probeAt && (inFlight === 0 || !isDown(health))
}

export function recordSuccess(health: Health): void {
  health.failingSince = undefined
  health.failedLanes.clear()
  health.failures = 0
  health.probeAt = 0
}

/** @param pauseMs The receiver has asked for this pause. */
export function recordFailure(
  health: Health,
  lane: string,
  pauseMs: number,
  now: number,
  { probeMs }: Pick<Schedule, 'probeMs'>,
): void {
  health.failingSince ??= now
  if (!isDown(health)) health.failedLanes.add(lane)
  // Attempts that were in flight together count as one failure.
  if (isDown(health) && now >= health.probeAt) {
    health.failures += 1
    health.probeAt = now + probeMs(health.failures)
  }
  health.pausedUntil = Math.max(health.pausedUntil, now + pauseMs)
}

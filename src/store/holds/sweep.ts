// Sweeps expired holds. Every instance sweeps when the next hold expires, four times a second while it serves reads, and
// otherwise once a second.
//
// The last sweep can be stale, for example because the database was unreachable or the process was paused. A read then
// waits for a new sweep first. While no standby confirms writes, a sweep cannot commit. Reads then stop waiting and may
// show expired holds.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FreshHolds } from '../../contract/fresh-holds.ts'
import type { Db } from '../../db/database.ts'
import type { Log } from '../../telemetry/log.ts'
import { type Expired, expireOrders } from './queries.ts'

/** How often an instance sweeps, at most. */
export const SWEPT_EVERY_MS = 250
/**
 * A sweep is fresh until this long after its start. Reads should show no hold more than one second after it expired.
 * The remaining 300 ms are for the sweep and the read.
 */
const FRESH_FOR_MS = 700
/** Reads stop waiting for a sweep that has committed nothing for this long. */
const PROGRESS_WITHIN_MS = 1_000
const SWEEP_BATCH = 500

export interface Holds extends FreshHolds {
  sweep: () => Promise<void>
}

export interface HoldsObserver {
  /** Asks for a sweep after this time, or earlier. */
  sweepIn: (afterMs: number) => void
  /** Called after a statement that has ended holds. */
  onEnded: () => void
}

interface Sweep {
  finished: Promise<void>
  progressAt: number
}

export function trackHolds(
  db: Db,
  log: Log,
  now = () => performance.now(),
  progressWithinMs = PROGRESS_WITHIN_MS,
  { sweepIn, onEnded }: HoldsObserver = { sweepIn: () => {}, onEnded: () => {} },
): Holds {
  let sweptAt = Number.NEGATIVE_INFINITY
  let current: Sweep | undefined

  async function sweepAll(sweep: Sweep): Promise<void> {
    const startedAt = now()
    const requestId = randomUUID()
    let swept: Expired
    do {
      swept = await expireOrders(db, requestId, SWEEP_BATCH)
      sweep.progressAt = performance.now()
      if (swept.ended > 0) {
        log.info({ requestId, ended: swept.ended }, 'expired holds swept')
        onEnded()
      }
    } while (swept.ended === SWEEP_BATCH)
    sweptAt = startedAt
    // Holds that another transaction has locked are still overdue: the next sweep then follows at once.
    if (swept.nextInMs !== null) sweepIn(swept.nextInMs)
  }

  /** Returns the sweep in flight; starts one if there is none. */
  function startSweep(): Sweep {
    if (current !== undefined) return current
    const sweep: Sweep = { finished: Promise.resolve(), progressAt: performance.now() }
    current = sweep
    sweep.finished = sweepAll(sweep).finally(() => {
      current = undefined
    })
    return sweep
  }

  async function waitFor(sweep: Sweep): Promise<void> {
    // The background job logs failed sweeps. The read continues and reports its own error, if any.
    const finished = sweep.finished.catch(() => {})
    const isInFlight = () => sweep === current
    while (isInFlight()) {
      const leftMs = sweep.progressAt + progressWithinMs - performance.now()
      if (leftMs <= 0) return
      await Promise.race([finished, sleep(leftMs, undefined, { ref: false })])
    }
  }

  return {
    sweep: () => startSweep().finished,
    // Does not wait if the last sweep is fresh, or if unacknowledged writes show that no sweep can commit.
    waitUntilFresh: () => {
      // More reads may follow. With regular sweeps, they need not wait.
      sweepIn(0)
      if (now() - sweptAt < FRESH_FOR_MS || db.connections().unacknowledged > 0) return undefined
      return waitFor(startSweep())
    },
  }
}

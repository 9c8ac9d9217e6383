// Holds that end by themselves. Every instance sweeps four times a second; and should its last sweep be too long
// ago, because the database was away or the process was paused, whoever reads waits for a new one first.
import { randomUUID } from 'node:crypto'
import type { Db } from '../db/database.ts'
import type { Log } from '../log.ts'
import { expireOrders } from './queries.ts'

export const SWEPT_EVERY_MS = 250
/** A reader never sees a hold more than a second past its end; the rest is for the sweep itself. */
const FRESH_FOR_MS = 700
const SWEEP_BATCH = 500

export interface Holds {
  sweep: () => Promise<void>
  /** Resolves at once while the last sweep is fresh. */
  fresh: () => Promise<void> | undefined
}

export function trackHolds(db: Db, log: Log, now = () => performance.now()): Holds {
  let sweptAt = Number.NEGATIVE_INFINITY
  let sweeping: Promise<void> | undefined

  async function sweepAll(): Promise<void> {
    const startedAt = now()
    const requestId = randomUUID()
    for (let ended = SWEEP_BATCH; ended === SWEEP_BATCH; ) {
      ended = await expireOrders(db, requestId, SWEEP_BATCH)
      if (ended > 0) log.info({ requestId, ended }, 'holds ended')
    }
    sweptAt = startedAt
  }

  async function sweep(): Promise<void> {
    sweeping ??= sweepAll().finally(() => {
      sweeping = undefined
    })
    await sweeping
  }

  return { sweep, fresh: () => (now() - sweptAt < FRESH_FOR_MS ? undefined : sweep()) }
}

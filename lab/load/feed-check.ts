// The checks of the event feed after each fault and at the end: mirror against database, and the feed read again.
import type { Lab } from '../cluster/cluster.ts'
import type { Violations } from '../parts/violations.ts'
import type { Gate } from '../parts/gate.ts'
import { compareWithDatabase } from './mirror-check.ts'
import type { Follower } from './feed-follower.ts'

/** Longer than the longest request, and than an import. */
const PAUSE_TIMEOUT_MS = 60_000

interface FeedCheckOptions {
  lab: Lab
  gate: Gate
  follower: Follower
  violations: Violations
}

export interface MirrorCheck {
  pets: number
  orders: number
  /** Pets and orders that differ between the mirror and the database. */
  differences: number
  /** Events that were read again. */
  readAgain: number
  /** Time for which the load was paused. */
  pausedSeconds: number
}

/** Totals of the run, for the report. */
export interface FeedSummary {
  events: number
  /** Comparisons of the mirror with the database. */
  comparisons: number
  /** Comparisons that found a difference, or failed. */
  failedComparisons: number
  readAgain: number
  lagMedianMs: number
  lagP99Ms: number
}

export interface FeedCheck {
  /** Starts a new window before a fault: the next check reads the events since then again. */
  startWindow: () => void
  worstLagMs: () => number
  /** Pauses the load and compares. Returns null if that was not possible, which is a violation. */
  check: (moment: string) => Promise<MirrorCheck | null>
  /** The same at the end, with all events from the start of the feed. */
  checkAll: () => Promise<MirrorCheck | null>
  summary: () => FeedSummary
}

export function openFeedCheck({ lab, gate, follower, violations }: FeedCheckOptions): FeedCheck {
  const totals = { comparisons: 0, failedComparisons: 0, readAgain: 0 }
  let windowStart = follower.next

  async function compare(moment: string, from: string | undefined): Promise<MirrorCheck> {
    const pausedAt = performance.now()
    if (!(await gate.pause(PAUSE_TIMEOUT_MS))) throw new Error('requests of the load do not end')
    const { differences, ...counts } = await compareWithDatabase(lab, follower)
    for (const { subject, text } of differences) {
      violations.add({ kind: 'mirror', subject, text: `${moment}, ${text}` })
    }
    const readAgain = await follower.readAgain(from)
    totals.readAgain += readAgain
    if (differences.length > 0) totals.failedComparisons += 1
    const pausedSeconds = Math.round(performance.now() - pausedAt) / 1000
    return { ...counts, differences: differences.length, readAgain, pausedSeconds }
  }

  async function check(moment: string, from: string | undefined): Promise<MirrorCheck | null> {
    totals.comparisons += 1
    try {
      return await compare(moment, from)
    } catch (error) {
      totals.failedComparisons += 1
      violations.add({ kind: 'mirror', subject: moment, text: `${moment}, not compared: ${error}` })
      return null
    } finally {
      gate.resume()
    }
  }

  return {
    startWindow: () => {
      windowStart = follower.next
      follower.lag.startWindow()
    },
    worstLagMs: () => follower.lag.worstMs(),
    check: (moment) => check(moment, windowStart),
    checkAll: () => check('at the end', undefined),
    summary: () => ({
      events: follower.events,
      ...totals,
      lagMedianMs: follower.lag.percentile(50),
      lagP99Ms: follower.lag.percentile(99),
    }),
  }
}

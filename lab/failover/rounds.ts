// Causes the faults of the plan one after the other, and measures each of them.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../cluster/cluster.ts'
import type { FeedCheck } from '../load/feed-check.ts'
import type { Load } from '../load/load.ts'
import type { Sampler } from '../load/sampler.ts'
import type { Activity, Series } from '../parts/activity.ts'
import type { Violations } from '../parts/violations.ts'
import type { PlannedFault } from './plan.ts'
import type { FaultRow } from './report.ts'

// These only end a drill that hangs; the report shows how long each fault took.
const HEALTHY_TIMEOUT_MS = 600_000
const RESUME_TIMEOUT_MS = 300_000
const POLL_MS = 100
const WARM_UP_MS = 5_000

export interface RoundsOptions {
  lab: Lab
  load: Load
  sampler: Sampler
  activity: Activity
  feed: FeedCheck
  violations: Violations
  plan: readonly PlannedFault[]
  settleMs: number
  /** Time between the starts of two faults. Undefined: each fault starts as soon as the one before is over. */
  periodMs?: number
  onStart: (fault: PlannedFault, number: number) => void
  onRow: (row: FaultRow, number: number) => void
}

/** Ends early if the cluster does not become healthy. */
export async function runRounds(options: RoundsOptions): Promise<FaultRow[]> {
  const { lab, plan, violations, onStart, onRow, periodMs = 0 } = options
  const rows: FaultRow[] = []
  await sleep(WARM_UP_MS)
  const startedAt = performance.now()
  for (const [index, fault] of plan.entries()) {
    await sleep(Math.max(0, startedAt + (index + 0.5) * periodMs - performance.now()))
    onStart(fault, index + 1)
    if ((await untilHealthy(lab)) === null) {
      violations.add({ kind: 'notHealthy', subject: `${index}`, text: `before fault ${index + 1}, ${fault}` })
      break
    }
    try {
      const row = await runRound(fault, index + 1, options)
      rows.push(row)
      onRow(row, index + 1)
    } catch (error) {
      const text = `fault ${index + 1}, ${fault}, ends the plan: ${error}`
      violations.add({ kind: 'notHealthy', subject: `${index + 1}`, text })
      break
    }
  }
  // The last fault has the same time after it as the others.
  await sleep(Math.max(0, startedAt + plan.length * periodMs - performance.now()))
  return rows
}

async function runRound(fault: PlannedFault, number: number, options: RoundsOptions): Promise<FaultRow> {
  const { lab, load, sampler, activity, feed, settleMs } = options
  const leaderBefore = await lab.leader()
  load.client.takeCounts()
  sampler.takePeak()
  activity.startWindow()
  feed.startWindow()
  const acknowledgedBefore = load.acknowledged()
  const ownDelay = monitorEventLoopDelay()
  ownDelay.enable()
  const secondsNow = () => (performance.now() - activity.startedAt) / 1000
  const startedAt = secondsNow()

  const { holdMs, detail, heal } = await lab.startFault(fault)
  await sleep(holdMs)
  await heal()
  const healedAt = secondsNow()
  const secondsUntilHealthy = await waitForRecovery(`fault ${number}, ${fault} (${detail})`, options)
  await sleep(settleMs)

  ownDelay.disable()
  const gap = (series: Series) => round(activity.longestGapMs(series) / 1000)
  const measured = {
    fault,
    detail,
    startedAt: round(startedAt),
    healedAt: round(healedAt),
    leaderBefore,
    leaderAfter: await lab.leader(),
    writeGapSeconds: gap('writes'),
    readGapSeconds: gap('reads'),
    orderGapSeconds: gap('orders'),
    feedGapSeconds: gap('events'),
    feedLagSeconds: round(feed.worstLagMs() / 1000),
    secondsUntilHealthy,
    acknowledged: load.acknowledged() - acknowledgedBefore,
    responses: load.client.takeCounts(),
    peak: sampler.takePeak(),
    ownDelayMs: Math.round(ownDelay.max / 1e6),
  }
  // Last, because it pauses the load.
  return { ...measured, mirror: await feed.check(`after fault ${number}, ${fault}`) }
}

/**
 * Waits until the cluster is healthy and writes are acknowledged. Returns the seconds until the cluster was healthy; null
 * if that took too long.
 */
async function waitForRecovery(
  fault: string,
  { lab, activity, violations }: RoundsOptions,
): Promise<number | null> {
  const [untilHealthySeconds, resumed] = await Promise.all([
    untilHealthy(lab),
    untilWrites(activity, performance.now()),
  ])
  const withinText = `within ${RESUME_TIMEOUT_MS / 1000} s after ${fault}`
  if (!resumed) violations.add({ kind: 'notResumed', subject: fault, text: `no writes ${withinText}` })
  if (untilHealthySeconds === null) {
    violations.add({ kind: 'notHealthy', subject: fault, text: `after ${fault}` })
  }
  return untilHealthySeconds === null ? null : round(untilHealthySeconds)
}

async function untilHealthy(lab: Lab): Promise<number | null> {
  try {
    return (await lab.waitUntilHealthy(HEALTHY_TIMEOUT_MS)) / 1000
  } catch {
    return null
  }
}

/** Waits for a write that was acknowledged after this time. */
async function untilWrites(activity: Activity, afterMs: number): Promise<boolean> {
  while (activity.lastAt('writes') <= afterMs) {
    if (performance.now() > afterMs + RESUME_TIMEOUT_MS) return false
    await sleep(POLL_MS)
  }
  return true
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}

// The faults of a run and their order.
import { FAULTS, STANDBY_FAULTS } from '../cluster/faults.ts'
import { createRandom, shuffle } from '../parts/random.ts'

export type PlannedFault = keyof typeof FAULTS

export const FAULT_NAMES = Object.keys(FAULTS) as PlannedFault[]
/** The fault that lost writes most often while the service was developed, so the full plan causes it most often. */
const MOST_FREQUENT: PlannedFault = 'isolate'
const MOST_FREQUENT_TIMES = 12
const OTHER_TIMES = 3
/** Faults of the full plan. */
const CLUSTER_FAULTS = FAULT_NAMES.filter((name) => !isStandbyFault(name))
/** Those that move the primary. */
const STANDBY_READS_FREQUENT: ReadonlySet<PlannedFault> = new Set(['isolate', 'switchover', 'kill-node'])
const STANDBY_READS_FREQUENT_TIMES = 3
const STANDBY_FAULT_TIMES = 4
const SHORT_PLAN: readonly PlannedFault[] = ['isolate', 'kill-node']
/** Without the faults that replace an instance: the memory of a process is measured from the start to the end. */
const SOAK_PLAN: readonly PlannedFault[] = [
  'kill-postgres',
  'switchover',
  'lose-etcd',
  'kill-node',
  'packet-loss',
  'isolate',
  'restart-postgres',
  'freeze-postgres',
  'kill-synchronous-standby',
  'partition',
]

interface PlanOptions {
  faults: readonly PlannedFault[]
  short: boolean
  soak: boolean
  standbyReads: boolean
  seed: number
}

/**
 * The given faults in the given order; without any, the short plan, that of the soak, that of standby reads, or the full
 * plan. The last two are shuffled by the seed.
 */
export function makePlan({ faults, short, soak, standbyReads, seed }: PlanOptions): PlannedFault[] {
  if (faults.length > 0) return [...faults]
  if (short) return [...SHORT_PLAN]
  if (soak) return [...SOAK_PLAN]
  const names = standbyReads ? FAULT_NAMES : CLUSTER_FAULTS
  const timesOf = standbyReads ? timesWithStandbyReads : timesInFullPlan
  const all = names.flatMap((name) => Array.from({ length: timesOf(name) }, () => name))
  return shuffle(createRandom(seed, 'plan'), all)
}

function timesInFullPlan(name: PlannedFault): number {
  return name === MOST_FREQUENT ? MOST_FREQUENT_TIMES : OTHER_TIMES
}

function timesWithStandbyReads(name: PlannedFault): number {
  if (isStandbyFault(name)) return STANDBY_FAULT_TIMES
  return STANDBY_READS_FREQUENT.has(name) ? STANDBY_READS_FREQUENT_TIMES : 1
}

function isStandbyFault(name: PlannedFault): boolean {
  return STANDBY_FAULTS.some((fault) => fault === name)
}

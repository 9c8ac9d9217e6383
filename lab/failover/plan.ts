// The faults of a run and their order.
import { FAULTS } from '../cluster/faults.ts'
import { createRandom, shuffle } from '../parts/random.ts'

export type PlannedFault = keyof typeof FAULTS

export const FAULT_NAMES = Object.keys(FAULTS) as PlannedFault[]
/** The fault that lost writes most often while the service was developed, so the full plan causes it most often. */
const MOST_FREQUENT: PlannedFault = 'isolate'
const MOST_FREQUENT_TIMES = 12
const OTHER_TIMES = 3
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
  seed: number
}

/**
 * The given faults in the given order; without any, the short plan, that of the soak, or the full plan, which is shuffled
 * by the seed.
 */
export function makePlan({ faults, short, soak, seed }: PlanOptions): PlannedFault[] {
  if (faults.length > 0) return [...faults]
  if (short) return [...SHORT_PLAN]
  if (soak) return [...SOAK_PLAN]
  const all = FAULT_NAMES.flatMap((name) => Array.from({ length: timesInFullPlan(name) }, () => name))
  return shuffle(createRandom(seed, 'plan'), all)
}

function timesInFullPlan(name: PlannedFault): number {
  return name === MOST_FREQUENT ? MOST_FREQUENT_TIMES : OTHER_TIMES
}

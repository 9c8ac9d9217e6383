// Compares the resources and latencies at the start of a soak with those at its end. Pure functions.
import { median } from '../parts/quantile.ts'
import type { Rates } from './half-capacity.ts'
import type { HostCpuSample } from './host-cpu.ts'
import type { Latency } from './latencies.ts'
import { RESOURCES, type Resource, type ResourceSample } from './resources.ts'

/** Shares of the run. The first minutes are left out: a process that has just started still grows. */
const EARLY = [0.1, 0.35] as const
const LATE = [0.75, 1] as const
/** Seconds after the end of a fault that belong to it: the service is still connecting again. */
const RECOVERY_SECONDS = 15

const LABELS: Record<Resource, string> = {
  memoryMb: 'memory of an instance (MB)',
  heapMb: 'JavaScript heap of an instance (MB)',
  openFiles: 'open files of an instance',
  handles: 'handles of an instance',
  connections: 'connections of an instance to PostgreSQL',
}

export interface SoakData {
  rates: Rates
  resources: readonly ResourceSample[]
  latencies: readonly Latency[]
  hostCpu: readonly HostCpuSample[]
}

export interface Comparison {
  what: string
  early: number
  late: number
}

interface Fault {
  /** Seconds since the load began. */
  startedAt: number
  healedAt: number
  /** From the end of the fault; null if the cluster did not become healthy in time. */
  secondsUntilHealthy: number | null
}

/** Medians of the measurements between the faults, at the start and at the end of the run. */
export function compareEnds(soak: SoakData, faults: readonly Fault[], seconds: number): Comparison[] {
  const isCalm = ({ second }: { second: number }) => !faults.some((fault) => isDuring(fault, second))
  const compare = <Item extends { second: number }>(
    what: string,
    items: readonly Item[],
    valueOf: (item: Item) => number,
  ): Comparison => {
    const within = ([from, to]: readonly [number, number]) =>
      items
        .filter((item) => isCalm(item) && item.second >= from * seconds && item.second <= to * seconds)
        .map(valueOf)
    return { what, early: median(within(EARLY)), late: median(within(LATE)) }
  }
  return [
    ...RESOURCES.map((resource) => compare(LABELS[resource], soak.resources, (sample) => sample[resource])),
    compare('latency, p50 (ms)', soak.latencies, ({ p50Ms }) => p50Ms),
    compare('latency, p99 (ms)', soak.latencies, ({ p99Ms }) => p99Ms),
    compare('CPU that this host used (%)', soak.hostCpu, ({ used }) => used),
    compare('CPU that other hosts took from it (%)', soak.hostCpu, ({ taken }) => taken),
  ]
}

function isDuring({ startedAt, healedAt, secondsUntilHealthy }: Fault, second: number): boolean {
  return second >= startedAt && second <= healedAt + (secondsUntilHealthy ?? 0) + RECOVERY_SECONDS
}

// Values of gauges, of one process or over several of them.
import type { Metrics, Sample } from './metrics.ts'

/** The label that selects a series, such as `{ state: 'open' }`. */
type Selector = Readonly<Record<string, string>>

const matches = ({ labels }: Sample, selector: Selector) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)

/** The value of the first series that matches; undefined without one. */
export function valueOf(metrics: Metrics, name: string, selector: Selector = {}): number | undefined {
  return metrics.get(name)?.find((sample) => matches(sample, selector))?.value
}

/** The values of the processes that have the series. */
function valuesOf(processes: readonly Metrics[], name: string, selector: Selector = {}): number[] {
  return processes.flatMap((metrics) => valueOf(metrics, name, selector) ?? [])
}

/** For values that each process has of its own, such as connections. */
export function sumOf(processes: readonly Metrics[], name: string, selector?: Selector): number {
  return valuesOf(processes, name, selector).reduce((sum, value) => sum + value, 0)
}

/** For values of the store, which all processes read from the database. Null if no process has one. */
export function maxOf(processes: readonly Metrics[], name: string, selector?: Selector): number | null {
  const values = valuesOf(processes, name, selector)
  return values.length === 0 ? null : Math.max(...values)
}

/** For the age of something that one process is enough to do, as in the alerts. Null if no process has one. */
export function minOf(processes: readonly Metrics[], name: string, selector?: Selector): number | null {
  const values = valuesOf(processes, name, selector)
  return values.length === 0 ? null : Math.min(...values)
}

/** The values of all series, added up by a label. */
export function sumsBy(processes: readonly Metrics[], name: string, label: string): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { labels, value } of processes.flatMap((metrics) => metrics.get(name) ?? [])) {
    const group = labels[label] ?? ''
    sums.set(group, (sums.get(group) ?? 0) + value)
  }
  return sums
}

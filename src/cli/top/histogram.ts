// Histograms from their series, added up over several processes, and their quantiles.
import type { Metrics, Sample } from './metrics.ts'

export interface Histogram {
  count: number
  sum: number
  /** The cumulative count of each bucket by its upper bound. The last bound is Infinity. */
  buckets: Map<number, number>
}

export function emptyHistogram(): Histogram {
  return { count: 0, sum: 0, buckets: new Map() }
}

/** Adds up the series of a histogram that have the same group, over all processes. */
export function histogramsBy(
  processes: readonly Metrics[],
  name: string,
  groupOf: (labels: Sample['labels']) => string,
): Map<string, Histogram> {
  const groups = new Map<string, Histogram>()
  const groupFor = ({ labels }: Sample) => {
    const group = groupOf(labels)
    const histogram = groups.get(group) ?? emptyHistogram()
    groups.set(group, histogram)
    return histogram
  }
  for (const metrics of processes) {
    for (const sample of metrics.get(`${name}_count`) ?? []) groupFor(sample).count += sample.value
    for (const sample of metrics.get(`${name}_sum`) ?? []) groupFor(sample).sum += sample.value
    for (const sample of metrics.get(`${name}_bucket`) ?? []) {
      const bound = boundOf(sample.labels['le'] ?? '')
      const { buckets } = groupFor(sample)
      buckets.set(bound, (buckets.get(bound) ?? 0) + sample.value)
    }
  }
  return groups
}

/** All series of a histogram in one. */
export function histogramOf(processes: readonly Metrics[], name: string): Histogram {
  return histogramsBy(processes, name, () => '').get('') ?? emptyHistogram()
}

function boundOf(text: string): number {
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text)
}

/**
 * Estimates a quantile like `histogram_quantile` of Prometheus: values are spread evenly within a bucket, and the first
 * bucket begins at 0. If the quantile is beyond the highest finite bound, returns that bound. Null without values.
 */
export function quantile(share: number, { buckets }: Histogram): number | null {
  const bounds = [...buckets.keys()].sort((a, b) => a - b)
  if (bounds.length < 2 || bounds.at(-1) !== Number.POSITIVE_INFINITY) return null
  const counts = cumulative(bounds.map((bound) => buckets.get(bound) ?? 0))
  const total = counts.at(-1) ?? 0
  if (!(total > 0)) return null
  const rank = share * total
  const index = counts.findIndex((count) => count >= rank)
  if (index === -1 || index === bounds.length - 1) return bounds.at(-2) ?? null
  const upper = bounds[index] ?? 0
  if (index === 0 && upper <= 0) return upper
  const lower = bounds[index - 1] ?? 0
  const below = counts[index - 1] ?? 0
  const inBucket = (counts[index] ?? 0) - below
  return inBucket === 0 ? lower : lower + (upper - lower) * ((rank - below) / inBucket)
}

/** Counts of two scrapes, or of processes with different bounds, may decrease slightly. */
function cumulative(counts: readonly number[]): number[] {
  let max = 0
  return counts.map((count) => (max = Math.max(max, count)))
}

/** The share of the values above a bound; null without values, or if no bucket has this bound. */
export function shareAbove(bound: number, { count, buckets }: Histogram): number | null {
  const below = buckets.get(bound)
  return count > 0 && below !== undefined ? Math.max(0, 1 - below / count) : null
}

export function meanOf({ count, sum }: Histogram): number | null {
  return count > 0 ? sum / count : null
}

// How fast counters increase between two scrapes of one process.
import type { Metrics, Sample } from './metrics.ts'

const START_TIME = 'process_start_time_seconds'

/**
 * The increase per second of every series. A series without an earlier value began at 0, because its labels were first
 * used after the earlier scrape. If the process restarted in between, its earlier values are useless: returns undefined.
 */
export function ratesOf(before: Metrics, now: Metrics, seconds: number): Metrics | undefined {
  if (seconds <= 0 || startOf(before) !== startOf(now)) return undefined
  return new Map(
    [...now].map(([name, samples]) => {
      const earlier = new Map(before.get(name)?.map((sample) => [keyOf(sample), sample.value]))
      return [
        name,
        samples.map((sample) => toRate(sample, earlier.get(keyOf(sample)) ?? 0, seconds)),
      ] as const
    }),
  )
}

/** A counter that decreased began again at 0. */
function toRate(sample: Sample, before: number, seconds: number): Sample {
  const increase = sample.value < before ? sample.value : sample.value - before
  return { ...sample, value: increase / seconds }
}

/** A process writes the labels of a series in the same order each time. */
const keyOf = ({ labels }: Sample) => JSON.stringify(labels)

function startOf(metrics: Metrics): number | undefined {
  return metrics.get(START_TIME)?.[0]?.value
}

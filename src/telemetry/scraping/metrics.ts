// The metrics that a process returned: `/metrics` returns the JSON of prom-client if the request accepts JSON.

export interface Sample {
  name: string
  labels: Readonly<Record<string, string>>
  value: number
}

/** The samples of each metric by its name. A histogram has three names, such as `x_bucket`, `x_sum` and `x_count`. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>

interface WrittenMetric {
  name: string
  values: { metricName?: string; labels: Record<string, string | number>; value: number | null }[]
}

/** Throws an error if the text is something else. JSON has no NaN: such a value is null. */
export function parseMetrics(text: string): Metrics {
  const samples = (JSON.parse(text) as WrittenMetric[]).flatMap(({ name, values }) =>
    values.map(({ metricName = name, labels, value }) => ({
      name: metricName,
      labels: Object.fromEntries(Object.entries(labels).map(([label, one]) => [label, String(one)])),
      value: value ?? Number.NaN,
    })),
  )
  return Map.groupBy(samples, ({ name }) => name)
}

/** The value of the first series with these labels, such as `{ state: 'open' }`; undefined without one. */
export function valueOf(
  metrics: Metrics,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  return metrics
    .get(name)
    ?.find((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    ?.value
}

/** The sum of the series whose labels match, over all processes. */
export function sumOf(
  processes: readonly Metrics[],
  name: string,
  matches: (labels: Sample['labels']) => boolean = () => true,
): number {
  return processes
    .flatMap((metrics) => metrics.get(name) ?? [])
    .reduce((sum, { labels, value }) => (matches(labels) ? sum + value : sum), 0)
}

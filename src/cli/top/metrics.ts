// The metrics of a process. `/metrics` returns them in the JSON of prom-client if the request accepts JSON.

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

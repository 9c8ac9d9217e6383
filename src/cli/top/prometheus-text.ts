// Parses the text format of Prometheus, which `/metrics` returns.

export interface Sample {
  labels: Readonly<Record<string, string>>
  /** Identifies the series within its metric. Does not depend on the order of the labels. */
  key: string
  value: number
}

/** The samples of each metric by its name. A histogram has three names, such as `x_bucket`, `x_sum` and `x_count`. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+-?\d+)?$/
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/y
/** In lower case. Prometheus accepts every case, and prom-client writes `Nan`. */
const SPECIAL_VALUES: Readonly<Record<string, number>> = {
  '+inf': Number.POSITIVE_INFINITY,
  inf: Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
  nan: Number.NaN,
}
/** Number() also accepts other forms, such as hexadecimal numbers. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

/** Throws a SyntaxError if a line does not follow the format. */
export function parseMetrics(text: string): Metrics {
  const metrics = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, name, labelText = '', valueText = ''] = LINE.exec(line.trimEnd()) ?? []
    const value = DECIMAL.test(valueText) ? Number(valueText) : SPECIAL_VALUES[valueText.toLowerCase()]
    if (name === undefined || value === undefined) throw syntaxError(line)
    const labels = parseLabels(labelText, line)
    const sample = { labels, key: keyOf(labels), value }
    const samples = metrics.get(name)
    if (samples === undefined) metrics.set(name, [sample])
    else samples.push(sample)
  }
  return metrics
}

function parseLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const [, name, value = ''] = LABEL.exec(text) ?? []
    if (name === undefined) throw syntaxError(line)
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
  }
  return labels
}

function keyOf(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels)
    .sort()
    .map((name) => `${name}=${labels[name]}`)
    .join('\n')
}

function syntaxError(line: string): SyntaxError {
  return new SyntaxError(`not a line of metrics: ${line.slice(0, 80)}`)
}

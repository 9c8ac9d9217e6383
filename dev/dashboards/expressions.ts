// Builds PromQL for the dashboards: every metric is limited to the jobs and instances that the reader has chosen.

const CHOSEN = 'job=~"$job", instance=~"$instance"'

/** The metric of the chosen processes, with more conditions such as `status=~"5.."`. */
export function of(metric: string, conditions = ''): string {
  return `${metric}{${conditions === '' ? CHOSEN : `${conditions}, ${CHOSEN}`}}`
}

/** The increase per second. Grafana sets the window to at least four scrapes. */
export function rate(metric: string, conditions = '', window = '$__rate_interval'): string {
  return `rate(${of(metric, conditions)}[${window}])`
}

/** Sums over the processes, one series for each value of the label. */
export function sumBy(label: string, expression: string): string {
  return `sum by (${label}) (${expression})`
}

interface QuantileOptions {
  /** One series for each value of this label. */
  by?: string
  conditions?: string
  window?: string
}

/** A quantile of a histogram. Without observations, there is no value instead of NaN. */
export function quantile(
  share: number,
  histogram: string,
  { by, conditions, window }: QuantileOptions = {},
): string {
  const labels = by === undefined ? 'le' : `le, ${by}`
  return `histogram_quantile(${share}, ${sumBy(labels, rate(`${histogram}_bucket`, conditions, window))}) > 0`
}

/** The whole time that the dashboard shows, at every point of it. */
const WHOLE_RANGE = '$__range'

/**
 * The series with the largest values over the whole time that the dashboard shows. With `topk` alone, the series would
 * differ from point to point.
 */
export function largest(max: number, label: string, expression: (window?: string) => string): string {
  const whole = expression(WHOLE_RANGE).replaceAll(`[${WHOLE_RANGE}]`, `[${WHOLE_RANGE}] @ end()`)
  return `${expression()} and on (${label}) topk(${max}, ${whole})`
}

/** Only the series above 0, such as failures. If there are none, one series "none". */
export function aboveZero(label: string, expression: string): string {
  return `${expression} > 0 or on () label_replace(vector(0), "${label}", "none", "", "")`
}

/** The mean of the observations of a histogram, one series for each value of the label. */
export function mean(histogram: string, label: string): string {
  return `${sumBy(label, rate(`${histogram}_sum`))} / (${sumBy(label, rate(`${histogram}_count`))} > 0)`
}

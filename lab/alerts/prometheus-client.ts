// Queries of any running Prometheus.
const REQUEST_TIMEOUT_MS = 10_000

export interface Series {
  labels: Record<string, string>
  /** Pairs of seconds since 1970 and value. An instant query returns one pair. */
  values: [seconds: number, value: number][]
}

export interface Range {
  /** Seconds since 1970. */
  from: number
  to: number
  stepSeconds: number
}

export interface PrometheusClient {
  /** At the moment, in seconds since 1970. The default is now. */
  query: (expression: string, at?: number) => Promise<Series[]>
  queryRange: (expression: string, range: Range) => Promise<Series[]>
}

interface Result {
  status: string
  error?: string
  data: {
    resultType: string
    result: { metric: Record<string, string>; value?: [number, string]; values?: [number, string][] }[]
  }
}

export function openPrometheusClient(url: string): PrometheusClient {
  async function request(path: string, parameters: Record<string, string>): Promise<Series[]> {
    const response = await fetch(new URL(`/api/v1/${path}?${new URLSearchParams(parameters)}`, url), {
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    const { status, error, data } = (await response.json()) as Result
    if (status !== 'success') throw new Error(`Prometheus: ${error}, in ${parameters['query']}`)
    return data.result.map(({ metric, value, values }) => ({
      labels: metric,
      values: (values ?? (value ? [value] : [])).map(([seconds, text]) => [seconds, Number(text)]),
    }))
  }
  return {
    query: (expression, at) =>
      request('query', { query: expression, ...(at !== undefined && { time: String(at) }) }),
    queryRange: (expression, { from, to, stepSeconds }) =>
      request('query_range', {
        query: expression,
        start: String(from),
        end: String(to),
        step: String(stepSeconds),
      }),
  }
}

// Debian's Prometheus, with the files of deploy/monitoring and the targets of this run, in a folder of its own.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { freePort } from '../../src/demo/cluster.ts'
import { startDaemon, waitUntil } from '../processes.ts'

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 10_000

export const MONITORING_FOLDER = resolve(import.meta.dirname, '../../deploy/monitoring')

export interface PrometheusOptions {
  /** Gets the configuration, the data and the log. */
  folder: string
  /** Host and port of the admin ports, by the name of the job in prometheus.yaml. */
  targets: { petstore: string[]; 'petstore-deliver': string[] }
  /** Host and port of an Alertmanager. */
  alertmanager?: string
  /** Seconds between two scrapes and between two evaluations of the rules. The default is that of prometheus.yaml. */
  intervalSeconds?: number
}

export interface Series {
  labels: Record<string, string>
  /** Pairs of seconds since 1970 and value. An instant query returns one pair. */
  values: [seconds: number, value: number][]
}

export interface Prometheus {
  url: string
  query: (expression: string) => Promise<Series[]>
  queryRange: (
    expression: string,
    range: { from: number; to: number; stepSeconds: number },
  ) => Promise<Series[]>
  stop: () => Promise<void>
}

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { folder } = options
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  writeFileSync(join(folder, 'prometheus.yaml'), configuration(options))
  writeFileSync(join(folder, 'alerts.yaml'), readFileSync(join(MONITORING_FOLDER, 'alerts.yaml')))
  const daemon = await startDaemon(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'prometheus-data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { logFile: join(folder, 'prometheus.log'), env: {} },
  )
  await waitUntil(`Prometheus is ready (${folder}/prometheus.log)`, START_TIMEOUT_MS, async () => {
    if (!daemon.running)
      throw new Error(`Prometheus exited: ${readFileSync(join(folder, 'prometheus.log'), 'utf8')}`)
    return responds(`${url}/-/ready`)
  })

  async function request(path: string, parameters: Record<string, string>): Promise<Series[]> {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`, {
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    const body = (await response.json()) as Response
    if (body.status !== 'success') throw new Error(`Prometheus: ${body.error}, in ${parameters['query']}`)
    return body.data.result.map(({ metric, value, values }) => ({
      labels: metric,
      values: (values ?? (value ? [value] : [])).map(([seconds, text]) => [seconds, Number(text)]),
    }))
  }

  return {
    url,
    query: (expression) => request('query', { query: expression }),
    queryRange: (expression, { from, to, stepSeconds }) =>
      request('query_range', {
        query: expression,
        start: String(from),
        end: String(to),
        step: String(stepSeconds),
      }),
    stop: () => daemon.stop('SIGTERM', STOP_TIMEOUT_MS),
  }
}

interface Response {
  status: string
  error?: string
  data: {
    result: {
      metric: Record<string, string>
      value?: [number, string]
      values?: [number, string][]
    }[]
  }
}

/** prometheus.yaml with other targets and intervals. */
function configuration({ targets, alertmanager, intervalSeconds }: PrometheusOptions): string {
  let text = readFileSync(join(MONITORING_FOLDER, 'prometheus.yaml'), 'utf8')
  const replace = (pattern: RegExp, replacement: string) => {
    if (!pattern.test(text)) throw new Error(`prometheus.yaml has no ${pattern}`)
    text = text.replace(pattern, replacement)
  }
  for (const [job, hosts] of Object.entries(targets))
    replace(
      new RegExp(`(job_name: ${job}\\n +static_configs:\\n +- targets: )\\[.*\\]`),
      `$1${JSON.stringify(hosts)}`,
    )
  replace(
    /(alertmanagers:\n +- static_configs:\n +- targets: )\[.*\]/,
    `$1${JSON.stringify(alertmanager ? [alertmanager] : [])}`,
  )
  if (intervalSeconds !== undefined)
    replace(/(scrape|evaluation)_interval: \d+s/g, `$1_interval: ${intervalSeconds}s`)
  return text
}

async function responds(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })).ok
  } catch {
    return false
  }
}

// Debian's Prometheus, with the files of deploy/monitoring and the targets of this run, in a folder of its own.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { freePort } from '../../src/data/demo/cluster.ts'
import { openPrometheusClient, type PrometheusClient } from './prometheus-client.ts'
import { startReadyDaemon } from './ready-daemon.ts'

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

export interface Prometheus extends PrometheusClient {
  url: string
  stop: () => Promise<void>
}

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { folder } = options
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  writeFileSync(join(folder, 'prometheus.yaml'), configuration(options))
  writeFileSync(join(folder, 'alerts.yaml'), readFileSync(join(MONITORING_FOLDER, 'alerts.yaml')))
  const stop = await startReadyDaemon({
    name: 'Prometheus',
    command: 'prometheus',
    args: [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'prometheus-data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    logFile: join(folder, 'prometheus.log'),
    url,
  })
  return { url, ...openPrometheusClient(url), stop }
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

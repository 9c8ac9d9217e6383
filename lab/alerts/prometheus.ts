// Debian's Prometheus, with the files of deploy/monitoring and the targets of this run, in a folder of its own.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse, stringify } from 'yaml'
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

interface Discovery {
  static_configs: { targets: string[] }[]
}

/** The part of prometheus.yaml that a run changes. */
interface Configuration {
  global: { scrape_interval: string; evaluation_interval: string }
  alerting: { alertmanagers: Discovery[] }
  scrape_configs: (Discovery & { job_name: keyof PrometheusOptions['targets'] })[]
}

/** prometheus.yaml with other targets and intervals. */
function configuration({ targets, alertmanager, intervalSeconds }: PrometheusOptions): string {
  const changed = parse(readFileSync(join(MONITORING_FOLDER, 'prometheus.yaml'), 'utf8')) as Configuration
  for (const job of changed.scrape_configs) job.static_configs = [{ targets: targets[job.job_name] }]
  const alertmanagers = alertmanager === undefined ? [] : [alertmanager]
  changed.alerting.alertmanagers = [{ static_configs: [{ targets: alertmanagers }] }]
  if (intervalSeconds !== undefined) {
    const interval = `${intervalSeconds}s`
    Object.assign(changed.global, { scrape_interval: interval, evaluation_interval: interval })
  }
  return stringify(changed)
}

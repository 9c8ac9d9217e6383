// `node drill/dashboards/pictures.ts`: draws the dashboards of deploy/monitoring as pictures. See --help.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard'
import { print, say } from '../../src/cli/terminal.ts'
import { migrate } from '../../src/db/migrate.ts'
import { embeddedBinaries, freePort, startCluster } from '../../src/demo/cluster.ts'
import { startPrometheus } from '../monitoring/prometheus.ts'
import { type NamedSeries, openDashboard, panelsOf, readDashboards, type View } from './grafana.ts'
import { startLoad } from './load.ts'
import { drawDashboard } from './picture.ts'
import { openPrometheusClient, type PrometheusClient } from '../monitoring/prometheus-client.ts'
import { startStore } from './store.ts'

const HELP = `node drill/dashboards/pictures.ts [options]

Draws each dashboard of deploy/monitoring as an SVG, with the values that its queries return.

  --prometheus URL  draw the Prometheus at this URL. Default: start a store under load and a Prometheus, and draw them
  --minutes N       the time up to now (default 15; 3 for a store of its own, which runs that long)
  --output FOLDER   folder of the pictures (default docs/dashboards)

Example: node drill/dashboards/pictures.ts --prometheus http://127.0.0.1:9090 --output /tmp/pictures`
const OUTPUT = resolve(import.meta.dirname, '../../docs/dashboards')
/** Points of each line. */
const POINTS = 90
/** Seconds between two scrapes of an own Prometheus. */
const OWN_INTERVAL_SECONDS = 2

async function drawAll(url: string, minutes: number, output: string): Promise<void> {
  const client = openPrometheusClient(url)
  const to = Date.now() / 1_000
  const scrapeSeconds = await scrapeInterval(client, to)
  const stepSeconds = Math.max(scrapeSeconds, Math.ceil((minutes * 60) / POINTS))
  const view = { from: to - minutes * 60, to, stepSeconds, scrapeSeconds }
  mkdirSync(output, { recursive: true })
  for (const { name, dashboard } of readDashboards()) {
    const file = join(output, `${name}.svg`)
    writeFileSync(file, await draw(client, dashboard, view))
    say(file)
  }
}

async function draw(client: PrometheusClient, dashboard: Dashboard, view: View): Promise<string> {
  const opened = await openDashboard(client, dashboard, view)
  const seriesOf = new Map<Panel, NamedSeries[]>()
  for (const panel of panelsOf(dashboard)) seriesOf.set(panel, await opened.run(panel))
  const [annotation] = dashboard.annotations.list ?? []
  const firing = annotation?.expr === undefined ? [] : await client.queryRange(annotation.expr, view)
  const alerts = firing.map(({ labels, values }) => ({
    name: labels['alertname'] ?? '',
    at: values[0]?.[0] ?? view.from,
  }))
  return drawDashboard(dashboard, { range: view, seriesOf, alerts })
}

/** The data source of Grafana has this as a setting. */
async function scrapeInterval(client: PrometheusClient, at: number): Promise<number> {
  const [series] = await client.query('max(count_over_time(up{job=~"petstore.*"}[1m]))', at)
  const perMinute = series?.values[0]?.[1]
  if (perMinute === undefined) throw new Error('this Prometheus has no job "petstore"')
  return Math.max(1, Math.round(60 / perMinute))
}

/** Runs a store under load for some minutes, and draws it. Stops everything that it started, also after an error. */
async function drawOwnStore(minutes: number, output: string): Promise<void> {
  await using started = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'petstore-dashboards-'))
  const dataFolder = mkdtempSync('/var/tmp/petstore-dashboards-')
  started.defer(() => {
    for (const path of [folder, dataFolder]) rmSync(path, { recursive: true, force: true })
  })
  const cluster = await startCluster({ binaries: embeddedBinaries(), dataFolder, port: await freePort() })
  started.defer(cluster.stop)
  const url = cluster.url('postgres')
  await migrate(url)
  const store = await startStore({ folder, serviceUrl: url, deliverUrl: url, superuserUrl: url })
  started.defer(store.stop)
  const load = await startLoad(store)
  started.defer(load.stop)
  const prometheus = await startPrometheus({
    folder,
    targets: store.targets,
    intervalSeconds: OWN_INTERVAL_SECONDS,
  })
  started.defer(prometheus.stop)
  say(`The store runs under load for ${minutes} minutes …`)
  await sleep(minutes * 60_000)
  await drawAll(prometheus.url, minutes, output)
}

const { values: options } = parseArgs({
  options: {
    prometheus: { type: 'string' },
    minutes: { type: 'string' },
    output: { type: 'string', default: OUTPUT },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) print(HELP)
else if (options.prometheus === undefined) await drawOwnStore(Number(options.minutes ?? 3), options.output)
else await drawAll(options.prometheus, Number(options.minutes ?? 15), options.output)

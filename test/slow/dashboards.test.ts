// The dashboards of deploy/monitoring: the query of every panel returns plausible values from a real store under load, and
// promtool accepts the configurations of Prometheus. Needs Prometheus.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  BytesIEC,
  BytesSI,
  CountsPerSecond,
  OpsPerSecond,
  PercentUnit,
  RequestsPerSecond,
  Seconds,
  Short,
} from '@grafana/grafana-foundation-sdk/units'
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard'
import { afterAll, expect, test } from 'vitest'
import {
  type NamedSeries,
  openDashboard,
  panelsOf,
  queriesOf,
  readDashboards,
} from '../../lab/alerts/dashboards/grafana.ts'
import { startLoad } from '../../lab/alerts/dashboards/load.ts'
import { startStore } from '../../lab/alerts/dashboards/store.ts'
import { openPrometheusClient } from '../../lab/alerts/prometheus-client.ts'
import { MONITORING_FOLDER, startPrometheus } from '../../lab/alerts/prometheus.ts'
import { createTestDatabase } from '../support/database.ts'
import { asDelivery, asSuperuser } from '../support/roles.ts'

const SCRAPE_SECONDS = 1
const RANGE_SECONDS = 15
/** Only ends a test that waits in vain: on a busy host, a series may lack values for a while. */
const WITHIN_MS = 300_000

/** Panels without a value in a healthy store, with the reason. */
const MAY_BE_EMPTY: Record<string, string> = {
  'Firing alerts': 'no alert fires',
  'Certificate expires in': 'the store connects to PostgreSQL without TLS',
}

const YEAR_SECONDS = 365 * 86_400
/** Values outside of these ranges are wrong, whatever the load. */
const PLAUSIBLE: Record<string, [min: number, max: number]> = {
  [Seconds]: [0, 10 * YEAR_SECONDS],
  // A Node process can use more than one core for a moment.
  [PercentUnit]: [0, 4],
  [RequestsPerSecond]: [0, 100_000],
  [CountsPerSecond]: [0, 100_000],
  [OpsPerSecond]: [0, 100_000],
  [BytesSI]: [1e6, 1e9],
  // Memory that counts against a max: none may be in use.
  [BytesIEC]: [0, 1e9],
  [Short]: [0, 100_000],
}
/** Titles of panels that measure durations of requests, statements and waits. */
const DURATIONS = /p99|latency|commit time|lag|age of the feed|overdue|last read|last success/i
const DURATION_MAX_SECONDS = 60

const folder = mkdtempSync(join(tmpdir(), 'petstore-dashboards-'))
const databaseUrl = await createTestDatabase()
const store = await startStore({
  folder,
  serviceUrl: databaseUrl,
  deliverUrl: asDelivery(databaseUrl),
  superuserUrl: asSuperuser(databaseUrl),
})
const load = await startLoad(store)
const prometheus = await startPrometheus({ folder, targets: store.targets, intervalSeconds: SCRAPE_SECONDS })
afterAll(async () => {
  await load.stop()
  await prometheus.stop()
  await store.stop()
  rmSync(folder, { recursive: true, force: true })
})
const client = openPrometheusClient(prometheus.url)

function problemsOf(panel: Panel, series: readonly NamedSeries[]): string[] {
  const { title = '', fieldConfig } = panel
  const unit = fieldConfig?.defaults.unit ?? ''
  const values = series.flatMap((line) => line.values.map(([, value]) => value))
  if (values.length === 0) return title in MAY_BE_EMPTY ? [] : ['no values']
  const [min, unitMax] = PLAUSIBLE[unit] ?? [0, 0]
  const max = unit === Seconds && DURATIONS.test(title) ? DURATION_MAX_SECONDS : unitMax
  const wrong = values.find((value) => !(value >= min && value <= max))
  const unnamed = series.filter(({ name }) => name.trim() === '' || name.includes('{{'))
  return [
    ...(wrong === undefined ? [] : [`${wrong} is not between ${min} and ${max} (${unit})`]),
    ...(unnamed.length === 0 ? [] : ['a series has no name']),
    ...(series.length < queriesOf(panel).length ? ['a query returns nothing'] : []),
  ]
}

async function allProblems(): Promise<string[]> {
  const to = Date.now() / 1_000
  const view = {
    from: to - RANGE_SECONDS,
    to,
    stepSeconds: SCRAPE_SECONDS,
    scrapeSeconds: SCRAPE_SECONDS,
  }
  const problems: string[] = []
  for (const { name, dashboard } of readDashboards()) {
    const opened = await openDashboard(client, dashboard, view)
    for (const panel of panelsOf(dashboard)) {
      const found = problemsOf(panel, await opened.run(panel))
      problems.push(...found.map((problem) => `${name}: ${panel.title}: ${problem}`))
    }
  }
  return problems
}

test('every panel shows plausible values of a healthy store', async () => {
  await expect.poll(allProblems, { timeout: WITHIN_MS, interval: 1_000 }).toEqual([])
})

test('no alert fires for a healthy store', async () => {
  expect(await client.query('ALERTS{alertstate="firing"}', Date.now() / 1_000)).toEqual([])
})

test('promtool accepts the configurations of Prometheus, for systemd and for Compose', () => {
  for (const path of ['prometheus.yaml', 'compose/prometheus.yaml']) {
    const checked = mkdtempSync(join(folder, 'config-'))
    cpSync(join(MONITORING_FOLDER, path), join(checked, 'prometheus.yaml'))
    cpSync(join(MONITORING_FOLDER, 'alerts.yaml'), join(checked, 'alerts.yaml'))
    const output = execFileSync('promtool', ['check', 'config', join(checked, 'prometheus.yaml')], {
      encoding: 'utf8',
    })
    expect(output).toContain('SUCCESS')
  }
})

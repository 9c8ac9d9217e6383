// The files of deploy/monitoring and the profile `monitoring` of compose.yaml: they name alerts, services, folders and
// intervals that exist. test/slow/dashboards.test.ts checks the configurations of Prometheus with promtool.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/config/config.ts'
import {
  ALERT_NAMES,
  ALERTS,
  alertOf,
  CPU_MAX,
  DAY_SECONDS,
  SLOW_SECONDS,
} from '../../src/telemetry/alerts.ts'
import { readCompose } from '../support/compose.ts'

interface Prometheus {
  global: { scrape_interval: string; evaluation_interval: string }
  rule_files: string[]
  scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[]
}

interface Alertmanager {
  inhibit_rules: { source_matchers: string[]; target_matchers: string[] }[]
}

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const readYaml = (path: string): unknown => parse(read(join('deploy/monitoring', path)))
const compose = readCompose()
const systemd = readYaml('prometheus.yaml') as Prometheus
const ofCompose = readYaml('compose/prometheus.yaml') as Prometheus

test('the runbook has the entry of each alert', () => {
  const runbook = read('docs/runbook.md')
  expect(ALERT_NAMES.filter((name) => !runbook.includes(`\n### ${alertOf(name).heading}\n`))).toEqual([])
})

test.each([
  ['docs/runbook.md', `above ${ALERTS.PetstoreMemoryHigh.limit / 1e6} MB for`],
  ['docs/runbook.md', `verified for ${ALERTS.PetstoreRestoreNotProven.limit / DAY_SECONDS} days`],
  ['docs/runbook.md', `alert ${ALERTS.PetstoreCertificateExpires.limit / DAY_SECONDS} days before`],
  ['docs/runbook.md', `removed within ${ALERTS.PetstoreRemovalNear.limit / DAY_SECONDS} days`],
  [
    'docs/runbook.md',
    `PetstoreWritesStalled end ${ALERTS.PetstoreWritesStalled.keepFiringSeconds / 60} minutes`,
  ],
  ['docs/runbook.md', `\`petstore_events_unnumbered_seconds\` above ${ALERTS.PetstoreFeedLate.limit}, or`],
  ['docs/monitoring.md', `an increase of ${CPU_MAX} or more`],
  ['docs/runbook.md', `of the requests take longer than ${SLOW_SECONDS} s`],
])('%s names the limit: %s', (path, text) => {
  expect(read(path)).toContain(text)
})

test('an alert inhibits only alerts that exist', () => {
  const { inhibit_rules: rules } = readYaml('alertmanager.yaml') as Alertmanager
  const matchers = rules.flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers])
  const names = matchers.flatMap((matcher) => matcher.match(/Petstore\w+/g) ?? [])
  expect(names.length).toBeGreaterThan(matchers.length)
  expect(names.filter((name) => !(ALERT_NAMES as string[]).includes(name))).toEqual([])
})

test('hardens and limits every service of the profile monitoring, and mounts files that exist', () => {
  const services = Object.entries(compose.services).filter(([, one]) => one.profiles?.includes('monitoring'))
  expect(services.map(([name]) => name)).toEqual(['prometheus', 'alertmanager', 'grafana', 'collector'])
  for (const [name, service] of services) {
    const { image, mem_limit: memory, volumes = [] } = service
    expect(service, name).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    expect(memory, name).toMatch(/^\d+[mg]$/)
    // A version of three parts: the images have no tags for a minor version.
    expect(image, name).toMatch(/^[\w/-]+:v?\d+\.\d+\.\d+$/)
    const mounted = volumes.filter((volume) => volume.startsWith('./'))
    expect(mounted.length, name).toBeGreaterThan(0)
    for (const [path = '', , mode] of mounted.map((volume) => volume.split(':'))) {
      expect(path).toMatch(/^\.\/deploy\//)
      expect(existsSync(join(ROOT, path)), path).toBe(true)
      expect(mode, path).toBe('ro')
    }
    // The root of each container is read-only, so each folder that it writes is a volume.
    const named = volumes.filter((volume) => !mounted.includes(volume)).map((volume) => volume.split(':')[0])
    expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(named))
  }
})

test('Prometheus has the same jobs, intervals and rules with systemd and with Compose', () => {
  const shared = ({ global, rule_files, scrape_configs }: Prometheus) => ({
    global,
    rule_files,
    jobs: scrape_configs.map(({ job_name }) => job_name),
  })
  expect(shared(systemd)).toEqual({
    global: { scrape_interval: expect.any(String), evaluation_interval: expect.any(String) },
    rule_files: ['alerts.yaml'],
    jobs: ['petstore', 'petstore-deliver'],
  })
  expect(shared(ofCompose)).toEqual(shared(systemd))
})

test('the targets of Compose are services of compose.yaml, on the default admin port', () => {
  const port = readConfig({ DATABASE_URL: 'postgres://petstore_app@localhost/petstore' }).ADMIN_PORT
  const targets = ofCompose.scrape_configs
    .flatMap(({ static_configs }) => static_configs)
    .flatMap((discovery) => discovery.targets)
  expect(targets).toEqual([`petstore:${port}`, `deliver:${port}`])
  const images = ['petstore', 'deliver'].map((name) => compose.services[name]?.image)
  expect(images).toEqual(['${PETSTORE_IMAGE:-petstore}', '${PETSTORE_IMAGE:-petstore}'])
})

test('Grafana reads the folder of the dashboards, with the interval of Prometheus', () => {
  const { providers } = readYaml('grafana/dashboards/petstore.yaml') as {
    providers: { options: { path: string } }[]
  }
  expect(compose.services['grafana']?.volumes).toContain(
    `./deploy/monitoring/dashboards:${providers[0]?.options.path}:ro`,
  )
  const { datasources } = readYaml('grafana/datasources/petstore.yaml') as {
    datasources: { jsonData: { timeInterval: string } }[]
  }
  expect(datasources[0]?.jsonData.timeInterval).toBe(systemd.global.scrape_interval)
})

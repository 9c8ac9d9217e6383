// The files of deploy/monitoring and the profile `monitoring` of compose.yaml: they name services, folders and intervals that
// exist. test/slow/dashboards.test.ts checks the configurations of Prometheus with promtool.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const compose = read('compose.yaml')
const systemd = read('deploy/monitoring/prometheus.yaml')
const ofCompose = read('deploy/monitoring/compose/prometheus.yaml')

/** The lines of each service of a profile, by its name. */
const servicesOf = (profile: string) =>
  [...compose.matchAll(/^ {2}([\w-]+):\n((?: {4}.*\n|\n(?= {4}))+)/gm)]
    .map(([, name = '', lines = '']) => ({ name, lines }))
    .filter(({ lines }) => lines.includes(`profiles: [${profile}]`))

test('hardens and limits every service of the profile monitoring, and mounts files that exist', () => {
  const services = servicesOf('monitoring')
  expect(services.map(({ name }) => name)).toEqual(['prometheus', 'alertmanager', 'grafana', 'collector'])
  for (const { name, lines } of services) {
    expect(lines, name).toContain('<<: *hardened')
    expect(lines, name).toMatch(/^ +mem_limit: \d+[mg]$/m)
    // A version of three parts: the images have no tags for a minor version.
    expect(lines, name).toMatch(/^ +image: [\w/-]+:v?\d+\.\d+\.\d+$/m)
    const mounted = [...lines.matchAll(/\.\/(deploy\/[\w./-]+):\/\S+?:(\w+)/g)]
    expect(mounted.length, name).toBeGreaterThan(0)
    for (const [, path = '', mode] of mounted) {
      expect(existsSync(join(ROOT, path)), path).toBe(true)
      expect(mode, path).toBe('ro')
    }
    // The root of each container is read-only, so each folder that it writes is a volume.
    const volumes = [...lines.matchAll(/^ +- (\w+):\//gm)].map(([, volume]) => volume)
    for (const volume of volumes)
      expect(compose).toMatch(new RegExp(`^volumes:\n(?:  .*\n)*  ${volume}:\n`, 'm'))
  }
})

test('Prometheus has the same jobs, intervals and rules with systemd and with Compose', () => {
  const shared = (text: string) =>
    text.match(/^ *(?:- job_name|scrape_interval|evaluation_interval|rule_files): .*$/gm)
  expect(shared(systemd)?.length).toBe(5)
  expect(shared(ofCompose)).toEqual(shared(systemd))
})

test('the targets of Compose are services of compose.yaml, on the default admin port', () => {
  const port = readConfig({ DATABASE_URL: 'postgres://petstore_app@localhost/petstore' }).ADMIN_PORT
  const targets = [
    ...ofCompose.matchAll(/job_name: .*\n +static_configs:\n +- targets: \['([\w-]+):(\d+)'\]/g),
  ]
  expect(targets.map(([, host]) => host)).toEqual(['petstore', 'deliver'])
  for (const [, host, number] of targets) {
    expect(Number(number)).toBe(port)
    expect(compose).toContain(`\n  ${host}:\n    <<: *petstore\n`)
  }
})

test('Grafana reads the folder of the dashboards, with the interval of Prometheus', () => {
  const [, path] = /^ +path: (\S+)$/m.exec(read('deploy/monitoring/grafana/dashboards/petstore.yaml')) ?? []
  expect(compose).toContain(`- ./deploy/monitoring/dashboards:${path}:ro`)
  const datasource = read('deploy/monitoring/grafana/datasources/petstore.yaml')
  const [, interval] = /timeInterval: (\w+)$/m.exec(datasource) ?? []
  expect(systemd).toContain(`scrape_interval: ${interval}\n`)
})

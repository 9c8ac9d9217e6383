// The deployment files: the variables and files that they name exist, and their limits fit those of the service.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig, VARIABLES } from '../../src/config/config.ts'
import { ERRORS, type ErrorBody, errorBody } from '../../src/contract/errors.ts'
import { RESPONSE_TIMEOUT_MS } from '../../src/db/connection/deadlines.ts'
import { KEEP_ALIVE_EVERY_MS } from '../../src/events/feed/streams.ts'
import { HEADERS_LIMIT_BYTES, KEEP_ALIVE_TIMEOUT_MS, REQUESTS_IN_FLIGHT_MAX } from '../../src/server/app.ts'
import { HARD_EXIT_AFTER_MS } from '../../src/server/shutdown.ts'
import { type ComposeService, readCompose } from '../support/compose.ts'
import { readCommand, readCopy, readEnvironment, readStages } from '../support/dockerfile.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const DATABASE_URL = 'postgres://petstore_app@localhost/petstore'
const { services } = readCompose()
const serviceOf = (name: string) => services[name] as ComposeService
/** The grace period of an instance in milliseconds, with Compose and with systemd. */
const GRACE_MS = {
  'compose.yaml': Number(serviceOf('petstore').environment?.['SHUTDOWN_GRACE_MS']),
  'deploy/petstore@.service': Number(/SHUTDOWN_GRACE_MS=(\d+)/.exec(read('deploy/petstore@.service'))?.[1]),
}

/** Parses `15s` and `500ms`, as in the files of HAProxy, systemd and Compose. */
function milliseconds(text: string | undefined): number {
  const [, number = '', unit = ''] = /^(\d+)(ms|s)$/.exec(text ?? '') ?? []
  expect(unit, `a duration, not "${text}"`).not.toBe('')
  return Number(number) * (unit === 's' ? 1_000 : 1)
}

test('the V8 heap fits into the memory limit of an instance', () => {
  const [line = ''] = read('bin/petstore.ts').split('\n')
  const [, semiSpace, oldSpace] = /--max-semi-space-size=(\d+) --max-old-space-size=(\d+)$/.exec(line) ?? []
  // The young generation has three semi-spaces. The process needs 45 MB in addition to a full heap, and 64 MB for bodies.
  const neededMegabytes = Number(oldSpace) + 3 * Number(semiSpace) + 45 + 64
  const limits = [
    ...['petstore', 'deliver'].map((name) => /^(\d+)m$/.exec(serviceOf(name).mem_limit ?? '')),
    /^MemoryMax=(\d+)M$/m.exec(read('deploy/petstore@.service')),
    /^MemoryMax=(\d+)M$/m.exec(read('deploy/petstore-deliver.service')),
    /--memory (\d+)m /.exec(read('docs/production.md')),
  ]
  for (const limit of limits) expect(Number(limit?.[1])).toBeGreaterThan(neededMegabytes)
})

const timeoutOf = (unit: string) => /^TimeoutStopSec=(\w+)$/m.exec(read(unit))?.[1]

test.each([
  ['compose.yaml', serviceOf('petstore').stop_grace_period, GRACE_MS['compose.yaml']],
  ['deploy/petstore@.service', timeoutOf('deploy/petstore@.service'), GRACE_MS['deploy/petstore@.service']],
  // `petstore deliver` has no grace period, because no load balancer sends requests to it.
  ['deploy/petstore-deliver.service', timeoutOf('deploy/petstore-deliver.service'), 0],
])('%s gives a process more time to shut down than it needs', (_path, time, graceMs) => {
  expect(milliseconds(time)).toBeGreaterThan(graceMs + HARD_EXIT_AFTER_MS)
})

describe('Dockerfile', () => {
  const [build = [], final = []] = readStages(ROOT)
  const copied = build.filter(({ name }) => name === 'COPY').flatMap((copy) => readCopy(copy).sources)

  test('copies only files that exist, and .dockerignore ignores all others', () => {
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const lines = read('.dockerignore').split('\n')
    expect(lines.filter((line) => line !== '' && !/^[#!]/.test(line))).toEqual(['*'])
    const sent = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    expect(sent.toSorted()).toEqual(copied.toSorted())
  })

  test('runs as a numeric non-root user, and without a shell, so that signals reach the process', () => {
    const user = final.find(({ name }) => name === 'USER')?.text ?? ''
    expect(user).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/)
    expect(readCommand(final, 'ENTRYPOINT')).toEqual(['petstore'])
    expect(readCommand(final, 'CMD')).toEqual(['serve'])
    expect(readCommand(final, 'HEALTHCHECK')[0]).toBe('node')
  })

  test('sets only variables of the service, with valid values', () => {
    const { NODE_ENV, ...ours } = readEnvironment(final)
    expect(NODE_ENV).toBe('production')
    expect(Object.keys(ours).filter((name) => !(name in VARIABLES))).toEqual([])
    expect(readConfig({ ...ours, DATABASE_URL })).toMatchObject(ours)
  })
})

describe('compose.yaml', () => {
  const variablesOf = ({ environment = {} }: ComposeService) =>
    Object.entries(environment).map(([name, value]) => ({ name, value: String(value) }))
  const set = Object.values(services).flatMap(variablesOf)

  test('sets only variables of the service, psql, PostgreSQL, haproxy.cfg and Grafana', () => {
    const psql = [...read('deploy/passwords.sql').matchAll(/^\\getenv \w+ (\w+)/gm)].map(([, name]) => name)
    const haproxy = [...read('deploy/haproxy.cfg').matchAll(/presetenv (\w+)/g)].map(([, name]) => name)
    const postgres = ['PGHOST', 'PGUSER', 'PGDATABASE', 'PGPASSWORD', 'POSTGRES_DB', 'POSTGRES_PASSWORD']
    const grafana = [
      'GF_SECURITY_ADMIN_PASSWORD',
      'GF_ANALYTICS_REPORTING_ENABLED',
      'GF_ANALYTICS_CHECK_FOR_UPDATES',
      'GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES',
      'GF_PLUGINS_PREINSTALL_DISABLED',
    ]
    const known = new Set([...Object.keys(VARIABLES), ...psql, ...haproxy, ...postgres, ...grafana])
    expect(set.length).toBeGreaterThan(10)
    expect(set.filter(({ name }) => !known.has(name))).toEqual([])
  })

  const [migrate, petstore, deliver] = ['migrate', 'petstore', 'deliver'].map(serviceOf) as [
    ComposeService,
    ComposeService,
    ComposeService,
  ]
  /** The settings of Petstore that a service has, with their default values. */
  const settingsOf = (service: ComposeService): Record<string, string> =>
    Object.fromEntries(
      variablesOf(service)
        .filter(({ name }) => name in VARIABLES)
        .map(({ name, value }) => [name, value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')]),
    )

  /** The variables of traces that an instance gets. */
  const tracing = Object.keys(settingsOf(petstore)).filter((name) => name.startsWith('OTEL_'))

  test('sets valid values for the service', () => {
    expect(readConfig(settingsOf(petstore)).DATABASE_URL).toContain('//petstore_app:')
    expect(readConfig(settingsOf(migrate))).toMatchObject({
      DATABASE_URL: expect.stringContaining('//petstore_app:'),
      MIGRATION_DATABASE_URL: expect.stringContaining('//petstore_migrator:'),
    })
  })

  test('gives the delivery of webhooks its own role, and no other secret', () => {
    // The role has its privileges after the migration. The health check of the image uses the default port.
    const { command, depends_on, healthcheck } = deliver
    expect({ command, depends_on, healthcheck }).toEqual({
      command: ['deliver'],
      depends_on: petstore.depends_on,
      healthcheck: undefined,
    })
    expect(readConfig(settingsOf(deliver)).DATABASE_URL).toContain('//petstore_deliver:')
    const own = Object.keys(settingsOf(deliver)).filter((name) => !tracing.includes(name))
    expect(own.toSorted()).toEqual([
      'DATABASE_URL',
      'OTEL_SERVICE_NAME',
      'WEBHOOK_NETWORKS',
      'WEBHOOK_RETRY_SECONDS',
    ])
    expect(Object.keys(settingsOf(petstore))).toContain('WEBHOOK_NETWORKS')
  })

  test('sets the password of every role of deploy/roles.sql, except that of people who verify a backup', () => {
    const all = [...read('deploy/roles.sql').matchAll(/create role (\w+)/g)].map(([, role = '']) => role)
    const roles = all.filter((role) => role !== 'petstore_verify')
    expect(roles.length).toBe(3)
    const names = set.map(({ name }) => name)
    for (const role of roles) expect(names).toContain(`${role.toUpperCase()}_PASSWORD`)
  })

  test('passes the variables of traces to the service and to the delivery of webhooks', () => {
    expect(tracing).toContain('OTEL_EXPORTER_OTLP_ENDPOINT')
    const passed = Object.fromEntries(tracing.map((name) => [name, `\${${name}:-}`]))
    for (const service of [petstore, deliver]) expect(service.environment).toMatchObject(passed)
  })

  test('takes every password from the environment, and opens no port to other hosts', () => {
    const secrets = set.filter(({ name, value }) => /PASSWORD/.test(name) || value.startsWith('postgres://'))
    expect(secrets.filter(({ value }) => !/\$\{\w+_PASSWORD:-/.test(value))).toEqual([])
    const ports = Object.values(services).flatMap((service) => service.ports ?? [])
    expect(ports.length).toBeGreaterThan(0)
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  })
})

describe('haproxy.cfg', () => {
  const config = read('deploy/haproxy.cfg')
  const time = (name: string) => milliseconds(new RegExp(`timeout ${name} (\\w+)$`, 'm').exec(config)?.[1])

  const sections = config.split(/^(?=\w)/m)
  /** The max connections to the first instance, of each section that matches. */
  const maxconnOf = (section: RegExp) =>
    sections
      .filter((text) => section.test(text))
      .flatMap((text) => [...text.matchAll(/server one .* maxconn (\d+)$/gm)])
      .map(([, count]) => Number(count))

  test('returns error bodies that are equal to those of the service', () => {
    const bodies = [...config.matchAll(/'(\{"code".*\})'/g)].map(
      ([, json = '']) => JSON.parse(json) as ErrorBody,
    )
    expect(new Set(bodies.map(({ code }) => code))).toEqual(
      new Set<keyof typeof ERRORS>([
        'malformed_request',
        'request_timeout',
        'internal_error',
        'overloaded',
        'unavailable',
        'outcome_unknown',
      ]),
    )
    for (const body of bodies) expect(body).toEqual(errorBody(body.code))
  })

  test('returns each error with the link to the help of its code', () => {
    const errors = config.split('\n').filter((line) => line.includes('http-error status'))
    expect(errors.length).toBeGreaterThan(3)
    for (const line of errors) {
      const [, code] = /"code":"(\w+)"/.exec(line) ?? []
      expect(line).toMatch(new RegExp(`' hdr Link '</docs/errors#${code}>; rel="help"'$`))
    }
  })

  test('returns each error with the status that its body contains', () => {
    const errors = [...config.matchAll(/http-error status (\d+) .* string '.*"status":(\d+)\}'/g)]
    expect(errors.length).toBeGreaterThan(3)
    // The API has no 502 and 504, so HAProxy returns 503 instead of both.
    const returned = errors.map(([, status = '', inBody]) => [status.replace(/50[24]/, '503'), inBody])
    expect(returned.filter(([status, inBody]) => status !== inBody)).toEqual([])
  })

  test('has a longer response timeout than the service, and a shorter keep-alive timeout', () => {
    expect(time('server')).toBeGreaterThan(RESPONSE_TIMEOUT_MS)
    expect(time('http-keep-alive')).toBeLessThan(KEEP_ALIVE_TIMEOUT_MS)
  })

  test('sends fewer concurrent requests than an instance accepts, and forwards headers that are too large for it', () => {
    const max = maxconnOf(/^backend (?!event_streams)/)
    expect(max.length).toBe(2)
    expect(max.reduce((sum, count) => sum + count)).toBeLessThan(REQUESTS_IN_FLIGHT_MAX)
    const [, buffer] = /tune\.bufsize (\d+)/.exec(config) ?? []
    expect(Number(buffer)).toBeGreaterThanOrEqual(2 * HEADERS_LIMIT_BYTES)
  })

  test('sends as many streams of events as an instance accepts, and waits longer than a keep-alive comment takes', () => {
    expect(maxconnOf(/^backend event_streams /)).toEqual([readConfig({ DATABASE_URL }).EVENT_STREAMS_MAX])
    const section = sections.find((text) => text.startsWith('backend event_streams ')) ?? ''
    const [, timeout] = /timeout server (\w+)$/m.exec(section) ?? []
    expect(milliseconds(timeout)).toBeGreaterThan(2 * KEEP_ALIVE_EVERY_MS)
    expect(time('client')).toBeGreaterThan(2 * KEEP_ALIVE_EVERY_MS)
  })

  test('detects that an instance is shutting down before the instance closes its port', () => {
    const [, inter, fastinter, fall] = /inter (\w+) fastinter (\w+) fall (\d+)/.exec(config) ?? []
    const detectedMs = milliseconds(inter) + (Number(fall) - 1) * milliseconds(fastinter)
    for (const [path, graceMs] of Object.entries(GRACE_MS)) expect(graceMs, path).toBeGreaterThan(detectedMs)
  })
})

describe('systemd units', () => {
  const service = read('deploy/petstore@.service')
  const migrate = read('deploy/petstore-migrate.service')
  const deliver = read('deploy/petstore-deliver.service')

  /** The variables that a unit sets itself, not with an EnvironmentFile. */
  const settingsOf = (unit: string, instance = '%i'): Record<string, string> => {
    const lines = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) => line.split(' '))
    return Object.fromEntries(lines.map((text) => text.replace('%i', instance).split('=')))
  }
  const filesOf = (unit: string) => [...unit.matchAll(/^EnvironmentFile=(.*)$/gm)].map(([, path]) => path)

  test('set only variables of the service, and haproxy.cfg has the ports of the first two instances', () => {
    const names = [service, migrate, deliver].flatMap((unit) => Object.keys(settingsOf(unit)))
    expect(names.filter((name) => name !== 'NODE_ENV' && !(name in VARIABLES))).toEqual([])
    for (const instance of ['1', '2']) {
      const { PORT, ADMIN_PORT } = settingsOf(service, instance)
      expect(read('deploy/haproxy.cfg')).toContain(`presetenv PETSTORE_${instance} 127.0.0.1:${PORT}\n`)
      expect(read('deploy/haproxy.cfg')).toContain(`PETSTORE_${instance}_ADMIN_PORT ${ADMIN_PORT}\n`)
    }
  })

  test('deliver webhooks on the host of the instances, without their ports and passwords', () => {
    const { ADMIN_PORT = '', ...others } = settingsOf(deliver)
    expect(others).toEqual({ NODE_ENV: 'production' })
    const ofInstances = Array.from({ length: 10 }, (_, index) => settingsOf(service, String(index)))
    expect(ofInstances.flatMap(Object.values)).not.toContain(ADMIN_PORT)
    expect(readConfig({ DATABASE_URL, ADMIN_PORT }).ADMIN_PORT).toBe(Number(ADMIN_PORT))
    expect(filesOf(deliver)).toEqual(['/etc/petstore/deliver.env'])
    expect([...filesOf(service), ...filesOf(migrate)]).not.toContain('/etc/petstore/deliver.env')
  })

  test('have the same sandbox settings for migrating, serving and delivering', () => {
    const sandbox = (unit: string) =>
      unit.match(
        /^(?:DynamicUser|UMask|\w*(?:Protect|Private|Restrict|System|Capab|Ambient|New|IPC|Lock)\w*)=.*$/gm,
      )
    expect(sandbox(service)?.length).toBeGreaterThan(20)
    expect(sandbox(migrate)).toEqual(sandbox(service))
    expect(sandbox(deliver)).toEqual(sandbox(service))
  })
})

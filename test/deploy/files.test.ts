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
import { readCommand, readCopy, readEnvironment, readStages } from '../support/dockerfile.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const DATABASE_URL = 'postgres://petstore_app@localhost/petstore'

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
    /^  mem_limit: (\d+)m$/m.exec(read('compose.yaml')),
    /^MemoryMax=(\d+)M$/m.exec(read('deploy/petstore@.service')),
    /^MemoryMax=(\d+)M$/m.exec(read('deploy/petstore-deliver.service')),
    /--memory (\d+)m /.exec(read('docs/deploying.md')),
  ]
  for (const limit of limits) expect(Number(limit?.[1])).toBeGreaterThan(neededMegabytes)
})

test.each([
  ['compose.yaml', /^ {2}stop_grace_period: (\w+)$/m],
  ['deploy/petstore@.service', /^TimeoutStopSec=(\w+)$/m],
  ['deploy/petstore-deliver.service', /^TimeoutStopSec=(\w+)$/m],
])('%s gives a process more time to shut down than it needs', (path, pattern) => {
  // `petstore deliver` has no grace period, because no load balancer sends requests to it.
  const [, grace = 0] = /SHUTDOWN_GRACE_MS[:=] ?(\d+)/.exec(read(path)) ?? []
  expect(milliseconds(pattern.exec(read(path))?.[1])).toBeGreaterThan(Number(grace) + HARD_EXIT_AFTER_MS)
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
  const compose = read('compose.yaml')
  const variablesIn = (text: string) =>
    [...text.matchAll(/^ +([A-Z][A-Z0-9_]+): (.*)$/gm)].map(([, name = '', value = '']) => ({ name, value }))
  const set = variablesIn(compose)

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

  /** The lines of the service `deliver`, which has settings of its own. */
  const [deliver = ''] = /^ {2}deliver:\n(?: {4}.*\n)+/m.exec(compose) ?? []
  /** The settings of Petstore in a part of the file, with their default values. */
  const settingsIn = (text: string): Record<string, string> =>
    Object.fromEntries(
      variablesIn(text)
        .filter(({ name }) => name in VARIABLES)
        .map(({ name, value }) => [name, value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')]),
    )

  test('sets valid values for the service', () => {
    expect(readConfig(settingsIn(compose.replace(deliver, '')))).toMatchObject({
      DATABASE_URL: expect.stringContaining('//petstore_app:'),
      MIGRATION_DATABASE_URL: expect.stringContaining('//petstore_migrator:'),
    })
  })

  test('gives the delivery of webhooks its own role, and no other secret', () => {
    expect(deliver).toContain('command: [deliver]')
    // The role has its privileges after the migration. The health check of the image uses the default port.
    expect(deliver).toContain('<<: *petstore')
    expect(deliver).not.toMatch(/depends_on|healthcheck|\*settings/)
    expect(readConfig(settingsIn(deliver)).DATABASE_URL).toContain('//petstore_deliver:')
    expect(Object.keys(settingsIn(deliver))).toEqual([
      'OTEL_SERVICE_NAME',
      'DATABASE_URL',
      'WEBHOOK_NETWORKS',
      'WEBHOOK_RETRY_SECONDS',
    ])
    expect(Object.keys(settingsIn(compose.replace(deliver, '')))).toContain('WEBHOOK_NETWORKS')
  })

  test('sets the password of every role of deploy/roles.sql, except that of people who verify a backup', () => {
    const all = [...read('deploy/roles.sql').matchAll(/create role (\w+)/g)].map(([, role = '']) => role)
    const roles = all.filter((role) => role !== 'petstore_verify')
    expect(roles.length).toBe(3)
    const names = set.map(({ name }) => name)
    for (const role of roles) expect(names).toContain(`${role.toUpperCase()}_PASSWORD`)
  })

  test('passes the variables of traces to the service and to the delivery of webhooks', () => {
    const [tracing = ''] = /^x-tracing: &tracing\n(?: {2}.*\n)+/m.exec(compose) ?? []
    const names = Object.keys(settingsIn(tracing))
    expect(names).toContain('OTEL_EXPORTER_OTLP_ENDPOINT')
    for (const name of names) expect(tracing).toContain(`  ${name}: \${${name}:-}\n`)
    expect(deliver).toContain('<<: *tracing')
    expect(compose).toContain('environment: &settings\n    <<: *tracing\n')
  })

  test('takes every password from the environment, and opens no port to other hosts', () => {
    const secrets = set.filter(({ name, value }) => /PASSWORD/.test(name) || value.startsWith('postgres://'))
    expect(secrets.filter(({ value }) => !/\$\{\w+_PASSWORD:-/.test(value))).toEqual([])
    const ports = [...compose.matchAll(/ports: \['([^']+)'\]/g)].map(([, port = '']) => port)
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
    for (const path of ['compose.yaml', 'deploy/petstore@.service']) {
      const [, grace] = /SHUTDOWN_GRACE_MS[:=] ?(\d+)/.exec(read(path)) ?? []
      expect(Number(grace), path).toBeGreaterThan(detectedMs)
    }
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

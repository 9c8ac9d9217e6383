// What deploys the service names things of the service: they exist, and the limits of both fit together.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HARD_EXIT_AFTER_MS } from '../../src/server/shutdown.ts'
import { readConfig, VARIABLES } from '../../src/config.ts'
import { RESPONSE_TIMEOUT_MS } from '../../src/deadlines.ts'
import { ERRORS, type ErrorBody, errorBody } from '../../src/errors.ts'
import { HEADERS_LIMIT_BYTES, KEEP_ALIVE_TIMEOUT_MS, REQUESTS_IN_FLIGHT_MAX } from '../../src/server/app.ts'
import { readCommand, readCopy, readEnvironment, readStages } from '../support/dockerfile.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const DATABASE_URL = 'postgres://petstore_app@localhost/petstore'

/** `15s` and `500ms`, as HAProxy, systemd and Compose write them. */
function milliseconds(text: string | undefined): number {
  const [, number = '', unit = ''] = /^(\d+)(ms|s)$/.exec(text ?? '') ?? []
  expect(unit, `a time, not "${text}"`).not.toBe('')
  return Number(number) * (unit === 's' ? 1_000 : 1)
}

test('the heap of V8 fits into the memory that an instance is given', () => {
  const [line = ''] = read('bin/petstore.ts').split('\n')
  const [, semiSpace, oldSpace] = /--max-semi-space-size=(\d+) --max-old-space-size=(\d+)$/.exec(line) ?? []
  // The young generation has three semi-spaces. The heap filled by a leak, the process took 45 MB more; bodies take 64 MB.
  const neededMegabytes = Number(oldSpace) + 3 * Number(semiSpace) + 45 + 64
  const limits = [
    /^  mem_limit: (\d+)m$/m.exec(read('compose.yaml')),
    /^MemoryMax=(\d+)M$/m.exec(read('deploy/petstore@.service')),
    /--memory (\d+)m /.exec(read('docs/deploying.md')),
  ]
  for (const limit of limits) expect(Number(limit?.[1])).toBeGreaterThan(neededMegabytes)
})

describe('Dockerfile', () => {
  const [build = [], final = []] = readStages(ROOT)
  const copied = build.filter(({ name }) => name === 'COPY').flatMap((copy) => readCopy(copy).sources)

  test('everything that is copied exists, and the builder is sent that and nothing else', () => {
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const lines = read('.dockerignore').split('\n')
    expect(lines.filter((line) => line !== '' && !/^[#!]/.test(line))).toEqual(['*'])
    const sent = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    expect(sent.toSorted()).toEqual(copied.toSorted())
  })

  test('it is nobody with a name, and no shell stands between the process and a signal', () => {
    const user = final.find(({ name }) => name === 'USER')?.text ?? ''
    expect(user).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/)
    expect(readCommand(final, 'ENTRYPOINT')).toEqual(['petstore'])
    expect(readCommand(final, 'CMD')).toEqual(['serve'])
    expect(readCommand(final, 'HEALTHCHECK')[0]).toBe('node')
  })

  test('the variables that it sets are ours, and a process with them starts', () => {
    const { NODE_ENV, ...ours } = readEnvironment(final)
    expect(NODE_ENV).toBe('production')
    expect(Object.keys(ours).filter((name) => !(name in VARIABLES))).toEqual([])
    expect(readConfig({ ...ours, DATABASE_URL })).toMatchObject(ours)
  })
})

describe('compose.yaml', () => {
  const compose = read('compose.yaml')
  const set = [...compose.matchAll(/^ +([A-Z][A-Z0-9_]+): (.*)$/gm)].map(([, name = '', value = '']) => ({
    name,
    value,
  }))

  test('each variable is one of the service, of psql, of PostgreSQL, or of haproxy.cfg', () => {
    const psql = [...read('deploy/passwords.sql').matchAll(/^\\getenv \w+ (\w+)/gm)].map(([, name]) => name)
    const haproxy = [...read('deploy/haproxy.cfg').matchAll(/presetenv (\w+)/g)].map(([, name]) => name)
    const theirs = ['PGHOST', 'PGUSER', 'PGDATABASE', 'PGPASSWORD', 'POSTGRES_DB', 'POSTGRES_PASSWORD']
    const known = new Set([...Object.keys(VARIABLES), ...psql, ...haproxy, ...theirs])
    expect(set.length).toBeGreaterThan(10)
    expect(set.filter(({ name }) => !known.has(name))).toEqual([])
  })

  test('what it gives to the service is valid', () => {
    const ours = set
      .filter(({ name }) => name in VARIABLES)
      .map(({ name, value }) => [name, value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')])
    expect(readConfig(Object.fromEntries(ours) as Record<string, string>)).toMatchObject({
      DATABASE_URL: expect.stringContaining('//petstore_app:'),
      MIGRATION_DATABASE_URL: expect.stringContaining('//petstore_migrator:'),
    })
  })

  test('every password can be set from outside, and no port is open to other hosts', () => {
    const secrets = set.filter(({ name, value }) => /PASSWORD/.test(name) || value.startsWith('postgres://'))
    expect(secrets.filter(({ value }) => !/\$\{\w+_PASSWORD:-/.test(value))).toEqual([])
    const ports = [...compose.matchAll(/ports: \['([^']+)'\]/g)].map(([, port = '']) => port)
    expect(ports.length).toBeGreaterThan(0)
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  })

  test('a container is given the time that a process takes to end', () => {
    const [, grace] = /SHUTDOWN_GRACE_MS: (\d+)/.exec(compose) ?? []
    const [, stop] = /15 s at most\.\n {2}stop_grace_period: (\w+)/.exec(compose) ?? []
    expect(milliseconds(stop)).toBeGreaterThan(Number(grace) + HARD_EXIT_AFTER_MS)
  })
})

describe('haproxy.cfg', () => {
  const config = read('deploy/haproxy.cfg')
  const time = (name: string) => milliseconds(new RegExp(`timeout ${name} (\\w+)$`, 'm').exec(config)?.[1])

  test('what it says itself is in the words of the service', () => {
    const said = [...config.matchAll(/'(\{"code".*\})'/g)].map(
      ([, json = '']) => JSON.parse(json) as ErrorBody,
    )
    expect(new Set(said.map(({ code }) => code))).toEqual(
      new Set<keyof typeof ERRORS>([
        'malformed_request',
        'request_timeout',
        'internal_error',
        'overloaded',
        'unavailable',
        'outcome_unknown',
      ]),
    )
    for (const body of said) expect(body).toEqual(errorBody(body.code))
  })

  test('each error has the status that it says', () => {
    const errors = [...config.matchAll(/http-error status (\d+) .* string '.*"status":(\d+)\}'/g)]
    expect(errors.length).toBeGreaterThan(3)
    // The interface knows neither 502 nor 504; both leave HAProxy as 503.
    const left = errors.map(([, status = '', said]) => [status.replace(/50[24]/, '503'), said])
    expect(left.filter(([status, said]) => status !== said)).toEqual([])
  })

  test('it waits longer for an answer than the service takes, and keeps a connection for less long', () => {
    expect(time('server')).toBeGreaterThan(RESPONSE_TIMEOUT_MS)
    expect(time('http-keep-alive')).toBeLessThan(KEEP_ALIVE_TIMEOUT_MS)
  })

  test('it sends less at a time than an instance would refuse, and headers that an instance refuses', () => {
    const max = [...config.matchAll(/server one .* maxconn (\d+)$/gm)].map(([, count]) => Number(count))
    expect(max.length).toBe(2)
    expect(max.reduce((sum, count) => sum + count)).toBeLessThan(REQUESTS_IN_FLIGHT_MAX)
    const [, buffer] = /tune\.bufsize (\d+)/.exec(config) ?? []
    expect(Number(buffer)).toBeGreaterThanOrEqual(2 * HEADERS_LIMIT_BYTES)
  })

  test('it notices that an instance is about to end before the instance closes its port', () => {
    const [, inter, fastinter, fall] = /inter (\w+) fastinter (\w+) fall (\d+)/.exec(config) ?? []
    const noticed = milliseconds(inter) + (Number(fall) - 1) * milliseconds(fastinter)
    for (const path of ['compose.yaml', 'deploy/petstore@.service']) {
      const [, grace] = /SHUTDOWN_GRACE_MS[:=] ?(\d+)/.exec(read(path)) ?? []
      expect(Number(grace), path).toBeGreaterThan(noticed)
    }
  })
})

describe('units of systemd', () => {
  const service = read('deploy/petstore@.service')
  const migrate = read('deploy/petstore-migrate.service')

  test('the variables that they set are ours, and those of the first two instances are what haproxy.cfg expects', () => {
    const words = [...service.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) => line.split(' '))
    const names = words.map((word) => word.split('=')[0] ?? '').filter((name) => name !== 'NODE_ENV')
    expect(names.filter((name) => !(name in VARIABLES))).toEqual([])
    for (const instance of ['1', '2']) {
      const pairs = words.map((word) => word.replace('%i', instance).split('='))
      const { PORT, ADMIN_PORT } = Object.fromEntries(pairs) as Record<string, string>
      expect(read('deploy/haproxy.cfg')).toContain(`presetenv PETSTORE_${instance} 127.0.0.1:${PORT}\n`)
      expect(read('deploy/haproxy.cfg')).toContain(`PETSTORE_${instance}_ADMIN_PORT ${ADMIN_PORT}\n`)
    }
  })

  test('an instance is given the time that it takes to end', () => {
    const [, grace] = /SHUTDOWN_GRACE_MS=(\d+)/.exec(service) ?? []
    const [, stop] = /^TimeoutStopSec=(\w+)$/m.exec(service) ?? []
    expect(milliseconds(stop)).toBeGreaterThan(Number(grace) + HARD_EXIT_AFTER_MS)
  })

  test('migrating is let out of nothing that serving is kept in', () => {
    const cage = (unit: string) =>
      unit.match(
        /^(?:DynamicUser|UMask|\w*(?:Protect|Private|Restrict|System|Capab|Ambient|New|IPC|Lock)\w*)=.*$/gm,
      )
    expect(cage(service)?.length).toBeGreaterThan(20)
    expect(cage(migrate)).toEqual(cage(service))
  })
})

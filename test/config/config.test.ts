import fastify from 'fastify'
import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/config.ts'
import { splitDatabaseUrl } from '../../src/config/database-url.ts'
import { runInProcess } from '../support/in-process.ts'

const DATABASE_URL = 'postgres://petstore:s3cret@db.example/petstore'

test('every variable except DATABASE_URL has a default', () => {
  expect(readConfig({ DATABASE_URL })).toEqual({
    DATABASE_URL,
    MIGRATION_DATABASE_URL: undefined,
    RECORD_DATABASE_URL: undefined,
    DATABASE_POOL_SIZE: 10,
    HOST: '127.0.0.1',
    PORT: 3000,
    ADMIN_HOST: '127.0.0.1',
    ADMIN_PORT: 9090,
    PUBLIC_URL: '',
    PETSTORE_ENV: 'production',
    LOG_LEVEL: 'info',
    LOG_CLIENT_ADDRESS: 'off',
    CATEGORIES: 'any',
    HOLD_MINUTES: 60,
    CURRENCY: undefined,
    TIME_ZONE: undefined,
    EVENT_RETENTION_DAYS: 30,
    EVENT_STREAMS_MAX: 1000,
    WEBHOOKS_MAX: 100,
    WEBHOOK_NETWORKS: [],
    WEBHOOK_RETRY_SECONDS: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
    RATE_LIMIT_PER_SECOND: 0,
    UNAUTHENTICATED_LIMIT_PER_SECOND: 0,
    SHARE_PORT: 'off',
    CORS_ORIGINS: [],
    TRUST_PROXY: [],
    OIDC_ISSUER: undefined,
    OIDC_CLIENT_ID: undefined,
    OIDC_CLIENT_SECRET: undefined,
    OIDC_NAME: undefined,
    OIDC_SCOPES: 'openid profile email',
    OIDC_ROLES_CLAIM: 'groups',
    OIDC_ROLES: [],
    OIDC_PROMPT: 'login',
    SHUTDOWN_GRACE_MS: 0,
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_EXPORTER_OTLP_HEADERS: undefined,
    OTEL_SERVICE_NAME: undefined,
    OTEL_RESOURCE_ATTRIBUTES: undefined,
    OTEL_TRACES_SAMPLER: 'parentbased_always_on',
    OTEL_TRACES_SAMPLER_ARG: 1,
  })
})

test('an empty or blank variable counts as unset', () => {
  expect(readConfig({ DATABASE_URL, PORT: '', LOG_LEVEL: ' ' })).toEqual(readConfig({ DATABASE_URL }))
})

test('all invalid variables are reported at once, by name and without the password', () => {
  const invalid = {
    DATABASE_URL: 'mysql://root:hunter2@db/x',
    PORT: '70000',
    ADMIN_PORT: '-1',
    PUBLIC_URL: 'https://api.example/v1',
    PETSTORE_ENV: 'test',
    LOG_LEVEL: 'loud',
    CATEGORIES: 'some',
    CURRENCY: 'eur',
    TIME_ZONE: 'Mars/Olympus',
    WEBHOOKS_MAX: '10001',
    WEBHOOK_NETWORKS: '10.0.0.0/0',
    WEBHOOK_RETRY_SECONDS: '5,0',
    RATE_LIMIT_PER_SECOND: '1e3',
    CORS_ORIGINS: 'https://shop.example/path',
    TRUST_PROXY: 'abc',
  }
  let thrown: unknown
  try {
    readConfig(invalid)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigError)
  const { faults } = thrown as ConfigError
  expect(faults.map((fault) => fault.split(' ')[0])).toEqual(Object.keys(invalid))
  expect(faults.join()).not.toContain('hunter2')
})

test.each([
  'postgres://a@one,two:5433,[::1]:5434/petstore?sslmode=require',
  'postgres://a:p%40@one:1,two:2/petstore?target_session_attrs=primary',
  'postgresql:///petstore?host=/run/postgresql',
])('DATABASE_URL accepts %s', (url) => {
  expect(readConfig({ DATABASE_URL: url }).DATABASE_URL).toBe(url)
})

test.each([
  ['postgres://a:hunter2@one,,two/x', /separate several hosts with commas/],
  ['postgres://a:hunter2@one:port,two/x', /must be a URL/],
  ['postgres://a:hunter2@one/x?target_session_attrs=standby', /unsupported target_session_attrs/],
  [`postgres://a:hunter2@${'h,'.repeat(10)}h/x`, /more than 10 hosts/],
])('DATABASE_URL rejects %s', (url, message) => {
  const read = () => readConfig({ DATABASE_URL: url })
  expect(read).toThrow(message)
  expect(read).not.toThrow(/hunter2/)
})

test('a database URL with several hosts becomes one URL per host', () => {
  expect(splitDatabaseUrl('postgres://a:b@one,two:5433,[::1]:5434/petstore?sslmode=require')).toEqual([
    'postgres://a:b@one/petstore?sslmode=require',
    'postgres://a:b@two:5433/petstore?sslmode=require',
    'postgres://a:b@[::1]:5434/petstore?sslmode=require',
  ])
})

const NOT_PROXIES = 'abc 10 127.1 10.0.0.0/33 0.0.0.0/0 10.0.0.0/8/8 ::1/129 fe80::1%eth0 ::1,,::2'

test.each(NOT_PROXIES.split(' '))(
  'TRUST_PROXY=%s is rejected, and the message names the variable',
  (TRUST_PROXY) => {
    expect(() => readConfig({ DATABASE_URL, TRUST_PROXY })).toThrow(/TRUST_PROXY must be IP addresses/)
  },
)

test('TRUST_PROXY accepts addresses, ranges and names, and so does Fastify', () => {
  const proxies =
    '127.0.0.1 , 10.0.0.0/8 , ::1 , fd00::/8 , ::ffff:10.0.0.1 , loopback , linklocal , uniquelocal'
  const { TRUST_PROXY } = readConfig({ DATABASE_URL, TRUST_PROXY: proxies })
  expect(TRUST_PROXY).toEqual(proxies.split(' , '))
  expect(() => fastify({ trustProxy: TRUST_PROXY })).not.toThrow()
})

const SIGN_IN = {
  DATABASE_URL,
  OIDC_ISSUER: 'https://login.example/realms/shop',
  OIDC_CLIENT_ID: 'petstore',
  OIDC_CLIENT_SECRET: 'hunter2',
  OIDC_ROLES: 'admin=petstore-admins,viewer=*',
  PUBLIC_URL: 'https://petstore.example',
}

test('accepts the settings of an identity provider', () => {
  expect(readConfig(SIGN_IN)).toMatchObject({
    OIDC_ISSUER: SIGN_IN.OIDC_ISSUER,
    OIDC_ROLES: [
      { role: 'admin', value: 'petstore-admins' },
      { role: 'viewer', value: '*' },
    ],
  })
  const local = { ...SIGN_IN, OIDC_ISSUER: 'http://127.0.0.1:4000', PUBLIC_URL: 'http://localhost:3000' }
  expect(() => readConfig(local)).not.toThrow()
})

test.each<[Record<string, string>, RegExp]>([
  [{ PUBLIC_URL: '' }, /PUBLIC_URL is not set; OIDC_ISSUER requires it/],
  [{ PUBLIC_URL: 'http://petstore.example' }, /PUBLIC_URL must start with https:/],
  [{ OIDC_CLIENT_ID: '', OIDC_ROLES: '' }, /OIDC_CLIENT_ID is not set[^]*OIDC_ROLES is not set/],
  [{ OIDC_ISSUER: '' }, /OIDC_CLIENT_ID has no effect without OIDC_ISSUER[^]*OIDC_ROLES has no effect/],
  [{ OIDC_ISSUER: 'http://login.example' }, /OIDC_ISSUER must be an https: URL/],
  [{ OIDC_ISSUER: 'http://127.0.0.1.evil.example' }, /OIDC_ISSUER must be an https: URL/],
  [{ OIDC_ISSUER: 'login.example' }, /OIDC_ISSUER must be an https: URL/],
  [{ OIDC_ISSUER: 'https://login.example/.well-known/openid-configuration' }, /without a query or/],
  [{ OIDC_ISSUER: 'https://login.microsoftonline.com/common/v2.0' }, /issuer of one organisation/],
  [{ OIDC_SCOPES: 'profile' }, /OIDC_SCOPES must be scopes/],
  [{ OIDC_ROLES: 'owner=x' }, /OIDC_ROLES must be pairs/],
  [{ OIDC_ROLES: 'admin' }, /OIDC_ROLES must be pairs/],
  [{ OIDC_ROLES: 'admin=,staff=x' }, /OIDC_ROLES must be pairs/],
])('rejects the settings of an identity provider with %j', (changed, message) => {
  const read = () => readConfig({ ...SIGN_IN, ...changed })
  expect(read).toThrow(message)
  expect(read).not.toThrow(/hunter2/)
})

const TRACING = { DATABASE_URL, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

test.each<[Record<string, string>, string]>([
  [{}, 'http://127.0.0.1:4318'],
  [
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example/v1/traces' },
    'https://collector.example/v1/traces',
  ],
  [
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' },
    'http://127.0.0.1:4318',
  ],
])('an endpoint switches tracing on, also with %j', (changed, endpoint) => {
  expect(readConfig({ ...TRACING, ...changed }).OTEL_EXPORTER_OTLP_ENDPOINT).toBe(endpoint)
})

test.each<Record<string, string>>([
  { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
  { OTEL_SDK_DISABLED: 'TRUE' },
  { OTEL_TRACES_EXPORTER: 'none' },
])('tracing is off with %j, and other variables of OpenTelemetry are ignored', (changed) => {
  const others = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'xray' }
  expect(readConfig({ ...TRACING, ...others, ...changed }).OTEL_EXPORTER_OTLP_ENDPOINT).toBeUndefined()
})

test.each<[Record<string, string>, RegExp]>([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4318' }, /OTEL_EXPORTER_OTLP_ENDPOINT .* must be a URL/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a:hunter2@collector.example' }, /without a password/],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector' }, /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT.* must be a URL/],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /must be http\/protobuf, not "grpc"/],
  [{ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }, /must be http\/protobuf, not "http\/json"/],
  [{ OTEL_TRACES_EXPORTER: 'console' }, /OTEL_TRACES_EXPORTER must be otlp, not "console"/],
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /OTEL_TRACES_SAMPLER must be one of parentbased_always_on/],
  [{ OTEL_TRACES_SAMPLER_ARG: '10%' }, /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/],
  [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'hunter2' }, /OTEL_EXPORTER_OTLP_HEADERS must be pairs/],
  [{ OTEL_RESOURCE_ATTRIBUTES: 'team' }, /OTEL_RESOURCE_ATTRIBUTES must be pairs/],
])('rejects the settings of tracing with %j', (changed, message) => {
  const read = () => readConfig({ ...TRACING, ...changed })
  expect(read).toThrow(message)
  expect(read).not.toThrow(/hunter2/)
})

test('serve prints every invalid variable and exits with 1', async () => {
  const { code, stderr } = await runInProcess(['serve'], { PORT: 'x', LOG_LEVEL: 'loud' })
  expect(code).toBe(1)
  for (const name of ['DATABASE_URL', 'PORT', 'LOG_LEVEL']) expect(stderr).toContain(name)
})

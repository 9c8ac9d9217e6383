// The only reader of the environment: every variable, its default and its rule in one table.
import { hostname } from 'node:os'
import { CATEGORY_POLICIES } from './category-policy.ts'
import { HOLD_MINUTES_MAX } from './orders/hold-limit.ts'
import { isAddressRange } from './ip-address.ts'

type Environment = Record<string, string | undefined>

interface Variable<Value> {
  help: string
  example?: string
  read: (text: string | undefined) => Value
}

class Fault extends Error {}

export const VARIABLES = {
  DATABASE_URL: {
    help: 'Where PostgreSQL is. TLS by its usual parameters: `sslmode`, `sslrootcert`, `sslcert`, `sslkey`; without `sslmode`, no TLS.',
    example: 'postgres://petstore_app:secret@db.example:5432/petstore?sslmode=verify-full',
    read: (text) => {
      if (text === undefined) throw new Fault('is not set; without a database of your own, try `npm run dev`')
      return readDatabaseUrl(text)
    },
  },
  MIGRATION_DATABASE_URL: {
    help: 'The same database by a role that may change the schema, for `migrate`. Default: `DATABASE_URL`.',
    read: (text) => (text === undefined ? undefined : readDatabaseUrl(text)),
  },
  DATABASE_POOL_SIZE: {
    help: 'Connections to PostgreSQL per process, 1 to 200. Default: 10.',
    read: integer(10, 1, 200),
  },
  BATCHING: {
    help: '`on` batches concurrent requests into shared queries; `off` runs one query per request, for comparison. Default: on.',
    read: oneOf('on', 'off'),
  },
  HOST: { help: 'Address to listen on. Default: 127.0.0.1.', read: (text) => text ?? '127.0.0.1' },
  PORT: { help: 'Port of the service; 0 takes a free one. Default: 3000.', read: integer(3000, 0, 65_535) },
  SHARE_PORT: {
    help: '`on` lets several processes of one Linux host answer on the same port: one for each core. Default: off.',
    read: oneOf('off', 'on'),
  },
  ADMIN_HOST: {
    help: 'Address for health and metrics; keep it off the internet. Default: 127.0.0.1.',
    read: (text) => text ?? '127.0.0.1',
  },
  ADMIN_PORT: {
    help: 'Port for `/live`, `/ready` and `/metrics`; 0 takes a free one. Default: 9090.',
    read: integer(9090, 0, 65_535),
  },
  PUBLIC_URL: {
    help: 'Origin that clients see, without `/v1`, used in `Link` and `Location`. Unset: addresses start at `/`.',
    example: 'https://api.petstore.example',
    read: readPublicUrl,
  },
  PETSTORE_ENV: {
    help: '`production` (keys `petstore_live_…`) or `staging` (`petstore_test_…`). Default: production.',
    read: oneOf('production', 'staging'),
  },
  LOG_LEVEL: {
    help: '`info`, `debug`, `trace`, `warn`, `error`, `fatal` or `silent`. Default: info.',
    read: oneOf('info', 'debug', 'trace', 'warn', 'error', 'fatal', 'silent'),
  },
  LOG_CLIENT_ADDRESS: {
    help: '`on` adds the IP address of the client to the log line of each request. Default: off.',
    read: oneOf('off', 'on'),
  },
  CATEGORIES: {
    help: '`any` accepts every category id; `strict` only those in the table `categories`. Default: any.',
    read: oneOf(...CATEGORY_POLICIES),
  },
  HOLD_MINUTES: {
    help: 'How long an order holds its animal when the buyer does not say, 1 to 10080. Default: 60.',
    read: integer(60, 1, HOLD_MINUTES_MAX),
  },
  RATE_LIMIT_PER_SECOND: {
    help: 'Requests per second and API key for keys without a limit of their own; 0 is no limit. Default: 0.',
    read: integer(0, 0, 1_000_000),
  },
  UNAUTHENTICATED_LIMIT_PER_SECOND: {
    help: 'Requests per second and client address that may lack a valid API key; further ones get 429. 0 is no limit. Default: 0.',
    read: integer(0, 0, 1_000_000),
  },
  CORS_ORIGINS: {
    help: 'Origins of web pages that may call the service, separated by commas, or `*`. Default: none.',
    example: 'https://shop.example,https://staff.example',
    read: readOrigins,
  },
  TRUST_PROXY: {
    help: 'Proxies whose `X-Forwarded-For` names the client: addresses, ranges, `loopback`, `linklocal` or `uniquelocal`, separated by commas. Default: none.',
    example: '10.0.0.0/8,loopback',
    read: readProxies,
  },
  SHUTDOWN_GRACE_MS: {
    help: 'How long `/ready` says 503 on SIGTERM before the port closes, for the balancer to notice. Default: 0.',
    read: integer(0, 0, 60_000),
  },
} as const satisfies Record<string, Variable<unknown>>

/** Renamed in version 1.1. The former names work until version 2.0. */
const FORMER_NAMES: Record<string, keyof typeof VARIABLES> = { ANSWER_TOGETHER: 'BATCHING' }

/** Of the commands that call a running service, as any client does: they need nothing of the table above. */
export const CLIENT_VARIABLES = {
  PETSTORE_URL: {
    help: 'Where the service is. Default: `http://127.0.0.1:3000/v1`.',
    example: 'https://api.petstore.example/v1',
    read: (text) => readServiceUrl(text ?? 'http://127.0.0.1:3000/v1'),
  },
  PETSTORE_API_KEY: {
    help: 'Your API key. It is taken from here alone: everybody on the host can read a command line.',
    read: (text) => {
      if (text === undefined) {
        throw new Fault(
          'is not set; ask whoever runs the service for a key, or make one: petstore api-keys create --name NAME',
        )
      }
      // A fault never repeats the text, which may be nearly a key.
      if (!/^[!-~]+$/.test(text)) throw new Fault('has characters that no API key has')
      return text
    },
  },
} as const satisfies Record<string, Variable<unknown>>

type Table = Record<string, Variable<unknown>>
type ValuesOf<Of extends Table> = { [Name in keyof Of]: ReturnType<Of[Name]['read']> }
export type Config = ValuesOf<typeof VARIABLES>
export type ClientConfig = ValuesOf<typeof CLIENT_VARIABLES>

/** Every fault of a configuration at once, one line each. */
export class ConfigError extends Error {
  readonly faults: string[]

  constructor(faults: string[]) {
    super(`The configuration has faults:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
    this.faults = faults
  }
}

export function readConfig(environment: Environment = process.env): Config {
  return readTable(VARIABLES, withCurrentNames(environment))
}

/** The warnings about variables that are set under a former name. */
export function formerNameWarnings(environment: Environment = process.env): string[] {
  return Object.entries(FORMER_NAMES)
    .filter(([former]) => environment[former] !== undefined)
    .map(([former, current]) => `${former} is now called ${current}; the former name works until version 2.0`)
}

function withCurrentNames(environment: Environment): Environment {
  const renamed = Object.entries(FORMER_NAMES).map(([former, current]) => [current, environment[former]])
  return { ...Object.fromEntries(renamed), ...environment }
}

/** The address given goes before that of the environment. */
export function readClientConfig(url?: string, environment: Environment = process.env): ClientConfig {
  return readTable(CLIENT_VARIABLES, { ...environment, ...(url !== undefined && { PETSTORE_URL: url }) })
}

function readTable<Of extends Table>(table: Of, environment: Environment): ValuesOf<Of> {
  const faults: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(table)) {
    const text = environment[name]?.trim()
    try {
      values[name] = variable.read(text === '' ? undefined : text)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      faults.push(`${name} ${error.message}`)
    }
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return values as ValuesOf<Of>
}

/** The environment for a child process: ours and what is added to it. */
export function environmentWith(added: Record<string, string>): Environment {
  return { ...process.env, ...added }
}

/** A name for this process among many, shown to PostgreSQL and in logs. */
export function instanceName(): string {
  return `petstore@${hostname()}:${process.pid}`
}

function integer(fallback: number, min: number, max: number) {
  return (text: string | undefined): number => {
    if (text === undefined) return fallback
    const value = Number(text)
    if (!/^[0-9]+$/.test(text) || value < min || value > max) {
      throw new Fault(`must be a whole number from ${min} to ${max}, not "${text}"`)
    }
    return value
  }
}

function oneOf<const Choice extends string>(fallback: Choice, ...others: Choice[]) {
  const choices = [fallback, ...others]
  return (text: string | undefined): Choice => {
    if (text === undefined) return fallback
    const choice = choices.find((candidate) => candidate === text)
    if (choice === undefined) throw new Fault(`must be one of ${choices.join(', ')}, not "${text}"`)
    return choice
  }
}

// A fault never repeats the text: a database URL may hold a password.
function readDatabaseUrl(text: string): string {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) {
    throw new Fault('must look like postgres://user:password@host:5432/database')
  }
  return text
}

/** With the version also where only the origin was given. A fault never repeats the text here either. */
function readServiceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === ''
  if (!isPlain || !['http:', 'https:'].includes(url.protocol)) {
    throw new Fault(
      '(or --url) must look like https://api.petstore.example/v1, without a password or a query',
    )
  }
  return url.origin + (url.pathname === '/' ? '/v1' : url.pathname.replace(/\/+$/, ''))
}

function readPublicUrl(text: string | undefined): string {
  if (text === undefined) return ''
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.href !== `${url.origin}/`) {
    throw new Fault(`must be an origin such as https://api.petstore.example, without a path, not "${text}"`)
  }
  return url.origin
}

function readOrigins(text: string | undefined): string[] {
  if (text === undefined) return []
  const origins = text.split(',').map((origin) => origin.trim())
  for (const origin of origins) {
    if (origin !== '*' && !(URL.canParse(origin) && new URL(origin).origin === origin)) {
      throw new Fault(`must be origins such as https://shop.example, or *; "${origin}" is not one`)
    }
  }
  return origins
}

/** Names for ranges, as the web framework has them. */
const RANGE_NAMES = ['loopback', 'linklocal', 'uniquelocal']

function readProxies(text: string | undefined): string[] {
  if (text === undefined) return []
  const proxies = text.split(',').map((proxy) => proxy.trim())
  for (const proxy of proxies) {
    if (!RANGE_NAMES.includes(proxy) && !isAddressRange(proxy)) {
      throw new Fault(
        `must be IP addresses or ranges such as 10.0.0.0/8, or ${RANGE_NAMES.join(', ')}; "${proxy}" is not one`,
      )
    }
  }
  return proxies
}

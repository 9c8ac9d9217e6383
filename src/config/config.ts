// The only file that reads the environment: every variable with its help text, default and validation.
// Checks only the form of each value; opens no connection and no port.
import { CATEGORY_POLICIES } from '../contract/category-policy.ts'
import { HOLD_MINUTES_MAX } from '../contract/hold-limit.ts'
import { isLoopbackHost } from '../values/ip-address.ts'
import {
  Fault,
  integer,
  oneOf,
  readCurrency,
  readDatabaseUrl,
  readDelays,
  readIssuer,
  readNetworks,
  readOidcScopes,
  readOrigins,
  readProxies,
  readPublicUrl,
  readRoleRules,
  readServiceUrl,
  readTimeZone,
  type Variable,
} from './config-values.ts'
import { TRACING_VARIABLES, tracingFaults, tracingTexts } from './tracing-settings.ts'

type Environment = Record<string, string | undefined>

export const VARIABLES = {
  DATABASE_URL: {
    help: 'URL of the PostgreSQL database. With several hosts, `host1:5432,host2:5432`, the service finds the primary. Configure TLS with the parameters `sslmode`, `sslrootcert`, `sslcert` and `sslkey`; without `sslmode`, the connection is not encrypted.',
    example: 'postgres://petstore_app:secret@db.example:5432/petstore?sslmode=verify-full',
    read: (text) => {
      if (text === undefined) {
        throw new Fault('is not set; set it, or run `npm run dev`, which starts its own database')
      }
      return readDatabaseUrl(text)
    },
  },
  MIGRATION_DATABASE_URL: {
    help: 'URL of the same database, with a role that can change the schema. Used by `petstore migrate` and `petstore serve --migrate`. Default: `DATABASE_URL`.',
    read: (text) => (text === undefined ? undefined : readDatabaseUrl(text)),
  },
  RECORD_DATABASE_URL: {
    help: 'URL of the database in which `petstore verify --record` records its result, with the role `petstore_verify`. `DATABASE_URL` is then the restored database. Default: none.',
    read: (text) => (text === undefined ? undefined : readDatabaseUrl(text)),
  },
  DATABASE_POOL_SIZE: {
    help: 'Max connections to PostgreSQL per process, 1 to 200. Default: 10.',
    read: integer(10, 1, 200),
  },
  HOST: { help: 'Address to listen on. Default: 127.0.0.1.', read: (text) => text ?? '127.0.0.1' },
  PORT: { help: 'Port to listen on; 0 picks a free port. Default: 3000.', read: integer(3000, 0, 65_535) },
  SHARE_PORT: {
    help: '`on` lets several processes on one Linux host listen on the same port, for example one per core. Default: off.',
    read: oneOf('off', 'on'),
  },
  ADMIN_HOST: {
    help: 'Address to listen on for health checks and metrics. Do not expose it to the internet. Default: 127.0.0.1.',
    read: (text) => text ?? '127.0.0.1',
  },
  ADMIN_PORT: {
    help: 'Port for `/live`, `/ready` and `/metrics`; 0 picks a free port. Default: 9090.',
    read: integer(9090, 0, 65_535),
  },
  PUBLIC_URL: {
    help: 'Origin that clients use, without `/v1`. The service puts it into `Link` and `Location` headers. Default: none; the headers then contain only paths.',
    example: 'https://api.petstore.example',
    read: readPublicUrl,
  },
  PETSTORE_ENV: {
    help: '`production` (API keys `petstore_live_…`) or `staging` (API keys `petstore_test_…`). Default: production.',
    read: oneOf('production', 'staging'),
  },
  LOG_LEVEL: {
    help: 'Min level of the lines to log: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Default: info.',
    read: oneOf('info', 'debug', 'trace', 'warn', 'error', 'fatal', 'silent'),
  },
  LOG_CLIENT_ADDRESS: {
    help: '`on` adds the IP address of the client to each request log line. Default: off.',
    read: oneOf('off', 'on'),
  },
  CATEGORIES: {
    help: '`any` accepts every category id; `strict` accepts only ids in the table `categories`. Default: any.',
    read: oneOf(...CATEGORY_POLICIES),
  },
  HOLD_MINUTES: {
    help: 'How many minutes an order holds its pet, 1 to 10080, if the request has no `holdMinutes`. Default: 60.',
    read: integer(60, 1, HOLD_MINUTES_MAX),
  },
  CURRENCY: {
    help: 'Initial currency of the shop, a code of ISO 4217 such as JPY. The first `petstore migrate` stores it; from then on, the [stored settings](#shop-settings) count. Default: EUR.',
    read: readCurrency,
  },
  TIME_ZONE: {
    help: 'Initial time zone of the shop, which decides when a day begins. The first `petstore migrate` stores it; from then on, the stored settings count. Default: that of the host of `petstore migrate`.',
    example: 'Europe/Berlin',
    read: readTimeZone,
  },
  EVENT_RETENTION_DAYS: {
    help: 'How many days the service keeps events, 1 to 3650. A reader that falls further behind gets 410. Default: 30.',
    read: integer(30, 1, 3_650),
  },
  WEBHOOKS_MAX: { help: 'Max webhooks of a store, 0 to 10000. Default: 100.', read: integer(100, 0, 10_000) },
  WEBHOOK_NETWORKS: {
    help: 'Networks to which webhooks may be delivered although they are not public: IP addresses or ranges, separated by commas. Within them, `http:` URLs are allowed too. Set the same value for `serve` and `deliver`. Default: none.',
    example: '10.20.0.0/16,127.0.0.0/8,::1',
    read: readNetworks,
  },
  WEBHOOK_RETRY_SECONDS: {
    help: 'Delays in seconds after each failed attempt to deliver a webhook, separated by commas, 1 to 20 delays of at most 86400. After one more attempt, the message is given up. Default: 5,300,1800,7200,18000,36000,50400,72000,86400.',
    read: readDelays([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]),
  },
  RATE_LIMIT_PER_SECOND: {
    help: 'Max requests per second for each API key without its own limit; 0 means no limit. Default: 0.',
    read: integer(0, 0, 1_000_000),
  },
  UNAUTHENTICATED_LIMIT_PER_SECOND: {
    help: 'Max requests without a valid API key, per second and client address. Further requests get 429. 0 means no limit. Default: 0.',
    read: integer(0, 0, 1_000_000),
  },
  EVENT_STREAMS_MAX: {
    help: 'Max open streams of events per process, 0 to 1500. Further streams get 503. Default: 1000.',
    read: integer(1_000, 0, 1_500),
  },
  CORS_ORIGINS: {
    help: 'Origins of web pages that can call the service, separated by commas, or `*` for all. Default: none.',
    example: 'https://shop.example,https://staff.example',
    read: readOrigins,
  },
  TRUST_PROXY: {
    help: 'Proxies whose `X-Forwarded-For` header is trusted: IP addresses, ranges, `loopback`, `linklocal` or `uniquelocal`, separated by commas. Default: none.',
    example: '10.0.0.0/8,loopback',
    read: readProxies,
  },
  OIDC_ISSUER: {
    help: 'Issuer URL of the identity provider with which people sign in (OpenID Connect). Also set `OIDC_CLIENT_ID`, `OIDC_ROLES` and `PUBLIC_URL`. Default: none; people sign in with an API key.',
    example: 'https://login.example/realms/shop',
    read: readIssuer,
  },
  OIDC_CLIENT_ID: {
    help: 'Id of the client that you registered at the identity provider. Default: none.',
    read: (text) => text,
  },
  OIDC_CLIENT_SECRET: {
    help: 'Secret of that client. Default: none, for a public client.',
    read: (text) => text,
  },
  OIDC_NAME: {
    help: 'Name of the identity provider, shown on the button that signs in. Default: the host of `OIDC_ISSUER`.',
    example: 'Shop account',
    read: (text) => text,
  },
  OIDC_SCOPES: {
    help: 'Scopes that the service requests from the identity provider, separated by blanks. Default: openid profile email.',
    example: 'openid profile email groups',
    read: readOidcScopes,
  },
  OIDC_ROLES_CLAIM: {
    help: 'Claim that contains the groups or roles of a person. Dots select a nested claim. Default: groups.',
    example: 'realm_access.roles',
    read: (text) => text ?? 'groups',
  },
  OIDC_ROLES: {
    help: 'Which value of the claim gives which role: `viewer`, `cashier`, `staff` or `admin`, separated by commas; `*` gives the role to every person. A person gets the highest role that matches. Default: none.',
    example: 'admin=petstore-admins,staff=shop,viewer=*',
    read: readRoleRules,
  },
  OIDC_PROMPT: {
    help: 'What the identity provider asks at each sign-in: `login` asks for the password; `select_account` asks which account, for Google, which does not support `login`; `off` signs in the person who still has a session at the provider, even after a sign-out. Default: login.',
    read: oneOf('login', 'select_account', 'off'),
  },
  SHUTDOWN_GRACE_MS: {
    help: 'Milliseconds from SIGTERM until the port closes, 0 to 60000. Meanwhile `/ready` returns 503, so that a load balancer stops sending requests. Default: 0.',
    read: integer(0, 0, 60_000),
  },
  ...TRACING_VARIABLES,
} as const satisfies Record<string, Variable<unknown>>

/** Settings of the commands that call a running service. These commands use none of the settings above. */
export const CLIENT_VARIABLES = {
  PETSTORE_URL: {
    help: 'URL of the service, with or without `/v1`. Default: `http://127.0.0.1:3000`.',
    example: 'https://api.petstore.example',
    read: (text) => readServiceUrl(text ?? 'http://127.0.0.1:3000'),
  },
  PETSTORE_API_KEY: {
    help: 'Your API key. It cannot be passed as an option, because every user on the host can read command lines.',
    read: (text) => {
      if (text === undefined) {
        throw new Fault(
          'is not set; ask the operator of the service for a key, or create one: petstore api-keys create --name NAME',
        )
      }
      // The value may contain a key, so the message does not quote it.
      if (!/^[!-~]+$/.test(text)) throw new Fault('contains characters that no API key contains')
      return text
    },
  },
} as const satisfies Record<string, Variable<unknown>>

type Table = Record<string, Variable<unknown>>
type ValuesOf<Of extends Table> = { [Name in keyof Of]: ReturnType<Of[Name]['read']> }
export type Config = ValuesOf<typeof VARIABLES>
export type ClientConfig = ValuesOf<typeof CLIENT_VARIABLES>

/** Lists every invalid setting, one line each. */
export class ConfigError extends Error {
  readonly faults: string[]

  constructor(faults: string[]) {
    super(`The configuration is invalid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
    this.faults = faults
  }
}

export function readConfig(environment: Environment = process.env): Config {
  const tracing = tracingTexts((name) => textIn(environment, name))
  return readTable(VARIABLES, { ...environment, ...tracing }, (textOf) => [
    ...signInFaults(textOf),
    ...tracingFaults(textOf),
  ])
}

/**
 * Faults of settings that need each other. Gets the text of each setting, so that an invalid setting is not also
 * reported as missing.
 */
function signInFaults(textOf: (name: keyof typeof VARIABLES) => string | undefined): string[] {
  const isSet = (name: keyof typeof VARIABLES) => textOf(name) !== undefined
  if (!isSet('OIDC_ISSUER')) {
    const useless = (['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES'] as const).filter(isSet)
    return useless.map((name) => `${name} has no effect without OIDC_ISSUER; set both or neither`)
  }
  const missing = (['OIDC_CLIENT_ID', 'OIDC_ROLES', 'PUBLIC_URL'] as const).filter((name) => !isSet(name))
  const faults = missing.map((name) => `${name} is not set; OIDC_ISSUER requires it`)
  // Without TLS, the key of a person could be read on the network.
  const { protocol, hostname: host } = URL.parse(textOf('PUBLIC_URL') ?? '') ?? {}
  if (protocol === 'http:' && !isLoopbackHost(host ?? '')) {
    faults.push(
      'PUBLIC_URL must start with https: if OIDC_ISSUER is set; http: is accepted only for this host',
    )
  }
  return faults
}

/** `url` takes precedence over PETSTORE_URL. */
export function readClientConfig(url?: string, environment: Environment = process.env): ClientConfig {
  return readTable(CLIENT_VARIABLES, { ...environment, ...(url !== undefined && { PETSTORE_URL: url }) })
}

function readTable<Of extends Table>(
  table: Of,
  environment: Environment,
  moreFaults: (textOf: (name: string) => string | undefined) => string[] = () => [],
): ValuesOf<Of> {
  const faults: string[] = []
  const values: Record<string, unknown> = {}
  const textOf = (name: string) => textIn(environment, name)
  for (const [name, variable] of Object.entries(table)) {
    try {
      values[name] = variable.read(textOf(name))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      faults.push(`${name} ${error.message}`)
    }
  }
  faults.push(...moreFaults(textOf))
  if (faults.length > 0) throw new ConfigError(faults)
  return values as ValuesOf<Of>
}

/** An empty variable counts as unset. */
function textIn(environment: Environment, name: string): string | undefined {
  return environment[name]?.trim() || undefined
}

/** The environment for a child process: the variables of this process and the added ones. */
export function environmentWith(added: Record<string, string>): Environment {
  return { ...process.env, ...added }
}

// `petstore doctor`: checks everything that the service needs to run, and prints how to fix each problem.
import { type Command, InvalidArgumentError } from 'commander'
import { type Client, DatabaseError } from 'pg'
import { type Config, ConfigError, readConfig } from '../config/config.ts'
import { splitDatabaseUrl } from '../config/database-url.ts'
import { openClient, readerOf } from '../db/connection/pool.ts'
import { TOO_MANY_CONNECTIONS } from '../db/connection/sqlstates.ts'
import type { Reader } from '../db/database.ts'
import { connectClient, readHostStates } from '../db/failover/hosts.ts'
import { isLoopbackHost } from '../values/ip-address.ts'
import { checkArchiving } from './doctor/archiving.ts'
import { checkCertificate } from './doctor/certificate.ts'
import { checkClock } from './doctor/clock.ts'
import { checkConnections } from './doctor/connections.ts'
import { type Finding, messageOf } from './doctor/finding.ts'
import { checkPatroni } from './doctor/patroni.ts'
import { checkPlanner } from './doctor/planner.ts'
import { checkPooler, type PoolerResult } from './doctor/pooler.ts'
import { checkProcesses } from './doctor/processes.ts'
import { checkReplication } from './doctor/replication.ts'
import { checkRestores } from './doctor/restores.ts'
import { checkRoles } from './doctor/roles.ts'
import { checkCollations, checkOwners, checkPrivileges, checkSchema } from './doctor/schema.ts'
import { checkSettings } from './doctor/settings.ts'
import { checkStore } from './doctor/store.ts'
import { checkWaits } from './doctor/waits.ts'
import { checkWebhooks } from './doctor/webhooks.ts'
import { EXIT_FAILED } from './terminal/exit-codes.ts'
import { paint, print } from './terminal/terminal.ts'

const APPLICATION_NAME = 'petstore-doctor'
const SERVER_VERSION_MIN = 150_000

interface DoctorOptions {
  json?: boolean
  patroni?: URL
  url?: URL[]
}

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check the configuration, the database, its replication and the clock, and print how to fix problems',
    )
    .option('--json', 'print a JSON array of {check, state, message, remedy}; state is ok, warning or fault')
    .option(
      '--patroni <url>',
      'REST address of a Patroni node: also check the version and the settings of Patroni',
      parseAddress,
    )
    .option(
      '--url <urls...>',
      'admin ports (ADMIN_PORT) of running processes, serve and deliver: also check their metrics',
      addAddress,
    )
    .addHelpText(
      'after',
      '\nFor each fault and each warning, the command prints how to fix it.\n\nExit codes:\n  0  no check found a fault; there may be warnings\n  1  at least one check found a fault\n\nExamples:\n  petstore doctor --json\n  petstore doctor --url http://127.0.0.1:9091 http://127.0.0.1:9092 http://127.0.0.1:9190\n  petstore doctor --patroni https://10.0.0.11:8008',
    )
    .action(async (options: DoctorOptions) => {
      const findings = await examine()
      if (options.patroni !== undefined) findings.push(await checkPatroni(options.patroni))
      if (options.url !== undefined) findings.push(...(await checkProcesses(options.url)))
      if (options.json) print(JSON.stringify(findings, null, 2))
      else for (const finding of findings) print(toLines(finding))
      if (findings.some((finding) => finding.state === 'fault')) process.exitCode = EXIT_FAILED
    })
}

function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.href === `${url.origin}/`)
    return url
  throw new InvalidArgumentError('Use a URL such as http://10.0.0.11:8008.')
}

/** A process that is named twice is read once. */
function addAddress(text: string, before: URL[] = []): URL[] {
  const url = parseAddress(text)
  return before.some(({ origin }) => origin === url.origin) ? before : [...before, url]
}

async function examine(): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(configurationFault)
    throw error
  }
  let client: Client
  try {
    client = await connectClient(config.DATABASE_URL, APPLICATION_NAME)
  } catch (error) {
    const message = `cannot connect: ${messageOf(error)}`
    return [
      checkConfiguration(),
      { check: 'database', state: 'fault', message, remedy: connectRemedy(error) },
    ]
  }
  try {
    return [checkConfiguration(), ...(await examineDatabase(client, config))]
  } finally {
    await client.end()
  }
}

interface Examined {
  db: Reader
  client: Client
  config: Config
  pooler: PoolerResult
}

/** Some checks have several findings, or none. */
type Found = Finding | Finding[]

/** The checks of a database that can be used, in the order in which they run and are printed. */
const CHECKS: Record<string, (examined: Examined) => Found | Promise<Found>> = {
  hosts: ({ config }) => checkHosts(config),
  pooler: ({ pooler }) => pooler.finding,
  encryption: ({ config }) => checkEncryption(config),
  certificate: ({ client }) => checkCertificate(client),
  schema: ({ db }) => checkSchema(db),
  privileges: ({ db }) => checkPrivileges(db),
  roles: ({ db }) => checkRoles(db),
  owners: ({ db, config }) => checkOwners(db, config),
  collations: ({ db }) => checkCollations(db),
  connections: ({ db, config, pooler }) => checkConnections(db, config, pooler.isPooled),
  planner: ({ db }) => checkPlanner(db),
  replication: ({ db }) => checkReplication(db),
  archiving: ({ db }) => checkArchiving(db),
  waits: ({ db }) => checkWaits(db),
  settings: ({ db, config }) => checkSettings(db, config),
  webhooks: ({ db }) => checkWebhooks(db),
  store: ({ db }) => checkStore(db),
  restores: ({ db }) => checkRestores(db),
  clock: ({ client }) => checkClock(client),
}
/** While the service waits for a lock, these checks would report the consequences, or wait too. */
const WITHOUT_WAITS = new Set(['settings', 'webhooks', 'store', 'restores'])

async function examineDatabase(client: Client, config: Config): Promise<Finding[]> {
  const server = await checkServer(client)
  if (server.state === 'fault') return [server]
  const pooler = await checkPooler(client, () => connectClient(config.DATABASE_URL, APPLICATION_NAME))
  if (pooler.isLost) return [server, pooler.finding]
  const examined = { db: readerOf(client), client, config, pooler }
  const findings = [server]
  for (const [check, examineIt] of Object.entries(CHECKS)) {
    const isWaiting = findings.some((finding) => finding.check === 'waits' && finding.state === 'fault')
    if (isWaiting && WITHOUT_WAITS.has(check)) continue
    findings.push(...(await attempt(check, () => examineIt(examined))))
  }
  return findings
}

/** A check that fails does not hide the results of the others: on a busy server, a timeout can cancel any statement. */
async function attempt(check: string, work: () => Found | Promise<Found>): Promise<Finding[]> {
  try {
    return [await work()].flat()
  } catch (error) {
    const message = `the check failed: ${messageOf(error)}`
    return [{ check, state: 'fault', message, remedy: 'Fix the cause, and run petstore doctor again.' }]
  }
}

function configurationFault(message: string): Finding {
  const remedy = 'Fix the variable; see docs/configuration.md.'
  return { check: 'configuration', state: 'fault', message, remedy }
}

function checkConfiguration(): Finding {
  const check = 'configuration'
  return { check, state: 'ok', message: 'all variables are valid' }
}

async function checkServer(client: Client): Promise<Finding> {
  const { rows } = await client.query(
    `select current_setting('server_version') as version,
      current_setting('server_version_num')::int as number,
      pg_is_in_recovery() as standby`,
  )
  const { version, number, standby } = rows[0]
  const check = 'database'
  if (standby) {
    return {
      check,
      state: 'fault',
      message: 'DATABASE_URL connects to a standby, which is read-only',
      remedy: 'Set DATABASE_URL to the primary.',
    }
  }
  if (number < SERVER_VERSION_MIN) {
    return {
      check,
      state: 'fault',
      message: `PostgreSQL ${version} is too old`,
      remedy: 'Use PostgreSQL 15 or newer.',
    }
  }
  return { check, state: 'ok', message: `connected to PostgreSQL ${version}, a primary` }
}

/** With several hosts, the service works while one is the primary, but a failover needs the others. */
async function checkHosts({ DATABASE_URL }: Config): Promise<Finding[]> {
  if (splitDatabaseUrl(DATABASE_URL).length === 1) return []
  const check = 'hosts'
  const hosts = await readHostStates(DATABASE_URL, APPLICATION_NAME)
  const message = hosts.map(({ host, state }) => `${host}: ${state}`).join(', ')
  if (hosts.every(({ isReachable }) => isReachable)) return [{ check, state: 'ok', message }]
  const remedy = 'Start the servers that cannot be reached, or remove them from DATABASE_URL.'
  return [{ check, state: 'warning', message, remedy }]
}

/** Checks the URL, not the server: behind a pooler, PostgreSQL sees only the connection of the pooler. */
function checkEncryption(config: Config): Finding {
  const check = 'encryption'
  const toOtherHosts = (['DATABASE_URL', 'MIGRATION_DATABASE_URL'] as const).flatMap((name) => {
    const urls = config[name] === undefined ? [] : splitDatabaseUrl(config[name])
    return (
      urls
        .map((url) => openClient(url, APPLICATION_NAME))
        // The traffic of a Unix socket and of the loopback interface stays on the host.
        .filter(({ host }) => !host.startsWith('/') && !isLoopbackHost(host))
        .map(({ host, ssl }) => ({ name, host, ssl }))
    )
  })
  // With `ssl` set, node-postgres encrypts or fails to connect; it never falls back.
  const plain = toOtherHosts.filter(({ ssl }) => !ssl)
  if (plain.length > 0) {
    return {
      check,
      state: 'warning',
      message: `${plain.map(({ name, host }) => `${name} connects to ${host}`).join(', ')} without encryption`,
      remedy:
        'Add ?sslmode=verify-full&sslrootcert=… to the URL, unless the network between the hosts is private.',
    }
  }
  if (toOtherHosts.length === 0) return { check, state: 'ok', message: 'no connection leaves this host' }
  return { check, state: 'ok', message: 'all connections to other hosts are encrypted' }
}

function toLines({ check, state, message, remedy }: Finding): string {
  const mark = {
    ok: paint('green', 'ok     ', process.stdout),
    warning: paint('yellow', 'warning', process.stdout),
    fault: paint('red', 'fault  ', process.stdout),
  }[state]
  const lines = [`${mark}  ${check.padEnd(13)}  ${message}`]
  if (remedy !== undefined) lines.push(`${' '.repeat(24)}${remedy}`)
  return lines.join('\n')
}

function connectRemedy(error: unknown): string {
  if (error instanceof DatabaseError && error.code === TOO_MANY_CONNECTIONS) {
    return 'As a superuser, compare rolconnlimit in pg_roles, datconnlimit in pg_database and max_connections with the sessions in pg_stat_activity.'
  }
  return 'Check that PostgreSQL is running, and check the host, port, role, password and database in DATABASE_URL.'
}

// `petstore doctor`: checks everything that the service needs to run, and prints how to fix each problem.
import { type Command, InvalidArgumentError } from 'commander'
import { type Client, DatabaseError } from 'pg'
import { type Config, ConfigError, removedVariableWarnings, readConfig } from '../config/config.ts'
import { splitDatabaseUrl } from '../config/database-url.ts'
import { openClient } from '../db/connection/pool.ts'
import { TOO_MANY_CONNECTIONS } from '../db/connection/sqlstates.ts'
import { connectClient, readHostStates } from '../db/failover/hosts.ts'
import { isLoopbackHost } from '../values/ip-address.ts'
import { checkClock } from './doctor/clock.ts'
import { checkConnections } from './doctor/connections.ts'
import { type Finding, messageOf, readerOf } from './doctor/finding.ts'
import { checkPatroni } from './doctor/patroni.ts'
import { checkPlanner } from './doctor/planner.ts'
import { checkPooler } from './doctor/pooler.ts'
import { checkReplication } from './doctor/replication.ts'
import { checkRestores } from './doctor/restores.ts'
import { checkCollations, checkOwners, checkPrivileges, checkSchema } from './doctor/schema.ts'
import { checkWaits } from './doctor/waits.ts'
import { checkWebhooks } from './doctor/webhooks.ts'
import { EXIT_FAILED } from './terminal/exit-codes.ts'
import { paint, print } from './terminal/terminal.ts'

const SERVER_VERSION_MIN = 150_000

interface DoctorOptions {
  json?: boolean
  patroni?: URL
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
    .addHelpText(
      'after',
      '\nFor each fault and each warning, the command prints how to fix it.\n\nExit codes:\n  0  no check found a fault; there may be warnings\n  1  at least one check found a fault\n\nExamples:\n  petstore doctor --json\n  petstore doctor --patroni https://10.0.0.11:8008',
    )
    .action(async (options: DoctorOptions) => {
      const findings = await examine()
      if (options.patroni !== undefined) findings.push(await checkPatroni(options.patroni))
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

function examineConfiguration(): Finding {
  const warnings = removedVariableWarnings()
  if (warnings.length === 0)
    return { check: 'configuration', state: 'ok', message: 'all variables are valid' }
  return {
    check: 'configuration',
    state: 'warning',
    message: warnings.join('; '),
    remedy: 'Remove the variables.',
  }
}

async function examine(): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.faults.map((message) => ({
      check: 'configuration',
      state: 'fault',
      message,
      remedy: 'Fix the variable; see docs/configuration.md.',
    }))
  }
  const configuration = examineConfiguration()

  let client: Client
  try {
    client = await connectClient(config.DATABASE_URL, 'petstore-doctor')
  } catch (error) {
    return [
      configuration,
      {
        check: 'database',
        state: 'fault',
        message: `cannot connect: ${messageOf(error)}`,
        remedy: connectRemedy(error),
      },
    ]
  }
  try {
    const server = await checkServer(client)
    if (server.state === 'fault') return [configuration, server]
    const db = readerOf(client)
    const connect = () => connectClient(config.DATABASE_URL, 'petstore-doctor')
    const pooler = await checkPooler(client, connect)
    if (pooler.isLost) return [configuration, server, pooler.finding]
    const waits = await attempt('waits', () => checkWaits(db))
    const isWaiting = waits.some(({ state }) => state === 'fault')
    return [
      configuration,
      server,
      ...(await attempt('hosts', () => checkHosts(config))),
      pooler.finding,
      checkEncryption(config),
      ...(await attempt('schema', () => checkSchema(db))),
      ...(await attempt('privileges', () => checkPrivileges(db))),
      ...(await attempt('owners', () => checkOwners(db, config))),
      ...(await attempt('collations', () => checkCollations(db))),
      ...(await attempt('connections', () => checkConnections(db, config, pooler.isPooled))),
      ...(await attempt('planner', () => checkPlanner(db))),
      ...(await attempt('replication', () => checkReplication(db))),
      ...waits,
      // While the service waits, these would report its consequences, or wait too.
      ...(isWaiting ? [] : await attempt('webhooks', () => checkWebhooks(db))),
      ...(isWaiting ? [] : await attempt('restores', () => checkRestores(db))),
      ...(await attempt('clock', () => checkClock(client))),
    ]
  } finally {
    await client.end()
  }
}

/** A check that fails does not hide the results of the others: on a busy server, a timeout can cancel any statement. */
async function attempt(check: string, work: () => Promise<Finding | Finding[]>): Promise<Finding[]> {
  try {
    return [await work()].flat()
  } catch (error) {
    const message = `the check failed: ${messageOf(error)}`
    return [{ check, state: 'fault', message, remedy: 'Fix the cause, and run petstore doctor again.' }]
  }
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
  const hosts = await readHostStates(DATABASE_URL, 'petstore-doctor')
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
        .map((url) => openClient(url, 'petstore-doctor'))
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

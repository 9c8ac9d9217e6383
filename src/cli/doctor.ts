// `petstore doctor`: checks everything that the service needs to run, and prints how to fix each problem.
import type { Command } from 'commander'
import type pg from 'pg'
import { type Config, ConfigError, formerNameWarnings, readConfig } from '../config.ts'
import { roleOf, splitDatabaseUrl } from '../database-url.ts'
import { listStaleCollations, type StaleCollation } from '../db/collations.ts'
import type { Reader } from '../db/database.ts'
import { readSchemaState } from '../db/migrate.ts'
import { readOwners } from '../db/owners.ts'
import { connectClient } from '../db/hosts.ts'
import { openClient } from '../db/pool.ts'
import { readPrivileges } from '../db/privileges.ts'
import { EXIT_FAILED } from './exit-codes.ts'
import { paint, print } from './terminal.ts'

const CLOCK_SKEW_MAX_MS = 2_000
const SERVER_VERSION_MIN = 150_000
/** A Unix socket or the loopback interface: the traffic stays on the host. */
const LOCAL_HOST = /^(\/|localhost$|127\.|\[?::1\]?$)/

interface Finding {
  check: string
  state: 'ok' | 'warning' | 'fault'
  message: string
  remedy?: string
}

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check the configuration, the database and the clock, and print how to fix problems')
    .option('--json', 'print a JSON array of {check, state, message, remedy}; state is ok, warning or fault')
    .addHelpText(
      'after',
      '\nFor each fault and each warning, the command prints how to fix it.\n\nExit codes:\n  0  no check found a fault; there may be warnings\n  1  at least one check found a fault\n\nExample:\n  petstore doctor --json',
    )
    .action(async (options: { json?: boolean }) => {
      const findings = await examine()
      if (options.json) print(JSON.stringify(findings, null, 2))
      else for (const finding of findings) print(toLines(finding))
      if (findings.some((finding) => finding.state === 'fault')) process.exitCode = EXIT_FAILED
    })
}

function examineConfiguration(): Finding {
  const warnings = formerNameWarnings()
  if (warnings.length === 0)
    return { check: 'configuration', state: 'ok', message: 'all variables are valid' }
  return {
    check: 'configuration',
    state: 'warning',
    message: warnings.join('; '),
    remedy: 'Rename the variables.',
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

  let client: pg.Client
  try {
    client = await connectClient(config.DATABASE_URL, 'petstore-doctor')
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return [
      configuration,
      {
        check: 'database',
        state: 'fault',
        message: `cannot connect: ${message}`,
        remedy:
          'Check that PostgreSQL is running, and check the host, port, role, password and database in DATABASE_URL.',
      },
    ]
  }
  try {
    const server = await checkServer(client)
    if (server.state === 'fault') return [configuration, server]
    return [
      configuration,
      server,
      checkEncryption(config),
      await checkSchema(client),
      await checkPrivileges(client),
      await checkOwners(client, config),
      await checkCollations(client),
      await checkClock(client),
    ]
  } finally {
    await client.end()
  }
}

function readerOf(client: pg.Client): Reader {
  return { read: async ({ text, values }) => (await client.query(text, values)).rows }
}

async function checkServer(client: pg.Client): Promise<Finding> {
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
  return { check, state: 'ok', message: `connected to PostgreSQL ${version}` }
}

/** Checks the URL, not the server: behind a pooler, PostgreSQL sees only the connection of the pooler. */
function checkEncryption(config: Config): Finding {
  const check = 'encryption'
  const plain = (['DATABASE_URL', 'MIGRATION_DATABASE_URL'] as const).flatMap((name) => {
    const urls = config[name] === undefined ? [] : splitDatabaseUrl(config[name])
    return urls.flatMap((url) => {
      // With `ssl` set, node-postgres encrypts or fails to connect; it never falls back.
      const { host, ssl } = openClient(url, 'petstore-doctor')
      return ssl || LOCAL_HOST.test(host) ? [] : [`${name} connects to ${host}`]
    })
  })
  if (plain.length > 0) {
    return {
      check,
      state: 'warning',
      message: `${plain.join(', ')} without encryption`,
      remedy:
        'Add ?sslmode=verify-full&sslrootcert=… to the URL, unless the network between the hosts is private.',
    }
  }
  return { check, state: 'ok', message: 'all connections to other hosts are encrypted' }
}

async function checkSchema(client: pg.Client): Promise<Finding> {
  const check = 'schema'
  const { version, missing, unknown } = await readSchemaState(readerOf(client))
  if (missing.length > 0) {
    return {
      check,
      state: 'fault',
      message: `missing migrations: ${missing.join(', ')}`,
      remedy: 'Run: petstore migrate',
    }
  }
  if (unknown.length > 0) {
    return {
      check,
      state: 'warning',
      message: `the database has migrations of a newer version of Petstore: ${unknown.join(', ')}`,
      remedy: 'This is expected during a rolling upgrade. Otherwise, install the newer version.',
    }
  }
  return { check, state: 'ok', message: `up to date (${version})` }
}

/** A missing privilege is a fault. An unneeded one is a warning, because it is a security risk. */
async function checkPrivileges(client: pg.Client): Promise<Finding> {
  const check = 'privileges'
  const { role, mayChangeSchema, lacking, excess } = await readPrivileges(readerOf(client))
  if (lacking.length > 0) {
    return {
      check,
      state: 'fault',
      message: `the role ${role} lacks ${lacking.join(', ')}`,
      remedy: 'Run deploy/roles.sql again.',
    }
  }
  if (mayChangeSchema) {
    return {
      check,
      state: 'warning',
      message: `the role ${role} can change the schema, which the service does not need`,
      remedy: 'Create the roles with deploy/roles.sql, and use the owner only in MIGRATION_DATABASE_URL.',
    }
  }
  if (excess.length > 0) {
    return {
      check,
      state: 'warning',
      message: `the role ${role} has privileges that the service does not need: ${excess.join(', ')}`,
      remedy: 'Run deploy/roles.sql again.',
    }
  }
  return {
    check,
    state: 'ok',
    message: `the role ${role} has the privileges that the service needs, and cannot change the schema`,
  }
}

/** After a restore, another role can be the owner: the service works, but the next migration fails. */
async function checkOwners(client: pg.Client, { MIGRATION_DATABASE_URL }: Config): Promise<Finding> {
  const check = 'owners'
  const role = MIGRATION_DATABASE_URL && roleOf(MIGRATION_DATABASE_URL)
  const { migrator, exists, notOwned } = await readOwners(readerOf(client), role)
  if (!exists) {
    return {
      check,
      state: 'ok',
      message: `not checked: the role ${migrator} does not exist. To check another role, set MIGRATION_DATABASE_URL`,
    }
  }
  if (notOwned.length > 0) {
    return {
      check,
      state: 'fault',
      message: `the role ${migrator} does not own ${notOwned.join(', ')}: \`petstore migrate\` can fail`,
      remedy: 'Run deploy/roles.sql again.',
    }
  }
  return {
    check,
    state: 'ok',
    message: `the role ${migrator} owns all tables, types and functions`,
  }
}

async function checkCollations(client: pg.Client): Promise<Finding> {
  const check = 'collations'
  const stale = await listStaleCollations(readerOf(client))
  if (stale.length === 0) {
    return { check, state: 'ok', message: 'all indexes use the current version of their collation' }
  }
  return {
    check,
    state: 'warning',
    message: stale.map(describeCollation).join('. '),
    remedy: stale.map(rebuildIndexes).join(' '),
  }
}

function describeCollation({ name, recordedVersion, actualVersion, indexes }: StaleCollation): string {
  const current = actualVersion === null ? 'now has no version' : `is now version ${actualVersion}`
  return `the collation ${name} ${current}, but these indexes were built with version ${recordedVersion}, so queries can miss rows: ${indexes.join(', ')}`
}

function rebuildIndexes({ indexes, owner, refresh }: StaleCollation): string {
  const statements = indexes.map((index) => `reindex index concurrently ${index};`).join(' ')
  return `As ${owner}, run one statement at a time: ${statements} Then, as a superuser: ${refresh};`
}

async function checkClock(client: pg.Client): Promise<Finding> {
  const check = 'clock'
  const before = Date.now()
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now')
  const midpoint = (before + Date.now()) / 2
  const skew = Math.abs((rows[0]?.now.getTime() ?? 0) - midpoint)
  if (skew > CLOCK_SKEW_MAX_MS) {
    return {
      check,
      state: 'warning',
      message: `the clocks of this host and of the database differ by ${Math.round(skew / 1000)} s`,
      remedy: 'Run NTP on both hosts.',
    }
  }
  return { check, state: 'ok', message: 'in sync with the clock of the database' }
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

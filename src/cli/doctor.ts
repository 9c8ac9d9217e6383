// `petstore doctor`: looks at what a service needs, and says what is wrong and what to do.
import type { Command } from 'commander'
import type pg from 'pg'
import { type Config, ConfigError, formerNameWarnings, readConfig } from '../config.ts'
import { listStaleCollations, type StaleCollation } from '../db/collations.ts'
import type { Reader } from '../db/database.ts'
import { readSchemaState } from '../db/migrate.ts'
import { readOwners } from '../db/owners.ts'
import { openClient } from '../db/pool.ts'
import { readPrivileges } from '../db/privileges.ts'
import { EXIT_FAILED } from './exit-codes.ts'
import { paint, print } from './terminal.ts'

const CLOCK_SKEW_MAX_MS = 2_000
const SERVER_VERSION_MIN = 150_000
/** A Unix socket or the loopback interface: nothing leaves the host. */
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
    .description(
      'check configuration, database, encryption, schema, rights, owners, collations and clock; say what to do',
    )
    .option('--json', 'as a JSON array of {check, state, message, remedy}')
    .addHelpText(
      'after',
      '\nEnds with 0 when a service can run, else with 1.\n\nExample:\n  petstore doctor --json',
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
    return { check: 'configuration', state: 'ok', message: 'every variable is valid' }
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
      remedy: 'Set it as docs/configuration.md says.',
    }))
  }
  const configuration = examineConfiguration()

  const client = openClient(config.DATABASE_URL, 'petstore-doctor')
  try {
    await client.connect()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return [
      configuration,
      {
        check: 'database',
        state: 'fault',
        message: `cannot connect: ${message}`,
        remedy:
          'See that PostgreSQL runs, and that host, port, role, password and database of DATABASE_URL are right.',
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
      await checkRights(client),
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
      message: 'connected to a standby, which cannot write',
      remedy: 'Point DATABASE_URL at the primary.',
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
  return { check, state: 'ok', message: `PostgreSQL ${version} answers` }
}

/** Of this side of the connection: behind a pooler, PostgreSQL itself sees another one. */
function checkEncryption(config: Config): Finding {
  const check = 'encryption'
  const plain = (['DATABASE_URL', 'MIGRATION_DATABASE_URL'] as const).flatMap((name) => {
    const url = config[name]
    if (url === undefined) return []
    // node-postgres never falls back: a client with these options encrypts, or does not connect.
    const { host, ssl } = openClient(url, 'petstore-doctor')
    return ssl || LOCAL_HOST.test(host) ? [] : [`${name} connects to ${host}`]
  })
  if (plain.length > 0) {
    return {
      check,
      state: 'warning',
      message: `${plain.join(', ')} without encryption`,
      remedy:
        'Add ?sslmode=verify-full&sslrootcert=… to the URL, unless nobody else can read the network between the hosts.',
    }
  }
  return { check, state: 'ok', message: 'every connection to another host is encrypted' }
}

async function checkSchema(client: pg.Client): Promise<Finding> {
  const check = 'schema'
  const { version, missing, unknown } = await readSchemaState(readerOf(client))
  if (missing.length > 0) {
    return { check, state: 'fault', message: `lacks ${missing.join(', ')}`, remedy: 'Run: petstore migrate' }
  }
  if (unknown.length > 0) {
    return {
      check,
      state: 'warning',
      message: `is newer than this version of Petstore (${unknown.join(', ')})`,
      remedy: 'Fine during a rolling upgrade; else install the newer version.',
    }
  }
  return { check, state: 'ok', message: `is current (${version})` }
}

/** The service needs certain rights on each table, and is safer without any other. */
async function checkRights(client: pg.Client): Promise<Finding> {
  const check = 'rights'
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
      message: `the role ${role} may change the schema, more than the service needs`,
      remedy: 'Make the roles of deploy/roles.sql, and give the owner to MIGRATION_DATABASE_URL only.',
    }
  }
  if (excess.length > 0) {
    return {
      check,
      state: 'warning',
      message: `the role ${role} may ${excess.join(', ')}, more than the service needs`,
      remedy: 'Run deploy/roles.sql again.',
    }
  }
  return {
    check,
    state: 'ok',
    message: `the role ${role} may do what the service does, and not change the schema`,
  }
}

/** A restore can leave another role as the owner; then the service works, and the next migration fails. */
async function checkOwners(client: pg.Client, { MIGRATION_DATABASE_URL }: Config): Promise<Finding> {
  const check = 'owners'
  const role = MIGRATION_DATABASE_URL && decodeURIComponent(new URL(MIGRATION_DATABASE_URL).username)
  const { migrator, exists, notOwned } = await readOwners(readerOf(client), role)
  if (!exists) {
    return {
      check,
      state: 'ok',
      message: `not checked: there is no role ${migrator}. Set MIGRATION_DATABASE_URL to check its role`,
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
    message: `the role ${migrator} can migrate: it owns every table, type and function`,
  }
}

async function checkCollations(client: pg.Client): Promise<Finding> {
  const check = 'collations'
  const stale = await listStaleCollations(readerOf(client))
  if (stale.length === 0) {
    return { check, state: 'ok', message: 'every index is built with the current version of its collation' }
  }
  return {
    check,
    state: 'warning',
    message: stale.map(describeCollation).join('. '),
    remedy: stale.map(rebuildIndexes).join(' '),
  }
}

function describeCollation({ name, recordedVersion, actualVersion, indexes }: StaleCollation): string {
  const now = actualVersion === null ? 'now without a version' : `now version ${actualVersion}`
  return `version ${recordedVersion} of the collation ${name}, ${now}, built these indexes: ${indexes.join(', ')}; queries can miss rows`
}

function rebuildIndexes({ indexes, owner, refresh }: StaleCollation): string {
  const rebuilt = indexes.map((index) => `reindex index concurrently ${index};`).join(' ')
  return `Run one at a time, as ${owner}: ${rebuilt} Then as a superuser: ${refresh};`
}

async function checkClock(client: pg.Client): Promise<Finding> {
  const check = 'clock'
  const before = Date.now()
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now')
  const middle = (before + Date.now()) / 2
  const skew = Math.abs((rows[0]?.now.getTime() ?? 0) - middle)
  if (skew > CLOCK_SKEW_MAX_MS) {
    return {
      check,
      state: 'warning',
      message: `differs from the database's by ${Math.round(skew / 1000)} s`,
      remedy: 'Run NTP on both hosts.',
    }
  }
  return { check, state: 'ok', message: "agrees with the database's" }
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

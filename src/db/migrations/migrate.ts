// Schema migrations: compares the migrations of this version with those in the database, and runs the missing ones.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { MigrationBuilder } from 'node-pg-migrate'
import type { Client } from 'pg'
import type { Config } from '../../config/config.ts'
import { hostTimeZone } from '../../values/time-zone.ts'
import { readerOf } from '../connection/pool.ts'
import { isPooled } from '../connection/pooler.ts'
import { DEADLOCK, LOCK_NOT_AVAILABLE } from '../connection/sqlstates.ts'
import type { Reader } from '../database.ts'
import { connectClient } from '../failover/hosts.ts'
import { watchBlockers } from '../inspect/blockers.ts'
import { GRANT_PRIVILEGES, grantPrivileges } from './grants.ts'

const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations')
const MIGRATIONS_TABLE = 'petstore_migrations'
/**
 * Max time that a migration waits for a lock in one attempt. Meanwhile, requests for the same table queue behind the
 * migration. This time is shorter than the `lock_timeout` of petstore_app, so these requests are delayed but do not
 * fail.
 */
const LOCK_TIMEOUT_MS = 500
/** Pause between two attempts. Requests are not blocked during the pause. */
const ATTEMPT_PAUSE_MS = 2_000
/** Default time for which migrations are retried until they get their locks. After that, the command fails. */
export const LOCK_WAIT_SECONDS = 300

export interface SchemaState {
  /** The newest migration in the database; undefined if the database has none. */
  version: string | undefined
  /** Migrations of this version that the database lacks. `petstore migrate` runs them. */
  missing: string[]
  /** Migrations in the database that this version does not know, because a newer version ran them. */
  unknown: string[]
}

export async function readSchemaState(db: Reader): Promise<SchemaState> {
  const applied = (await hasMigrationsTable(db)) ? await listMigrations(db) : []
  return compareSchema(applied, await migrationNames())
}

async function hasMigrationsTable(db: Reader): Promise<boolean> {
  const [table] = await db.read<{ exists: boolean }>({
    name: 'has_migrations_table',
    bounded: 'without a table',
    text: `select to_regclass('${MIGRATIONS_TABLE}') is not null as exists`,
    values: [],
  })
  return table?.exists === true
}

async function listMigrations(db: Reader): Promise<string[]> {
  const rows = await db.read<{ name: string }>({
    name: 'list_migrations',
    bounded: 'by a small table',
    text: `select name from ${MIGRATIONS_TABLE} order by id`,
    values: [],
  })
  return rows.map(({ name }) => name)
}

export function compareSchema(applied: string[], known: string[]): SchemaState {
  return {
    version: applied.at(-1),
    missing: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  }
}

/** This version of Petstore cannot migrate the database. */
class UnfitDatabaseError extends Error {}

type InitialSettings = Partial<Pick<Config, 'CURRENCY' | 'TIME_ZONE'>>

export interface MigrateOptions {
  /** For the first migration: the variables that choose the first settings of the shop. */
  initialSettings?: InitialSettings
  lockWaitSeconds?: number
  /** Called if an attempt did not get a lock, with the sessions that hold the lock. Called again if they change. */
  onWait?: (blockers: string) => void
  /** Called with privileges that the role cannot correct, and what to do. */
  onWarning?: (message: string) => void
}

/**
 * Runs the missing migrations and returns their names. Also grants each role its privileges, even if no migration is
 * missing. If several processes call it, one migrates; the others wait.
 */
export async function migrate(
  databaseUrl: string,
  {
    initialSettings = {},
    lockWaitSeconds = LOCK_WAIT_SECONDS,
    onWait = () => {},
    onWarning = () => {},
  }: MigrateOptions = {},
): Promise<string[]> {
  const client = await connectClient(databaseUrl, 'petstore-migrate')
  try {
    const { missing } = await checkDatabase(client)
    await passSettings(client, initialSettings)
    const ran = missing.length === 0 ? [] : await runWatched(client, databaseUrl, lockWaitSeconds, onWait)
    await grantPrivileges(client, onWarning)
    return ran
  } finally {
    await client.end()
  }
}

/** migrations/0011_settings.sql reads them. */
async function passSettings(client: Client, { CURRENCY, TIME_ZONE }: InitialSettings): Promise<void> {
  await client.query(
    `select set_config('petstore.currency', $1, false), set_config('petstore.time_zone', $2, false),
      set_config('petstore.host_time_zone', $3, false)`,
    [CURRENCY ?? '', TIME_ZONE ?? '', hostTimeZone()],
  )
}

/** Runs the missing migrations, and reports the sessions that block them. */
async function runWatched(
  client: Client,
  databaseUrl: string,
  lockWaitSeconds: number,
  onWait: (blockers: string) => void,
): Promise<string[]> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const watch = watchBlockers(databaseUrl, rows[0]?.pid ?? 0)
  let reported = ''
  const report = (): string => {
    const blockers = watch.blockers()
    if (blockers !== reported) onWait(blockers)
    reported = blockers
    return blockers
  }
  // An index that is built concurrently waits in one long attempt.
  const reporting = setInterval(() => watch.isBlocked() && report(), ATTEMPT_PAUSE_MS)
  try {
    return await runMissing(client, lockWaitSeconds, report)
  } finally {
    clearInterval(reporting)
    await watch.stop()
  }
}

async function checkDatabase(client: Client): Promise<SchemaState> {
  // Behind a pooler, statements of one migration can run in different sessions, and the lock can stay in another one.
  if (await isPooled(client)) {
    throw new UnfitDatabaseError(
      'the database URL connects to PgBouncer or another pooler, but migrations need a direct connection; set MIGRATION_DATABASE_URL to the host and port of PostgreSQL itself',
    )
  }
  const state = await readSchemaState(readerOf(client))
  if (state.unknown.length > 0) {
    throw new UnfitDatabaseError(
      `the database has migrations that this version of Petstore does not know (${state.unknown.join(', ')}); use a newer version of Petstore`,
    )
  }
  const { rows } = await client.query<{ encoding: string }>(
    `select current_setting('server_encoding') as encoding`,
  )
  if (rows[0]?.encoding !== 'UTF8') {
    throw new UnfitDatabaseError(
      `the database has the encoding ${rows[0]?.encoding}, but Petstore requires UTF8; create a new database: create database … template template0 encoding 'UTF8'`,
    )
  }
  return state
}

/**
 * Runs migrations one at a time, each in its own transaction, until the database has all of them. A migration that builds
 * an index concurrently has no transaction and waits for up to `petstore.lock_wait`, because no request queues behind it.
 */
async function runMissing(client: Client, lockWaitSeconds: number, onWait: () => string): Promise<string[]> {
  await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`)
  await waitForOthers(client, onWait)
  const ran: string[] = []
  const giveUpAt = performance.now() + lockWaitSeconds * 1_000
  for (;;) {
    try {
      const longWaitMs = Math.ceil(Math.max(LOCK_TIMEOUT_MS, giveUpAt - performance.now()))
      await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}; set petstore.lock_wait = '${longWaitMs}ms'`)
      const name = await runNext(client)
      if (name === undefined) return ran
      ran.push(name)
    } catch (error) {
      if (!isLockFailure(error)) throw error
      await client.query('rollback')
      const blockers = onWait()
      const leftMs = giveUpAt - performance.now()
      if (leftMs <= 0) throw await lockWaitError(client, blockers, lockWaitSeconds)
      await sleep(Math.min(ATTEMPT_PAUSE_MS, leftMs))
    }
  }
}

/**
 * Takes the lock that lets only one process migrate. Each attempt ends after LOCK_TIMEOUT_MS, so that `onWait` can
 * report the wait. The number of attempts is not limited, because no request queues behind this lock. PostgreSQL
 * releases the lock when the connection ends.
 */
async function waitForOthers(client: Client, onWait: () => string): Promise<void> {
  const { PG_MIGRATE_LOCK_ID } = await loadRunner()
  for (;;) {
    try {
      await client.query(`select pg_advisory_lock(${PG_MIGRATE_LOCK_ID})`)
      return
    } catch (error) {
      if (!isLockFailure(error)) throw error
      onWait()
    }
  }
}

/** Runs the next migration and returns its name; undefined if none is missing. */
async function runNext(client: Client): Promise<string | undefined> {
  const { runner } = await loadRunner()
  const [migration] = await runner({
    dbClient: client,
    dir: MIGRATIONS_FOLDER,
    direction: 'up',
    count: 1,
    migrationsTable: MIGRATIONS_TABLE,
    migrationLoaderStrategies: [{ extensions: ['.sql', '.ts', '.js'], loader: loadMigrations }],
    noLock: true,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  return migration?.name
}

type Up = (pgm: MigrationBuilder) => void | Promise<void>

/**
 * Adds the grants to the transaction of each migration. Otherwise, the former version, which keeps running, would fail
 * until the end of all migrations if a trigger writes to a new table.
 */
function loadMigrations(paths: string[]) {
  return Promise.all(
    paths.map(async (path) => {
      const addSteps = await loadMigration(path)
      const up: Up = async (pgm) => {
        await addSteps(pgm)
        pgm.sql(GRANT_PRIVILEGES)
      }
      return { id: path, filePaths: [path], actions: { up, down: false as const } }
    }),
  )
}

async function loadMigration(path: string): Promise<Up> {
  if (!path.endsWith('.sql')) return ((await import(pathToFileURL(path).href)) as { up: Up }).up
  const text = await readFile(path, 'utf8')
  return (pgm) => pgm.sql(text)
}

/** Loaded on demand, because most commands never migrate. */
function loadRunner() {
  return import('node-pg-migrate')
}

/**
 * True if the migration did not get its locks. Another attempt can succeed. With a `deadlock_timeout` below
 * LOCK_TIMEOUT_MS, PostgreSQL can end a migration that deadlocks with a request.
 */
function isLockFailure(error: unknown): boolean {
  const states: unknown[] = [LOCK_NOT_AVAILABLE, DEADLOCK]
  return error instanceof Error && 'code' in error && states.includes(error.code)
}

async function lockWaitError(client: Client, blockers: string, seconds: number): Promise<Error> {
  const { missing } = await readSchemaState(readerOf(client))
  return new Error(
    `${missing[0]} was not run: it needs a lock. After ${seconds} s, the lock is still held by ${blockers}.
Wait until the lock is released, or terminate the sessions that hold it. Then run \`petstore migrate\` again. To wait longer, run \`petstore migrate --lock-wait <seconds>\`.`,
  )
}

async function migrationNames(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_FOLDER)
  // The package of a release contains compiled migrations. Their names are the same.
  return files.map((file) => file.replace(/\.(sql|ts|js)$/, '')).sort()
}

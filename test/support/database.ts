// A database for each test file: a clone of the migrated template.
import { randomUUID } from 'node:crypto'
import { Client, Pool } from 'pg'
import { afterAll, inject } from 'vitest'
import type { Db } from '../../src/db/database.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import type { DatabaseObserver } from '../../src/telemetry/database-metrics.ts'
import { EMPTY_TEMPLATE, TEMPLATE } from './global-setup.ts'
import { record } from './recording.ts'
import { APPLICATION, asApplication, asSuperuser, DELIVERY, OWNER, VERIFIER } from './roles.ts'
import { until } from './until.ts'

/**
 * Creates a database now, and drops it after the tests of the file. An `empty` database has the roles but no schema. The
 * URL has the role of the service; see roles.ts for other roles.
 */
export async function createTestDatabase(kind: 'migrated' | 'empty' = 'migrated'): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await onServer(`create database ${name} template ${kind === 'migrated' ? TEMPLATE : EMPTY_TEMPLATE}`)
  afterAll(() => onServer(`drop database ${name} with (force)`))
  // A clone keeps everything that deploy/roles.sql has set, except these privileges.
  await onServer(
    `revoke all on database ${name} from public; grant connect on database ${name} to ${APPLICATION}, ${DELIVERY}, ${OWNER}, ${VERIFIER}`,
  )
  const url = new URL(inject('serverUrl'))
  url.pathname = name
  return asApplication(url.href)
}

/**
 * The timeouts of the service. They are much longer than in production, so that no test fails because the host is busy. A
 * test of a timeout chooses a shorter one.
 */
export const TEST_TIMEOUTS = {
  connectTimeoutMs: 60_000,
  queryTimeoutMs: 90_000,
  connectionWaitMs: 60_000,
  retryForMs: 60_000,
}

/** The timeouts of PostgreSQL. They replace those of deploy/roles.sql. */
const SERVER_TIMEOUTS = { statementTimeoutMs: 60_000, lockTimeoutMs: 60_000, idleInTransactionMs: 60_000 }

const RECORDED_STATEMENTS: DatabaseObserver = {
  onQuery: (statement, seconds) => record(`statement ${statement}, ${Math.round(seconds * 1_000)} ms`),
  onWait: () => {},
  onCertificate: () => {},
  onHostFailure: () => {},
}

type TestTimeouts = Partial<typeof TEST_TIMEOUTS & typeof SERVER_TIMEOUTS>

export function openTestDatabase(databaseUrl: string, size = 5, timeouts: TestTimeouts = {}): Db {
  const db = openDatabase({
    ...TEST_TIMEOUTS,
    ...timeouts,
    databaseUrl: withServerTimeouts(databaseUrl, timeouts),
    applicationName: 'petstore-test',
    size,
    onError: () => {},
    observer: RECORDED_STATEMENTS,
  })
  afterAll(() => db.close())
  return db
}

/** The URL with timeouts of PostgreSQL for each connection. */
export function withServerTimeouts(databaseUrl: string, timeouts: TestTimeouts = {}): string {
  const options = serverOptions({ ...SERVER_TIMEOUTS, ...timeouts })
  // Not with `new URL`, which rejects several hosts.
  return `${databaseUrl}${databaseUrl.includes('?') ? '&' : '?'}options=${encodeURIComponent(options)}`
}

function serverOptions({
  statementTimeoutMs,
  lockTimeoutMs,
  idleInTransactionMs,
}: typeof SERVER_TIMEOUTS): string {
  return `-c statement_timeout=${statementTimeoutMs} -c lock_timeout=${lockTimeoutMs} -c idle_in_transaction_session_timeout=${idleInTransactionMs}`
}

/** The value of PGOPTIONS for commands that are not about these timeouts. */
export const SERVER_TIMEOUT_OPTIONS = serverOptions(SERVER_TIMEOUTS)

/** The same database, with its statements and transactions counted. */
export function countStatements(db: Db): { db: Db; count: () => number } {
  let count = 0
  const counted = <Result>(work: () => Result): Result => {
    count += 1
    return work()
  }
  return {
    db: {
      ...db,
      read: (statement) => counted(() => db.read(statement)),
      write: (statement) => counted(() => db.write(statement)),
      transaction: (work) => counted(() => db.transaction(work)),
    },
    count: () => count,
  }
}

/** Waits until `count` statements in this database wait for a lock. */
export async function untilBlocked(databaseUrl: string, count = 1): Promise<void> {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(
    async () => (await sql(databaseUrl, text)).length >= count,
    `${count} statements wait for a lock`,
  )
}

/** Deletes all pets with everything about them, also the ledger, which no statement of the service can change. */
export async function emptyStore(databaseUrl: string): Promise<void> {
  await sql(
    databaseUrl,
    `alter table entries disable trigger entries_are_final;
      alter table day_closings disable trigger closings_are_final;
      truncate pets, categories, idempotency_keys, day_closings restart identity cascade;
      alter table entries enable trigger entries_are_final;
      alter table day_closings enable trigger closings_are_final`,
  )
}

/** Runs one statement as the superuser, whatever role the URL names: for changes that the service's role cannot make. */
export async function sql<Row = Record<string, unknown>>(
  databaseUrl: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client(asSuperuser(databaseUrl))
  await client.connect()
  try {
    return (await client.query(text, values)).rows as Row[]
  } finally {
    await client.end()
  }
}

/** Shared by all files of a worker, because PostgreSQL starts a process for each new connection. */
let server: Pool | undefined

async function onServer(text: string): Promise<void> {
  if (server === undefined) {
    server = new Pool({ connectionString: inject('serverUrl'), max: 2, allowExitOnIdle: true })
    // The server ends idle connections when it stops.
    server.on('error', () => {})
  }
  await server.query(text)
}

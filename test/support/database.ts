// A database for each test file: a clone of the migrated template.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, inject } from 'vitest'
import { type Db, openDatabase } from '../../src/db/database.ts'
import { RETRY_FOR_MS } from '../../src/deadlines.ts'
import { EMPTY_TEMPLATE, TEMPLATE } from './global-setup.ts'
import { APPLICATION, asApplication, asSuperuser, DELIVERY, OWNER, VERIFIER } from './roles.ts'

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

/** Shorter than in production, because tests drop responses; longer than RETRY_FOR_MS, as in production. */
const QUERY_TIMEOUT_MS = RETRY_FOR_MS + 250

export function openTestDatabase(databaseUrl: string, size = 5): Db {
  const db = openDatabase({
    databaseUrl,
    applicationName: 'petstore-test',
    size,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onError: () => {},
  })
  afterAll(() => db.close())
  return db
}

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
  while ((await sql(databaseUrl, text)).length < count) await sleep(10)
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

function onServer(text: string): Promise<unknown> {
  return sql(inject('serverUrl'), text)
}

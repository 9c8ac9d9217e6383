// The schema: which migrations the code brings, which the database has, and running what is missing.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Reader } from './database.ts'
import { openClient } from './pool.ts'

const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../migrations')
const MIGRATIONS_TABLE = 'petstore_migrations'

export interface SchemaState {
  /** Newest migration that the database has; undefined while it is empty. */
  version: string | undefined
  /** Migrations of this code that the database lacks: run `petstore migrate`. */
  missing: string[]
  /** Migrations of the database that this code does not know: it is older than the schema. */
  unknown: string[]
}

export async function readSchemaState(db: Reader): Promise<SchemaState> {
  const [table] = await db.read<{ exists: boolean }>({
    name: 'migrations_table_exists',
    text: `select to_regclass('${MIGRATIONS_TABLE}') is not null as exists`,
    values: [],
  })
  const applied = table?.exists
    ? await db.read<{ name: string }>({
        name: 'list_migrations',
        text: `select name from ${MIGRATIONS_TABLE} order by id`,
        values: [],
      })
    : []
  return compareSchema(
    applied.map((row) => row.name),
    await migrationNames(),
  )
}

export function compareSchema(applied: string[], known: string[]): SchemaState {
  return {
    version: applied.at(-1),
    missing: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  }
}

/** This database cannot be brought up to this code. */
class UnfitDatabaseError extends Error {}

/** Brings the schema up to this code; of many at once, one works and the others wait. Answers what it ran. */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = openClient(databaseUrl, 'petstore-migrate')
  await client.connect()
  try {
    const read = async <Row>(statement: { text: string }) =>
      (await client.query(statement.text)).rows as Row[]
    const { unknown } = await readSchemaState({ read })
    if (unknown.length > 0) {
      throw new UnfitDatabaseError(
        `the database has migrations that this version of Petstore does not know (${unknown.join(', ')}); use a newer version`,
      )
    }
    const [database] = await read<{ encoding: string }>({
      text: `select current_setting('server_encoding') as encoding`,
    })
    if (database?.encoding !== 'UTF8') {
      throw new UnfitDatabaseError(
        `the database keeps text as ${database?.encoding}, and names may be in any script; make it anew: create database … template template0 encoding 'UTF8'`,
      )
    }
    // Loaded here alone: most commands never migrate.
    const { runner } = await import('node-pg-migrate')
    const ran = await runner({
      dbClient: client,
      dir: MIGRATIONS_FOLDER,
      direction: 'up',
      migrationsTable: MIGRATIONS_TABLE,
      // The other mode, `fail`, would end all but one of several instances that start together.
      advisoryLockMode: 'wait',
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    })
    return ran.map((migration) => migration.name)
  } finally {
    await client.end()
  }
}

async function migrationNames(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_FOLDER)
  return files.map((file) => file.replace(/\.(sql|ts)$/, '')).sort()
}

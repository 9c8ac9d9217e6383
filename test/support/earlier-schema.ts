// The schema of an earlier version of Petstore, for the tests of upgrades.
import { join } from 'node:path'
import { runner } from 'node-pg-migrate'
import { GRANT_PRIVILEGES } from '../../src/db/migrations/grants.ts'
import { sql } from './database.ts'
import { asOwner } from './roles.ts'

/** Runs the first migrations on an empty database, up to the one with this number, and grants the privileges. */
export async function migrateUpTo(databaseUrl: string, number: number): Promise<void> {
  await runner({
    databaseUrl: asOwner(databaseUrl),
    dir: join(import.meta.dirname, '../../migrations'),
    direction: 'up',
    migrationsTable: 'petstore_migrations',
    count: number,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  await sql(databaseUrl, GRANT_PRIVILEGES)
}

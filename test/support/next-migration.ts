// A later migration, for the tests, and an example for real ones: adds a column, and an index that is built without blocking
// writes. It therefore has no transaction, and each step can run again after an attempt that failed.
import type { MigrationBuilder } from 'node-pg-migrate'

const INDEX = 'pets_by_arrival'

export async function up(pgm: MigrationBuilder): Promise<void> {
  pgm.noTransaction()
  // The column can be null, so the former version can still insert pets, and PostgreSQL rewrites no row.
  pgm.sql('alter table pets add column if not exists arrived_on date')
  // While the build waits for transactions to end, no request queues behind it. It can therefore wait longer than other
  // migrations; src/db/migrations/migrate.ts sets the max.
  pgm.sql(`select set_config('lock_timeout', current_setting('petstore.lock_wait', true), false)
    where current_setting('petstore.lock_wait', true) <> ''`)
  // Left by an attempt that failed. Every write would maintain it, but no query could use it.
  const invalid = await pgm.db.select(
    `select from pg_index where indexrelid = to_regclass('${INDEX}') and not indisvalid`,
  )
  if (invalid.length > 0) pgm.sql(`drop index concurrently ${INDEX}`)
  pgm.sql(`create index concurrently if not exists ${INDEX} on pets (arrived_on, id)`)
}

export const down = false

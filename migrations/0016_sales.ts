// Completed orders by the time of closing. The index is built without blocking writes, so this migration has no transaction.
import type { MigrationBuilder } from 'node-pg-migrate'

/** Contains the price, so that PostgreSQL adds up the sales of a day without reading the table. */
const INDEX = 'orders_completed_by_closing'

export async function up(pgm: MigrationBuilder): Promise<void> {
  pgm.noTransaction()
  // While the build waits for transactions to end, no request queues behind it. It can therefore wait longer than other
  // migrations; src/db/migrations/migrate.ts sets the max.
  pgm.sql(`select set_config('lock_timeout', current_setting('petstore.lock_wait', true), false)
    where current_setting('petstore.lock_wait', true) <> ''`)
  // Left by an attempt that failed. Every write would maintain it, but no query could use it.
  const invalid = await pgm.db.select(
    `select from pg_index where indexrelid = to_regclass('${INDEX}') and not indisvalid`,
  )
  if (invalid.length > 0) pgm.sql(`drop index concurrently ${INDEX}`)
  pgm.sql(
    `create index concurrently if not exists ${INDEX} on orders (closed_at, id) include (price, currency)
      where status = 'completed'`,
  )
  // Blocks no reads and writes of the table.
  pgm.sql('alter table orders validate constraint orders_price_check')
}

export const down = false

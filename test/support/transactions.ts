// Counts the transactions that PostgreSQL runs in a database.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { asSuperuser } from './roles.ts'

/** Transactions per second during this time, without those of this function. */
export async function countTransactions(databaseUrl: string, windowMs: number): Promise<number> {
  const name = new URL(databaseUrl).pathname.slice(1)
  // Connects to another database, so that its own transactions do not count.
  const other = new URL(asSuperuser(databaseUrl))
  other.pathname = 'postgres'
  const client = new Client(other.href)
  await client.connect()
  const read = async () => {
    const { rows } = await client.query<{ count: string }>(
      `select xact_commit + xact_rollback as count from pg_stat_database where datname = $1`,
      [name],
    )
    return { at: performance.now(), count: Number(rows[0]?.count) }
  }
  const before = await read()
  await sleep(windowMs)
  const after = await read()
  await client.end()
  return ((after.count - before.count) / (after.at - before.at)) * 1_000
}

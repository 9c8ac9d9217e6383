// A transaction that stays open, like that of a long export.
import { Client } from 'pg'
import { onTestFinished } from 'vitest'

/** The transaction has read the table, and keeps its snapshot. It blocks only `alter table` and the end of index builds. */
export async function startExport(
  databaseUrl: string,
  table = 'pets',
): Promise<{ pid: number; end: () => Promise<void> }> {
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', 'petstore-export')
  const client = new Client(url.href)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(
    `set idle_in_transaction_session_timeout = 0; begin isolation level repeatable read; select from ${table} limit 1`,
  )
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return { pid: rows[0]?.pid ?? 0, end: async () => void (await client.query('commit')) }
}

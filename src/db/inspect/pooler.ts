// Detects a connection pooler, such as PgBouncer, between this process and PostgreSQL, and whether it supports prepared
// statements.
import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { backendPid } from '../connection/pool.ts'
import { withTimeout } from '../connection/timeout.ts'

/** Max time to wait for a server connection of the pooler. The default of PgBouncer is 120 s. */
const POOLER_TIMEOUT_MS = 5_000
/** In transaction mode, two connections get the same server connection within the first few rounds. */
const ROUNDS = 20

/**
 * - `none`: the connection goes directly to PostgreSQL
 * - `supports_statements`: the pooler prepares statements on each server connection that needs them
 * - `session`: each connection keeps its server connection, so prepared statements work
 * - `breaks_statements`: connections use the same server connections, so their prepared statements conflict
 */
export type Pooler = 'none' | 'supports_statements' | 'session' | 'breaks_statements'

/** On a new connection, PostgreSQL sends the process id of its backend. A pooler sends a random number instead. */
export async function isPooled(client: Client): Promise<boolean> {
  return (await readPid(client)) !== backendPid(client)
}

/**
 * Rejects if the pooler supports no transactions, or does not respond in time. The connection may be unusable then.
 * `connect` opens a second connection to the same database.
 */
export async function readPooler(client: Client, connect: () => Promise<Client>): Promise<Pooler> {
  if (!(await isPooled(client))) return 'none'
  if (!(await keepsStatementName(client))) return 'supports_statements'
  const other = await connect()
  try {
    return (await sharesServerConnection(client, other)) ? 'breaks_statements' : 'session'
  } finally {
    await other.end()
  }
}

/**
 * A pooler that supports prepared statements gives them its own names on the server. If PostgreSQL sees the name that
 * this process chose, the pooler only forwards it. The transaction keeps all statements on one server connection.
 */
async function keepsStatementName(client: Client): Promise<boolean> {
  const name = `petstore_doctor_${randomUUID()}`
  await withTimeout(client.query('begin'), POOLER_TIMEOUT_MS)
  await client.query({ name, text: 'select 1', values: [] })
  const { rows } = await client.query('select from pg_prepared_statements where name = $1', [name])
  if (rows.length > 0) await client.query(`deallocate "${name}"`)
  await client.query('rollback')
  return rows.length > 0
}

async function sharesServerConnection(one: Client, other: Client): Promise<boolean> {
  const first = await readPid(one)
  for (let round = 0; round < ROUNDS; round += 1) {
    if ((await readPid(other)) === first || (await readPid(one)) !== first) return true
  }
  return false
}

async function readPid(client: Client): Promise<number | undefined> {
  const { rows } = await withTimeout(
    client.query<{ pid: number }>('select pg_backend_pid() as pid'),
    POOLER_TIMEOUT_MS,
  )
  return rows[0]?.pid
}

// Detects a connection pooler, such as PgBouncer, between this process and PostgreSQL, and whether each connection keeps
// its server connection.
import type { Client, ClientBase } from 'pg'
import { backendPid } from './pool.ts'
import { withTimeout } from './timeout.ts'

/** Max time to wait for a server connection of the pooler. The default of PgBouncer is 120 s. */
const POOLER_TIMEOUT_MS = 5_000
/** In transaction mode, two connections get the same server connection within the first few rounds. */
const ROUNDS = 20

/**
 * - `none`: the connection goes directly to PostgreSQL
 * - `session`: each connection keeps its server connection
 * - `transaction`: each transaction, or each statement, can run on another server connection
 */
export type Pooler = 'none' | 'session' | 'transaction'

/** Why `transaction` is rejected, and what to do. docs/decisions/0015-no-transaction-pooling.md has the reasons. */
export const TRANSACTION_POOLING = {
  message: 'DATABASE_URL connects to PgBouncer, or another pooler, in transaction or statement mode',
  remedy: 'Set pool_mode = session, or set DATABASE_URL to the host and port of PostgreSQL itself.',
}

/** On a new connection, PostgreSQL sends the process id of its backend. A pooler sends a random number instead. */
export async function isPooled(client: ClientBase): Promise<boolean> {
  return (await readPid(client)) !== backendPid(client)
}

/**
 * Rejects if the pooler does not respond in time. The connection may be unusable then. `connect` opens a second
 * connection to the same address.
 */
export async function readPooler(client: ClientBase, connect: () => Promise<Client>): Promise<Pooler> {
  if (!(await isPooled(client))) return 'none'
  const other = await connect()
  try {
    return (await sharesServerConnection(client, other)) ? 'transaction' : 'session'
  } finally {
    await other.end()
  }
}

async function sharesServerConnection(one: ClientBase, other: ClientBase): Promise<boolean> {
  const first = await readPid(one)
  for (let round = 0; round < ROUNDS; round += 1) {
    if ((await readPid(other)) === first || (await readPid(one)) !== first) return true
  }
  return false
}

async function readPid(client: ClientBase): Promise<number | undefined> {
  const { rows } = await withTimeout(
    client.query<{ pid: number }>('select pg_backend_pid() as pid'),
    POOLER_TIMEOUT_MS,
  )
  return rows[0]?.pid
}

// Opens connections to PostgreSQL and sets their timeouts.
// Runs no statements of the service and does not handle lost connections; open-database.ts does both.
import {
  Client,
  type ClientBase,
  type ClientConfig,
  type CustomTypesConfig,
  Pool,
  types as standardTypes,
} from 'pg'
import type { Reader } from '../database.ts'
import { CONNECT_TIMEOUT_MS } from './deadlines.ts'

/** Idle time before TCP keep-alive probes start. An unreachable server is detected ten seconds later. */
const KEEP_ALIVE_AFTER_MS = 5_000
/** Max time to open the connection of a command. Longer than CONNECT_TIMEOUT_MS, because no request waits for it. */
const CLIENT_CONNECT_TIMEOUT_MS = 5_000
const IDLE_TIMEOUT_MS = 10_000
const CONNECTION_LIFETIME_SECONDS = 300

const INT8_OID = 20

// PostgreSQL sends int8 as text. A bigint keeps every digit.
const types: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID && format !== 'binary' ? BigInt : standardTypes.getTypeParser(oid, format),
}

/** Connection options that the pool and single clients share. */
export function connectionOptions(databaseUrl: string, applicationName: string): ClientConfig {
  const url = new URL(databaseUrl)
  // `uselibpqcompat` makes node-postgres interpret `sslmode` like psql, except that `prefer` does not fall back to an
  // unencrypted connection. Without `sslmode` the connection is unencrypted, and `petstore doctor` warns about it.
  if (url.searchParams.has('sslmode') && !url.searchParams.has('uselibpqcompat')) {
    url.searchParams.set('uselibpqcompat', 'true')
  }
  return {
    connectionString: url.href,
    application_name: applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types,
  }
}

export interface PoolOptions {
  databaseUrl: string
  applicationName: string
  size: number
  /** Max time to open a connection. Default: CONNECT_TIMEOUT_MS. */
  connectTimeoutMs?: number
  /** Called once for each lost connection. */
  onError: (error: Error) => void
  onConnect?: (client: ClientBase) => void
  /** Called with the host of the new primary if DATABASE_URL has several hosts and the primary changes. */
  onPrimary?: (host: string) => void
  /** Called each time one of several hosts cannot be asked whether it is the primary. That is twice a second. */
  onHostFailure?: (host: string, error: Error) => void
}

/** @param options The URL has a single host. */
export function openPool(options: PoolOptions): Pool {
  const { databaseUrl, applicationName, size, connectTimeoutMs, onError, onConnect } = options
  const pool = new Pool({
    ...connectionOptions(databaseUrl, applicationName),
    max: size,
    connectionTimeoutMillis: connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    maxLifetimeSeconds: CONNECTION_LIFETIME_SECONDS,
  })
  // Without a listener, an 'error' event crashes the process. If an idle connection is lost, the client and the pool emit
  // it; if a connection is lost between two statements of a transaction, only the client does.
  pool.on('error', withoutClient)
  pool.on('connect', (client) => {
    let isReported = false
    client.on('error', (error) => {
      if (!isReported) onError(withoutClient(error))
      isReported = true
    })
    onConnect?.(client)
  })
  return pool
}

/**
 * Removes the client that the pool adds to the error of an idle connection. In the log, it would take 30 KB and reveal
 * the secret key that cancels queries.
 */
function withoutClient(error: Error): Error {
  Reflect.deleteProperty(error, 'client')
  return error
}

/** A single connection outside the pool, for commands such as `migrate` and `doctor`. The URL has a single host. */
export function openClient(databaseUrl: string, applicationName: string): Client {
  const client = new Client({
    ...connectionOptions(databaseUrl, applicationName),
    connectionTimeoutMillis: CLIENT_CONNECT_TIMEOUT_MS,
  })
  // Without a listener, a lost connection crashes the process. The listener can be empty: the query in flight rejects.
  client.on('error', () => {})
  return client
}

/** Turns off the timeouts of the service's role for long work, such as copying the whole catalogue. */
export async function liftTimeouts(client: Client): Promise<void> {
  await client.query(
    `set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0`,
  )
}

/** PostgreSQL's process id of the connection; PgBouncer reports its own. The types of node-postgres lack `processID`. */
export function backendPid(client: ClientBase): number {
  return (client as ClientBase & { processID: number }).processID
}

/** The socket of a connection. Only one with TLS has `getPeerCertificate`. */
interface ServerSocket {
  getPeerCertificate?: () => { valid_to?: string }
}

/** When the certificate of the server ends; undefined without TLS. The types of node-postgres lack `connection`. */
export function certificateEnd(client: ClientBase): Date | undefined {
  const { stream } = (client as ClientBase & { connection: { stream: ServerSocket } }).connection
  // Empty if the session was resumed.
  const end = stream.getPeerCertificate?.().valid_to
  return end === undefined ? undefined : new Date(end)
}

/** The statements of a command, on its own connection. They are not prepared, because most of them run once. */
export function readerOf(client: Client): Reader {
  return { read: async ({ text, values }) => (await client.query(text, values)).rows }
}

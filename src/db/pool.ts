// Connections to PostgreSQL: how one is opened, and every limit on waiting for it.
// Knows nothing of statements; database.ts decides what a lost connection means.
import { Client, type ClientConfig, type CustomTypesConfig, Pool, types as standardTypes } from 'pg'

export const CONNECT_TIMEOUT_MS = 1_000
export const QUERY_TIMEOUT_MS = 3_000
const IDLE_TIMEOUT_MS = 10_000
const CONNECTION_LIFETIME_SECONDS = 300

const INT8_OID = 20

// int8 arrives as text; a bigint keeps every digit.
const types: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID && format !== 'binary' ? BigInt : standardTypes.getTypeParser(oid, format),
}

/** The options of one connection; the same for the pool and for a single client. */
export function connectionOptions(databaseUrl: string, applicationName: string): ClientConfig {
  const url = new URL(databaseUrl)
  // Without this node-postgres reads `sslmode` in its own way; with it, as psql does.
  if (url.searchParams.has('sslmode') && !url.searchParams.has('uselibpqcompat')) {
    url.searchParams.set('uselibpqcompat', 'true')
  }
  return { connectionString: url.href, application_name: applicationName, keepAlive: true, types }
}

export interface PoolOptions {
  databaseUrl: string
  applicationName: string
  size: number
  onError: (error: Error) => void
}

export function openPool({ databaseUrl, applicationName, size, onError }: PoolOptions): Pool {
  const pool = new Pool({
    ...connectionOptions(databaseUrl, applicationName),
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // On our side, since PostgreSQL's statement_timeout does not end a wait for synchronous replication.
    query_timeout: QUERY_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    maxLifetimeSeconds: CONNECTION_LIFETIME_SECONDS,
  })
  // Both listeners are needed: a connection that ends while idle in the pool, or while checked out between
  // two statements of a transaction, would otherwise end the process.
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', onError))
  return pool
}

/** One connection of its own, for work that outlasts the pool's time-outs: migrations, the doctor. */
export function openClient(databaseUrl: string, applicationName: string): Client {
  const client = new Client({
    ...connectionOptions(databaseUrl, applicationName),
    connectionTimeoutMillis: 5 * CONNECT_TIMEOUT_MS,
  })
  // Whoever awaits a query hears of the loss there; without a listener it would end the process.
  client.on('error', () => {})
  return client
}

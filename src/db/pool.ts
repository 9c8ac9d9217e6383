// Connections to PostgreSQL: how one is opened, and every limit on waiting for it.
// Knows nothing of statements; database.ts decides what a lost connection means.
import { Client, type ClientConfig, type CustomTypesConfig, Pool, types as standardTypes } from 'pg'
import { CONNECT_TIMEOUT_MS } from '../deadlines.ts'

/** A server that vanished without a word is noticed ten seconds after this. */
const KEEP_ALIVE_AFTER_MS = 5_000
/** For one connection of a command, which has no request waiting. */
const CLIENT_CONNECT_TIMEOUT_MS = 5_000
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
  // Without this node-postgres reads `sslmode` in its own way; with it, as psql does, except that `prefer` does not fall
  // back to an unencrypted connection. Without `sslmode` the connection is unencrypted: `petstore doctor` warns of it.
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
  /** How long to wait for a response; QUERY_TIMEOUT_MS unless a test cannot wait that long. */
  queryTimeoutMs?: number
  onError: (error: Error) => void
}

export function openPool({ databaseUrl, applicationName, size, onError }: PoolOptions): Pool {
  const pool = new Pool({
    ...connectionOptions(databaseUrl, applicationName),
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    maxLifetimeSeconds: CONNECTION_LIFETIME_SECONDS,
  })
  // Both listeners are needed: a connection that ends while idle in the pool, or while checked out between
  // two statements of a transaction, would otherwise end the process.
  pool.on('error', (error) => onError(withoutClient(error)))
  pool.on('connect', (client) => client.on('error', (error) => onError(withoutClient(error))))
  return pool
}

/** The pool adds the whole client to the error of an idle connection: 30 KB in a log, with the key to cancel its queries. */
function withoutClient(error: Error): Error {
  Reflect.deleteProperty(error, 'client')
  return error
}

/** One connection of its own, for work that outlasts the pool's time-outs: migrations, the doctor. */
export function openClient(databaseUrl: string, applicationName: string): Client {
  const client = new Client({
    ...connectionOptions(databaseUrl, applicationName),
    connectionTimeoutMillis: CLIENT_CONNECT_TIMEOUT_MS,
  })
  // Whoever awaits a query hears of the loss there; without a listener it would end the process.
  client.on('error', () => {})
  return client
}

/** The service's role gives up after seconds; a copy of a whole catalogue may not. */
export async function liftTimeouts(client: Client): Promise<void> {
  await client.query(
    `set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0`,
  )
}

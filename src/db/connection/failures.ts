// Classifies errors of PostgreSQL and of its connections by whether the statement took effect.
// Retries nothing; open-database.ts decides what to retry.
import { DatabaseError } from 'pg'

/**
 * - `lost`: the connection was lost; it is unknown whether the statement took effect
 * - `rolled_back`: the statement took no effect; a retry may succeed
 * - `rejected`: the statement took no effect; an immediate retry would fail too
 * - `fault`: the statement itself failed, for example by violating a constraint; the calling code must handle it
 */
export type Failure = 'lost' | 'rolled_back' | 'rejected' | 'fault'

const ROLLED_BACK = new Set([
  '25006', // read-only: a standby, or a primary that was just demoted
  '25P03', // idle_in_transaction_session_timeout: this process was blocked or paused
  '25P04', // transaction_timeout
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock_timeout
  '57014', // statement_timeout
])

const LOST_CLASSES = ['08', '57P']

const REJECTED_CLASSES = [
  '53', // disk full, out of memory, too many connections
  '58', // I/O error of the server
  '28', // role or password
  '3D', // no such database
  '42501', // the role lacks a privilege
  // The codes below mean that the schema is older than this version of Petstore.
  '42P01', // no such table
  '42703', // no such column
  '42704', // no such type
  '42883', // no such function
  // PgBouncer with max_prepared_statements = 0.
  '42P05', // the prepared statement already exists
  '26000', // the prepared statement does not exist
]

/**
 * - `standby`: the server is not the primary, or not any more
 * - `unconfirmed`: no standby has confirmed the commits of this server yet
 * - `confirmed`: a standby has confirmed them just now; a retry succeeds
 */
type TrustReason = 'standby' | 'unconfirmed' | 'confirmed'

/** The statement was not sent, because the server cannot be trusted. */
export class NotTrusted extends Error {
  readonly reason: TrustReason

  constructor(reason: TrustReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/**
 * Returns undefined unless PostgreSQL sent the error, because the code of a socket error, such as EPIPE, can look like
 * a SQLSTATE.
 */
function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined
}

/** PgBouncer found no free server connection. Nothing was sent to PostgreSQL. */
function isQueryWaitTimeout(error: unknown): boolean {
  return sqlState(error) === '08P01' && (error as Error).message === 'query_wait_timeout'
}

function classifyFailure(error: unknown): Failure {
  if (error instanceof NotTrusted) return error.reason === 'unconfirmed' ? 'rejected' : 'rolled_back'
  const state = sqlState(error)
  // An error without a SQLSTATE is a socket error or a timeout in this process.
  if (state === undefined) return 'lost'
  if (ROLLED_BACK.has(state) || isQueryWaitTimeout(error)) return 'rolled_back'
  if (LOST_CLASSES.some((prefix) => state.startsWith(prefix))) return 'lost'
  if (REJECTED_CLASSES.some((prefix) => state.startsWith(prefix))) return 'rejected'
  return 'fault'
}

/** After these errors a connection is unusable: it is read-only, or PostgreSQL has closed it. */
const POISONING = new Set(['25006', '25P03', '25P04'])
export const UNIQUE_VIOLATION = '23505'
export const FOREIGN_KEY_VIOLATION = '23503'
/** For example, a time zone that PostgreSQL does not know. */
export const INVALID_PARAMETER_VALUE = '22023'

/** An error of PostgreSQL or of its connection, as opposed to a bug in the service. */
export class QueryFailure extends Error {
  readonly failure: Failure
  readonly state: string | undefined

  constructor(cause: unknown) {
    super('a statement failed', { cause })
    this.name = 'QueryFailure'
    this.failure = classifyFailure(cause)
    this.state = sqlState(cause)
  }

  /** True if the connection must be closed instead of returned to the pool. */
  get poisonsConnection(): boolean {
    if (this.cause instanceof NotTrusted) return this.cause.reason === 'standby'
    return this.failure === 'lost' || POISONING.has(this.state ?? '') || isQueryWaitTimeout(this.cause)
  }
}

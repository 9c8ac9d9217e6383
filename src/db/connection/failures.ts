// Classifies errors of PostgreSQL and of its connections by whether the statement took effect.
// Retries nothing; open-database.ts decides what to retry.
import { DatabaseError } from 'pg'
import * as sqlstates from './sqlstates.ts'

/**
 * - `lost`: the connection was lost, or no response arrived in time; it is unknown whether the statement took effect
 * - `rolled_back`: the statement took no effect; a retry may succeed
 * - `rejected`: the statement took no effect; an immediate retry would fail too
 * - `fault`: the statement itself failed, for example by violating a constraint; the calling code must handle it
 */
export type FailureKind = 'lost' | 'rolled_back' | 'rejected' | 'fault'

const ROLLED_BACK = new Set([
  sqlstates.READ_ONLY_TRANSACTION,
  sqlstates.IDLE_IN_TRANSACTION_TIMEOUT,
  sqlstates.TRANSACTION_TIMEOUT,
  sqlstates.SERIALIZATION_FAILURE,
  sqlstates.DEADLOCK,
  sqlstates.LOCK_NOT_AVAILABLE,
  sqlstates.QUERY_CANCELED,
])

const LOST_CLASSES = [sqlstates.CONNECTION_EXCEPTION_CLASS, sqlstates.SHUTDOWN_CLASS]

const REJECTED_CLASSES = [
  sqlstates.INSUFFICIENT_RESOURCES_CLASS,
  sqlstates.SYSTEM_ERROR_CLASS,
  sqlstates.INVALID_AUTHORIZATION_CLASS,
  sqlstates.NO_SUCH_DATABASE_CLASS,
  sqlstates.INSUFFICIENT_PRIVILEGE,
  // The schema is older than this version of Petstore.
  sqlstates.UNDEFINED_TABLE,
  sqlstates.UNDEFINED_COLUMN,
  sqlstates.UNDEFINED_OBJECT,
  sqlstates.UNDEFINED_FUNCTION,
]

/**
 * - `standby`: the server is not the primary, or not any more
 * - `unconfirmed`: no standby has confirmed the commits of this server yet
 * - `pooled`: a pooler can run each transaction on another server
 */
type TrustReason = 'standby' | 'unconfirmed' | 'pooled'

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

function classifyFailure(error: unknown): FailureKind {
  if (error instanceof NotTrusted) return error.reason === 'standby' ? 'rolled_back' : 'rejected'
  const state = sqlState(error)
  // An error without a SQLSTATE is a socket error or a timeout in this process.
  if (state === undefined) return 'lost'
  if (ROLLED_BACK.has(state)) return 'rolled_back'
  if (LOST_CLASSES.some((prefix) => state.startsWith(prefix))) return 'lost'
  if (REJECTED_CLASSES.some((prefix) => state.startsWith(prefix))) return 'rejected'
  return 'fault'
}

/** After these errors a connection is unusable: it is read-only, or PostgreSQL has closed it. */
const POISONING = new Set([
  sqlstates.READ_ONLY_TRANSACTION,
  sqlstates.IDLE_IN_TRANSACTION_TIMEOUT,
  sqlstates.TRANSACTION_TIMEOUT,
])

/** An error of PostgreSQL or of its connection, as opposed to a bug in the service. */
export class QueryFailure extends Error {
  readonly kind: FailureKind
  readonly state: string | undefined

  constructor(cause: unknown) {
    super('a statement failed', { cause })
    this.name = 'QueryFailure'
    this.kind = classifyFailure(cause)
    this.state = sqlState(cause)
  }

  /** True if the connection must be closed instead of returned to the pool. */
  get poisonsConnection(): boolean {
    if (this.cause instanceof NotTrusted) return this.cause.reason === 'standby'
    return this.kind === 'lost' || POISONING.has(this.state ?? '')
  }
}

// What an error from PostgreSQL or its connection means for the work that met it.
import { DatabaseError } from 'pg'

/**
 * - `lost`: the connection went away; whether the statement took effect is not known
 * - `rolled_back`: it surely did not take effect, and may succeed if repeated
 * - `refused`: it surely did not take effect, and repeating it at once would not help
 * - `fault`: PostgreSQL understood and said no; our own code has to know why
 */
export type Failure = 'lost' | 'rolled_back' | 'rejected' | 'fault'

const ROLLED_BACK = new Set([
  '25006', // read-only: a standby, or a primary that was just demoted
  '25P03', // idle_in_transaction_session_timeout: this process stood still for a while
  '25P04', // transaction_timeout
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock_timeout
  '57014', // statement_timeout
])

const LOST_CLASSES = ['08', '57P']

const REJECTED_CLASSES = [
  '53', // disk full, out of memory, too many connections
  '58', // the server's files
  '28', // role or password
  '3D', // no such database
  '42501', // the role lacks a right
  '42P01', // the schema is older than the code: no such table,
  '42703', // no such column
  '42704', // no such type
  '42883', // no such function
]

/** Only for errors that PostgreSQL sent: the code of a socket error, such as EPIPE, can look like a SQLSTATE. */
function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined
}

function judgeFailure(error: unknown): Failure {
  const state = sqlState(error)
  // Without a SQLSTATE it is the socket, or a timeout of ours.
  if (state === undefined) return 'lost'
  if (ROLLED_BACK.has(state)) return 'rolled_back'
  if (LOST_CLASSES.some((prefix) => state.startsWith(prefix))) return 'lost'
  if (REJECTED_CLASSES.some((prefix) => state.startsWith(prefix))) return 'rejected'
  return 'fault'
}

/** After these a connection is of no use: it writes nothing, or PostgreSQL has ended it. */
const POISONING = new Set(['25006', '25P03', '25P04'])
export const UNIQUE_VIOLATION = '23505'
export const FOREIGN_KEY_VIOLATION = '23503'

/** What came back instead of rows; anything else that is thrown is a fault of our own code. */
export class QueryFailure extends Error {
  readonly failure: Failure
  readonly state: string | undefined

  constructor(cause: unknown) {
    super('a statement failed', { cause })
    this.name = 'QueryFailure'
    this.failure = judgeFailure(cause)
    this.state = sqlState(cause)
  }

  /** Whether nobody should use this connection again. */
  get poisonsConnection(): boolean {
    return this.failure === 'lost' || POISONING.has(this.state ?? '')
  }
}

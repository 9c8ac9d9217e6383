// Opens the database. Retries failed attempts, but never a write that may have been committed, unless it is idempotent.
// failover/primary.ts decides which connections are good, and whether the outcome of a commit is known.
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../contract/errors.ts'
import type { Tracing } from '../telemetry/tracing/tracing.ts'
import { QUERY_TIMEOUT_MS, RETRY_FOR_MS } from './connection/deadlines.ts'
import { QueryFailure } from './connection/failures.ts'
import type { WorkKind } from './connection/slots.ts'
import type { Db, Statement, Tx } from './database.ts'
import { type Connection, openPrimary, type Primary, type PrimaryOptions } from './failover/primary.ts'
import { type QueryOptions, runQuery } from './run-query.ts'
import { type AttemptTrace, showConnectionWait } from './statement-spans.ts'

const ATTEMPTS_MAX = 20

export interface DatabaseOptions extends PrimaryOptions {
  /** Retries start only within this time after the first attempt began. Default: RETRY_FOR_MS. */
  retryForMs?: number
  tracing?: Tracing | undefined
}

export function openDatabase(options: DatabaseOptions): Db {
  const { queryTimeoutMs: timeoutMs = QUERY_TIMEOUT_MS, retryForMs = RETRY_FOR_MS } = options
  const { observer, tracing } = options
  const primary = openPrimary(options)
  const parts: Parts = { primary, tracing, retryForMs, queryOptions: { timeoutMs, observer } }
  return {
    read: <Row>(statement: Statement) =>
      perform(parts, { kind: 'read', run: ({ query }) => query<Row>(statement) }),

    write: <Row>(statement: Statement) =>
      perform(parts, {
        kind: 'write',
        isIdempotent: statement.isIdempotent,
        run: ({ connection, query }) => {
          // Outside a transaction, the statement itself commits.
          connection.beforeCommit()
          return query<Row>(statement)
        },
      }),

    transaction: (work) =>
      perform(parts, { kind: 'write', run: (attempt) => runInTransaction(attempt, work) }),
    connections: primary.connections,
    close: primary.close,
  }
}

/** What every attempt needs. */
interface Parts {
  primary: Primary
  tracing: Tracing | undefined
  retryForMs: number
  queryOptions: QueryOptions
}

/** A read, a write or a transaction. Each attempt calls `run` with a connection of its own. */
interface Task<Result> {
  kind: WorkKind
  /** Safe to retry even if it was committed. */
  isIdempotent?: boolean | undefined
  run: (attempt: Attempt) => Promise<Result>
}

interface Attempt {
  connection: Connection
  /** See `Tx.isAfterLostConnection`. */
  isAfterLostConnection: boolean
  query: <Row>(statement: Statement | string) => Promise<Row[]>
}

/** Attempts the task until it succeeds, or until a further attempt is not safe or not useful. */
async function perform<Result>(parts: Parts, task: Task<Result>): Promise<Result> {
  const { tracing } = parts
  const parent = tracing?.active()
  const giveUpAt = performance.now() + parts.retryForMs
  let isAfterLostConnection = false
  for (let number = 1; ; number += 1) {
    const trace = tracing && parent && { tracing, parent, number }
    let connection: Connection | undefined
    try {
      connection = await connect(parts, task.kind, trace)
      const { client } = connection
      const query: Attempt['query'] = (statement) => runQuery(client, statement, parts.queryOptions, trace)
      return await runOnce(task, { connection, isAfterLostConnection, query })
    } catch (error) {
      // For the caller: an unknown outcome, a full queue, an error of the work itself, or a statement at fault.
      if (!(error instanceof QueryFailure) || error.kind === 'fault') throw error
      const canRetry = error.kind !== 'rejected' && number < ATTEMPTS_MAX && performance.now() < giveUpAt
      if (!canRetry) throw new AppError('unavailable', { cause: error.cause })
      // Without a connection, the attempt sent no statement of the task, so PostgreSQL holds no locks of it.
      isAfterLostConnection ||= connection !== undefined && error.kind === 'lost'
      await sleep(retryPauseMs(number))
    }
  }
}

function connect({ primary }: Parts, kind: WorkKind, trace: AttemptTrace | undefined): Promise<Connection> {
  if (trace === undefined) return primary.connect(kind)
  return showConnectionWait(trace, () => primary.connect(kind))
}

/** Grows with each attempt, up to 300 ms. Random, so that tasks that failed together do not retry together. */
function retryPauseMs(attempts: number): number {
  return Math.min(20 * attempts, 200) * (0.5 + Math.random())
}

/**
 * Runs the task once, and releases the connection. Throws `outcome_unknown` if the outcome of the commit is unknown. An
 * idempotent task throws its own error instead, which `perform` can retry, or returns its result.
 */
async function runOnce<Result>(
  { run, isIdempotent = false }: Task<Result>,
  attempt: Attempt,
): Promise<Result> {
  const { connection } = attempt
  let result: Result
  try {
    result = await run(attempt)
  } catch (error) {
    // Any other error comes from the work of a transaction, not from PostgreSQL.
    const failure = error instanceof QueryFailure ? error : undefined
    const outcome = connection.end(failure)
    if (outcome === 'known' || isIdempotent) throw error
    throw new AppError('outcome_unknown', { cause: failure?.cause })
  }
  // A commit without an error can be unknown too: it may not be replicated. For an idempotent task, a loss is harmless.
  if (connection.end() === 'unknown' && !isIdempotent) throw new AppError('outcome_unknown')
  return result
}

/** Runs the work between `begin` and `commit`. */
async function runInTransaction<Result>(
  { connection, query, isAfterLostConnection }: Attempt,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  await query('begin')
  let result: Result
  try {
    result = await work({ inTransaction: true, isAfterLostConnection, read: query, write: query })
  } catch (error) {
    // If the connection is lost, PostgreSQL rolls back by itself. If the rollback fails, its failure replaces this error.
    const isLost = error instanceof QueryFailure && error.kind === 'lost'
    if (!isLost) await query('rollback')
    throw error
  }
  connection.beforeCommit()
  await query('commit')
  return result
}

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

const RETRIES_MAX = 20

export interface DatabaseOptions extends PrimaryOptions {
  /** Retries start only within this time after the first attempt began. Default: RETRY_FOR_MS. */
  retryForMs?: number
  tracing?: Tracing | undefined
}

export function openDatabase(options: DatabaseOptions): Db {
  const { queryTimeoutMs: timeoutMs = QUERY_TIMEOUT_MS, retryForMs = RETRY_FOR_MS } = options
  const { observer, tracing } = options
  const primary = openPrimary(options)
  const source: Source = { primary, tracing, retryForMs, queryOptions: { timeoutMs, observer } }
  return {
    read: (statement) => perform(source, { kind: 'read', run: ({ query }) => query<never>(statement) }),

    write: (statement) =>
      perform(source, {
        kind: 'write',
        isIdempotent: statement.isIdempotent,
        run: ({ connection, query }) => {
          connection.beforeCommit()
          return query<never>(statement)
        },
      }),

    transaction: (work) => perform(source, { kind: 'write', run: (attempt) => inTransaction(attempt, work) }),
    connections: primary.connections,
    close: primary.close,
  }
}

/** What every attempt needs. */
interface Source {
  primary: Primary
  tracing: Tracing | undefined
  retryForMs: number
  queryOptions: QueryOptions
}

interface Task<Result> {
  kind: WorkKind
  /** Safe to retry even if it was committed. */
  isIdempotent?: boolean | undefined
  run: (attempt: Attempt) => Promise<Result>
}

interface Attempt {
  connection: Connection
  /** True if an earlier attempt lost its connection. */
  isRetry: boolean
  query: <Row>(statement: Statement | string) => Promise<Row[]>
}

/** Attempts the task until it succeeds, or until a further attempt is not safe or not useful. */
async function perform<Result>(source: Source, task: Task<Result>): Promise<Result> {
  const { tracing } = source
  const parent = tracing?.active()
  const giveUpAt = performance.now() + source.retryForMs
  let isRetry = false
  for (let tries = 1; ; tries += 1) {
    const trace = tracing && parent && { tracing, parent, number: tries }
    let connection: Connection | undefined
    try {
      connection = await connect(source, task.kind, trace)
      const { client } = connection
      const query: Attempt['query'] = (statement) => runQuery(client, statement, source.queryOptions, trace)
      return await runOnce(task, { connection, isRetry, query })
    } catch (error) {
      if (!(error instanceof QueryFailure) || error.kind === 'fault') throw error
      const canRetry = error.kind !== 'rejected' && tries < RETRIES_MAX && performance.now() < giveUpAt
      if (!canRetry) throw new AppError('unavailable', { cause: error.cause })
      isRetry ||= connection !== undefined && error.kind === 'lost'
      await sleep(Math.min(20 * tries, 200) * (0.5 + Math.random()))
    }
  }
}

function connect({ primary }: Source, kind: WorkKind, trace: AttemptTrace | undefined): Promise<Connection> {
  if (trace === undefined) return primary.connect(kind)
  return showConnectionWait(trace, () => primary.connect(kind))
}

/** Runs the task once, and ends the connection. */
async function runOnce<Result>(
  { run, isIdempotent = false }: Task<Result>,
  attempt: Attempt,
): Promise<Result> {
  const { connection } = attempt
  let result: Result
  try {
    result = await run(attempt)
  } catch (error) {
    const failure = error instanceof QueryFailure ? error : undefined
    const outcome = connection.end(failure)
    if (outcome === 'known' || isIdempotent) throw error
    throw new AppError('outcome_unknown', { cause: failure?.cause })
  }
  if (connection.end() === 'unknown' && !isIdempotent) throw new AppError('outcome_unknown')
  return result
}

/** Runs the work between `begin` and `commit`. */
async function inTransaction<Result>(
  { connection, query, isRetry }: Attempt,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  await query('begin')
  let result: Result
  try {
    result = await work({ inTransaction: true, isRetry, read: query, write: query })
  } catch (error) {
    const isLost = error instanceof QueryFailure && error.kind === 'lost'
    if (!isLost) await query('rollback')
    throw error
  }
  connection.beforeCommit()
  await query('commit')
  return result
}

// Runs one statement on a connection, within a timeout. Measures it, and turns its error into a QueryFailure.
import type pg from 'pg'
import type { DatabaseObserver } from '../telemetry/database-metrics.ts'
import { QueryFailure } from './connection/failures.ts'
import { withTimeout } from './connection/timeout.ts'
import type { Statement } from './database.ts'
import { type AttemptTrace, endStatementSpan, startStatementSpan } from './statement-spans.ts'

export interface QueryOptions {
  timeoutMs: number
  observer: DatabaseObserver | undefined
}

/** @param trace Undefined if tracing is off or the request is not sampled. */
export async function runQuery<Row>(
  client: pg.PoolClient,
  statement: Statement | string,
  { timeoutMs, observer }: QueryOptions,
  trace: AttemptTrace | undefined,
): Promise<Row[]> {
  const span = trace && startStatementSpan(trace, client, statement)
  const sentAt = performance.now()
  try {
    const { rows } = await withTimeout(client.query(statement), timeoutMs)
    if (span !== undefined) endStatementSpan(span)
    return rows as Row[]
  } catch (error) {
    const failure = new QueryFailure(error)
    if (span !== undefined) endStatementSpan(span, failure)
    throw failure
  } finally {
    observer?.onQuery(typeof statement === 'string' ? statement : statement.name, secondsSince(sentAt))
  }
}

function secondsSince(time: number): number {
  return (performance.now() - time) / 1_000
}

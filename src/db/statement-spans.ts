// The spans of statements and of the wait for a connection, named by the stable conventions of OpenTelemetry for PostgreSQL.
// They never contain the values of a statement.
import type pg from 'pg'
import { type Attributes, CLIENT, endSpan, type Span, type Tracing } from '../telemetry/tracing/tracing.ts'
import { errorTypeOf } from './connection/error-type.ts'
import { QueryFailure } from './connection/failures.ts'

/** A shorter wait for a connection is not worth a span. */
const WAIT_SHOWN_AFTER_MS = 1

/** Which attempt of which request a statement belongs to. */
export interface AttemptTrace {
  tracing: Tracing
  parent: Span
  /** 1 for the first attempt. */
  number: number
}

export function startStatementSpan(
  { tracing, parent, number }: AttemptTrace,
  client: pg.ClientBase,
  statement: { name: string; text: string } | string,
): Span {
  const [name, text] =
    typeof statement === 'string' ? [statement, statement] : [statement.name, statement.text]
  return tracing.startChild(parent, name, {
    kind: CLIENT,
    attributes: {
      ...serverOf(client),
      'db.query.summary': name,
      // A statement that begins with `with` can do several operations.
      'db.operation.name': /^\s*(select|insert|update|delete|begin|commit|rollback)\b/.exec(text)?.[1],
      ...attemptOf(number),
    },
  })
}

export function endStatementSpan(span: Span, error?: unknown): void {
  if (error === undefined) return endSpan(span)
  if (error instanceof QueryFailure) span.setAttribute('db.response.status_code', error.state)
  endSpan(span, errorTypeOf(error))
}

/** Adds a span for the wait of an attempt for its connection, if the wait was long or failed. */
export async function showConnectionWait<Result>(
  { tracing, parent, number }: AttemptTrace,
  connect: () => Promise<Result>,
): Promise<Result> {
  const startTime = performance.now()
  const show = (errorType?: string) => {
    const options = { startTime, attributes: attemptOf(number) }
    endSpan(tracing.startChild(parent, 'wait for connection', options), errorType)
  }
  try {
    const result = await connect()
    if (performance.now() - startTime > WAIT_SHOWN_AFTER_MS) show()
    return result
  } catch (error) {
    show(errorTypeOf(error))
    throw error
  }
}

/** Only retries have the number of the attempt. */
function attemptOf(number: number): Attributes {
  return number === 1 ? {} : { 'petstore.attempt': number }
}

/** The server of this connection: with several hosts in DATABASE_URL, the primary. The types of node-postgres lack these. */
function serverOf(client: pg.ClientBase): Attributes {
  const { database, host, port } = client as pg.ClientBase & Pick<pg.Client, 'database' | 'host' | 'port'>
  const isSocket = host.startsWith('/')
  return {
    'db.system.name': 'postgresql',
    'db.namespace': database,
    'server.address': host,
    'server.port': isSocket ? undefined : port,
  }
}

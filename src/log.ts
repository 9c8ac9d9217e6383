// The log of the process: one JSON line per event on standard output. No line holds a query string,
// a header or a body: what is logged is named field by field.
import { type Logger, pino, stdSerializers } from 'pino'

export type Log = Logger

export function openLog(level: string): Log {
  return pino({
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { err: describeError },
  })
}

// PostgreSQL's `detail` and `where` quote rows; they may hold what no log should.
function describeError(error: Error & { detail?: string; where?: string }): object {
  const { detail: _detail, where: _where, raw: _raw, ...rest } = stdSerializers.err(error)
  return rest
}

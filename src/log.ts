// The log of the process: one JSON line per event on standard output. No line holds a query string,
// a header or a body: what is logged is named field by field.
import { destination, type Logger, pino, stdSerializers } from 'pino'

export type Log = Logger

/** Lines are written in blocks, at the latest after this time, and all of them before the process ends. */
const WRITTEN_EVERY_MS = 100
const BLOCK_BYTES = 8_192

export function openLog(level: string): Log {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { err: describeError },
  }
  return pino(options, destination({ sync: false, minLength: BLOCK_BYTES, periodicFlush: WRITTEN_EVERY_MS }))
}

// PostgreSQL's `detail` and `where` quote rows; they may hold what no log should.
function describeError(error: Error & { detail?: string; where?: string }): object {
  const { detail: _detail, where: _where, raw: _raw, ...rest } = stdSerializers.err(error)
  return rest
}

// The log of the process: one JSON line per event on standard output. No line holds a query string,
// a header or a body: what is logged is named field by field.
import { destination, type Logger, pino, stdSerializers } from 'pino'

/** Pino's logger, and a way past it for the one line that every request writes. */
export type Log = Logger & { writeLine: (json: string) => void }

/** Lines are written in blocks, at the latest after this time, and all of them before the process ends. */
const WRITTEN_EVERY_MS = 100
const BLOCK_BYTES = 8_192

export function openLog(level: string): Log {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${timeNow()}"`,
    serializers: { err: describeError },
  }
  const stream = destination({ sync: false, minLength: BLOCK_BYTES, periodicFlush: WRITTEN_EVERY_MS })
  return Object.assign(pino(options, stream), { writeLine: (json: string) => stream.write(`${json}\n`) })
}

let lastMs = 0
let lastTime = ''

/** Many lines are of the same millisecond; its text is made once. */
export function timeNow(): string {
  const now = Date.now()
  if (now !== lastMs) [lastMs, lastTime] = [now, new Date(now).toISOString()]
  return lastTime
}

// PostgreSQL's `detail` and `where` quote rows; they may hold what no log should.
function describeError(error: Error & { detail?: string; where?: string }): object {
  const { detail: _detail, where: _where, raw: _raw, ...rest } = stdSerializers.err(error)
  return rest
}

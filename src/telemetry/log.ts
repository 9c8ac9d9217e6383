// The log of the process: one JSON line per event on standard output. No line holds a query string,
// a header or a body: what is logged is named field by field.
import { type Logger, pino, stdSerializers } from 'pino'
import { type LogWriter, openLogWriter } from './log-writer.ts'

/** Pino's logger, and a way past it for the one line that every request writes. */
export type Log = Logger & { writeLine: (json: string) => void; writer: LogWriter }

export function openLog(level: string): Log {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${timeNow()}"`,
    serializers: { err: describeError },
  }
  // Reading process.stdout makes a pipe non-blocking: a write to a full one fails instead of blocking a thread.
  const writer = openLogWriter(process.stdout.fd, (dropped) =>
    logger.warn({ dropped }, 'log lines were dropped: their reader was too slow, stalled or gone'),
  )
  const logger = pino(options, writer)
  return Object.assign(logger, { writeLine: (json: string) => writer.write(`${json}\n`), writer })
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

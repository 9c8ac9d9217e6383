// The log of the process: one JSON line per event on standard output.
// No line contains a query string, a header or a body: log individual, named fields only.
import { type Logger, pino, stdSerializers } from 'pino'
import { type LogWriter, openLogWriter } from './log-writer.ts'

/** Pino's logger. `writeLine` writes request lines without Pino, which is faster. */
export type Log = Logger & { writeLine: (json: string) => void; writer: LogWriter }

export function openLog(level: string): Log {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${timeNow()}"`,
    serializers: { err: describeError },
  }
  // Accessing process.stdout makes a pipe non-blocking, so a write to a full pipe fails instead of blocking a thread.
  const writer = openLogWriter(process.stdout.fd, (dropped) =>
    logger.warn({ dropped }, 'log lines were dropped: the log reader was too slow, stalled or not running'),
  )
  const logger = pino(options, writer)
  return Object.assign(logger, { writeLine: (json: string) => writer.write(`${json}\n`), writer })
}

let lastMs = 0
let lastTime = ''

/** The current time in ISO 8601. Each millisecond is formatted only once, because many lines have the same time. */
export function timeNow(): string {
  const now = Date.now()
  if (now !== lastMs) [lastMs, lastTime] = [now, new Date(now).toISOString()]
  return lastTime
}

/** Removes `detail` and `where` from PostgreSQL errors, because they quote rows, which must not be logged. */
function describeError(error: Error & { detail?: string; where?: string }): object {
  const { detail: _detail, where: _where, raw: _raw, ...rest } = stdSerializers.err(error)
  return rest
}

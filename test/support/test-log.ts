// Logs of services in the test process. Nothing is printed, except the lines of a failed test.
import { pino } from 'pino'
import { type Log, openLog } from '../../src/telemetry/log.ts'
import { record } from './recording.ts'

/** A log whose lines failure-report.ts prints after a failed test. */
export function openTestLog(level = 'info', write: (line: string) => void = record): Log {
  const writeTrimmed = (line: string) => write(line.trimEnd())
  const { writer } = openLog('silent')
  const logger = pino({ level, base: null }, { write: writeTrimmed })
  return Object.assign(logger, { writeLine: writeTrimmed, writer })
}

export interface KeptLog {
  log: Log
  /** The lines since the last call of `clear`. */
  lines: () => readonly string[]
  clear: () => void
}

/** Keeps the errors of one case of a proof, which has many cases in one test. */
export function keepLog(): KeptLog {
  const lines: string[] = []
  const log = openTestLog('error', (line) => void lines.push(line))
  return { log, lines: () => lines, clear: () => void (lines.length = 0) }
}

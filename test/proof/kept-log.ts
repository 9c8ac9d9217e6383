// Keeps the log of a service in the test process, to show the lines of a failed case.
import { pino } from 'pino'
import { type Log, openLog } from '../../src/telemetry/log.ts'

export interface KeptLog {
  log: Log
  /** The lines since the last call of `clear`. */
  lines: () => readonly string[]
  clear: () => void
}

export function keepLog(): KeptLog {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line.trimEnd())
  const { writer } = openLog('silent')
  const log = Object.assign(pino({ level: 'error', base: null }, { write }), { writeLine: write, writer })
  return { log, lines: () => lines, clear: () => void (lines.length = 0) }
}

// Progress of a long command: one line that is redrawn on a terminal, otherwise one line every few seconds.
import { countOf } from '../../values/count-text.ts'
import { paint, say } from './terminal.ts'

const REDRAW_INTERVAL_MS = 200
const LINE_INTERVAL_MS = 5_000
const BAR_WIDTH = 24

export interface ProgressState {
  bytes: number
  bytesTotal?: number | undefined
  /** Undefined if only the number of bytes is known. */
  rows?: number | undefined
}

export interface ProgressLine {
  update(state: ProgressState): void
  /** Clears the line on a terminal. */
  end(): void
}

export function openProgress(label: string): ProgressLine {
  const isTerminal = process.stderr.isTTY
  const startedAt = performance.now()
  let first: ProgressState | undefined
  let last: ProgressState | undefined

  const show = () => {
    if (first === undefined || last === undefined) return
    const line = `${label}  ${describeProgress(first, last, (performance.now() - startedAt) / 1000)}`
    if (!isTerminal) say(line)
    else process.stderr.write(`\r\u{1b}[2K${paint('dim', line.slice(0, (process.stderr.columns || 80) - 1))}`)
  }
  const timer = setInterval(show, isTerminal ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS)
  timer.unref()

  return {
    update: (state) => {
      first ??= state
      last = { ...state }
    },
    end: () => {
      clearInterval(timer)
      if (isTerminal) process.stderr.write('\r\u{1b}[2K')
    },
  }
}

/** The speed does not count the progress in `first`, which earlier runs made. */
export function describeProgress(first: ProgressState, last: ProgressState, seconds: number): string {
  const parts: string[] = []
  const { bytes, bytesTotal, rows } = last
  if (bytesTotal !== undefined && bytesTotal > 0) {
    const share = Math.min(1, bytes / bytesTotal)
    const filled = Math.round(share * BAR_WIDTH)
    parts.push(`[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)}%`)
  }
  if (rows === undefined) {
    parts.push(`${megabytes(bytes)} MB`, `${megabytes((bytes - first.bytes) / seconds)} MB/s`)
  } else {
    const rowsPerSecond = Math.round((rows - (first.rows ?? 0)) / seconds)
    parts.push(countOf(rows, 'row'), `${countOf(rowsPerSecond, 'row')}/s`)
  }
  const bytesPerSecond = (bytes - first.bytes) / seconds
  if (bytesTotal !== undefined && bytesPerSecond > 0) {
    parts.push(`${describeSeconds((bytesTotal - bytes) / bytesPerSecond)} left`)
  }
  return parts.join('  ')
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}

function describeSeconds(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}

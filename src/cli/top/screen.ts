// The full screen of a terminal: alternate screen, keys, resizing. Restores the terminal however the command ends.
import { paint } from '../terminal/terminal.ts'
import type { Line } from './layout.ts'

const ENTER = '\u{1b}[?1049h\u{1b}[?25l'
const LEAVE = '\u{1b}[?25h\u{1b}[?1049l'
const HOME = '\u{1b}[H'
const CLEAR_TO_END_OF_LINE = '\u{1b}[K'
const CLEAR_BELOW = '\u{1b}[J'
/** The size of a terminal that reports none, or 0. */
const COLUMNS = 80
const ROWS = 24
const CTRL_C = '\u{3}'
/** Signals that end the process. Ctrl-C is a key, unless standard input is no terminal. */
const FATAL_SIGNALS = ['SIGTERM', 'SIGHUP'] as const

export interface Screen {
  /** The size now; it changes when the user resizes the terminal. */
  size: () => { width: number; height: number }
  draw: (lines: readonly Line[]) => void
  close: () => void
}

/** `onQuit` is called on q and Ctrl-C, `onResize` when the size has changed. */
export function openScreen({ onQuit, onResize }: { onQuit: () => void; onResize: () => void }): Screen {
  const { stdin, stdout } = process
  let isOpen = true

  function close(): void {
    if (!isOpen) return
    isOpen = false
    stdout.off('resize', onResize)
    process.off('exit', close)
    process.off('uncaughtExceptionMonitor', close)
    process.off('SIGINT', onQuit)
    for (const signal of FATAL_SIGNALS) process.off(signal, onFatalSignal)
    if (stdin.isTTY) {
      stdin.off('data', onKey)
      stdin.setRawMode(false)
      stdin.pause()
    }
    stdout.write(LEAVE)
  }

  /** Without the handler, the signal ends the process as if it had never been handled. */
  function onFatalSignal(signal: NodeJS.Signals): void {
    close()
    process.kill(process.pid, signal)
  }

  function onKey(keys: Buffer): void {
    if (/[qQ]/.test(keys.toString('latin1')) || keys.includes(CTRL_C)) onQuit()
    else onResize()
  }

  process.on('exit', close)
  // Without this, the message of an unexpected error would be printed to the screen that is left afterwards.
  process.on('uncaughtExceptionMonitor', close)
  process.on('SIGINT', onQuit)
  for (const signal of FATAL_SIGNALS) process.on(signal, onFatalSignal)
  stdout.on('resize', onResize)
  if (stdin.isTTY) {
    stdin.setRawMode(true)
    stdin.on('data', onKey)
  }
  stdout.write(ENTER)

  return {
    size: () => ({ width: stdout.columns || COLUMNS, height: stdout.rows || ROWS }),
    draw: (lines) => {
      if (!isOpen) return
      // Clears before it writes: after the last column of a line, some terminals would clear that column.
      const rows = lines.map((line) => CLEAR_TO_END_OF_LINE + paintLine(line))
      // A line break after the last line of the terminal would scroll.
      const below = lines.length < (stdout.rows || ROWS) ? `\r\n${CLEAR_BELOW}` : ''
      // One write, so that the terminal never shows half of a frame.
      stdout.write(HOME + rows.join('\r\n') + below)
    },
    close,
  }
}

/** The line with its styles, if standard output is a terminal and NO_COLOR is not set. */
export function paintLine(line: Line): string {
  return line
    .map((cell) => (typeof cell === 'string' ? cell : paint(cell.style, cell.text, process.stdout)))
    .join('')
}

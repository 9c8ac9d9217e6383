// Shows how far the drill is: one updating line on a terminal, otherwise a line every ten seconds.

const TERMINAL_EVERY_MS = 500
const LINES_EVERY_MS = 10_000
const CLEAR_LINE = '\r\u001b[K'

export interface Figures {
  /** What is counted. Default: faults. */
  what?: string
  /** Number of the current fault; 0 before the first one. */
  fault: number
  faults: number
  name: string
  acknowledged: number
  responses: number
  violations: number
}

export interface Output {
  isTTY?: boolean
  columns?: number
  write: (text: string) => unknown
}

export interface Progress {
  /** Prints a line above the status. */
  say: (text: string) => void
  /** Starts to show the figures. */
  show: (figures: () => Figures) => void
  end: () => void
}

export function openProgress(output: Output): Progress {
  const isTerminal = output.isTTY === true
  const startedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  let status = ''

  function refresh(figures: () => Figures, since: { at: number; responses: number }): void {
    const now = performance.now()
    const { what = 'fault', fault, faults, name, acknowledged, responses, violations } = figures()
    const perSecond = Math.round(((responses - since.responses) / Math.max(1, now - since.at)) * 1000)
    since.at = now
    since.responses = responses
    const text = `${clock(now - startedAt)}  ${what} ${fault} of ${faults} ${name}  ${acknowledged.toLocaleString('en')} acknowledged  ${violations} violations  ${perSecond} responses/s`
    if (!isTerminal) {
      output.write(`${text}\n`)
      return
    }
    // A line that wraps could not be overwritten.
    status = text.slice(0, (output.columns ?? 80) - 1)
    output.write(CLEAR_LINE + status)
  }

  return {
    say: (text) => {
      const line = `${clock(performance.now() - startedAt)}  ${text}\n`
      output.write(isTerminal ? `${CLEAR_LINE}${line}${status}` : line)
    },
    show: (figures) => {
      const since = { at: performance.now(), responses: figures().responses }
      timer = setInterval(() => refresh(figures, since), isTerminal ? TERMINAL_EVERY_MS : LINES_EVERY_MS)
    },
    end: () => {
      clearInterval(timer)
      if (isTerminal && status !== '') output.write(CLEAR_LINE)
      status = ''
    },
  }
}

function clock(ms: number): string {
  const total = Math.floor(ms / 1000)
  const parts = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

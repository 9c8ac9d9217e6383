// The log lines and statements of the services that the tests of this process use. failure-report.ts prints those of a
// failed test. Imports nothing from src, because the contract tests use it too.

/** Bounds the memory; the newest are kept. */
const RECORDS_MAX = 4_000

interface Recorded {
  /** Of `performance.now()`. */
  atMs: number
  text: string
}

const recorded: Recorded[] = []

export function record(text: string): void {
  if (recorded.length >= RECORDS_MAX) recorded.splice(0, RECORDS_MAX / 2)
  recorded.push({ atMs: performance.now(), text })
}

/** Records the lines of a text that arrives in chunks. */
export function lineRecorder(prefix: string): (chunk: string) => void {
  let rest = ''
  return (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) record(`${prefix}${line}`)
  }
}

export function recordedSince(startMs: number): readonly Recorded[] {
  return recorded.filter(({ atMs }) => atMs >= startMs)
}

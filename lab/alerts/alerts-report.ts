// The report of the alert drill, as Markdown. Pure functions.
import { type FaultRow, LATE_SECONDS_MAX } from './fault-run.ts'

export interface AlertsReport {
  startedAt: string
  seconds: number
  rows: FaultRow[]
}

export const isClean = ({ rows }: AlertsReport) => rows.every(({ problems }) => problems.length === 0)

export function toMarkdown(report: AlertsReport): string {
  const failed = report.rows.filter(({ problems }) => problems.length > 0).length
  const verdict =
    failed === 0
      ? `Each alert arrived at most ${LATE_SECONDS_MAX} s after it was due, and no other alert was sent.`
      : `${failed} of ${report.rows.length} runs differ from what is expected.`
  return `# Alert drill of ${report.startedAt}

${(report.seconds / 60).toFixed(1)} minutes. ${verdict}

${toTable(report.rows)}
`
}

function toTable(rows: readonly FaultRow[]): string {
  const header = ['Fault', 'Expected', 'Sent', 'After the fault', 'After due', 'Resolved after', 'Result']
  const cells = rows.map((row) => [
    `\`${row.fault}\`: ${row.description}`,
    namesOf(row.expected),
    row.notified.join() === row.expected.join() ? 'the same' : namesOf(row.notified),
    secondsOf(row.secondsAfterFault),
    secondsOf(row.secondsAfterDue),
    secondsOf(row.secondsUntilResolved),
    row.problems.length === 0 ? 'ok' : row.problems.join('; '),
  ])
  return [header, header.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`).join('\n')
}

const namesOf = (alerts: readonly string[]) =>
  alerts.length === 0 ? 'none' : alerts.map((alert) => alert.replace(/^Petstore/, '')).join(', ')

const secondsOf = (seconds: number | null) => (seconds === null ? '' : `${Math.round(seconds)} s`)

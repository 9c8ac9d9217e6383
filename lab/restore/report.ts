// The report of a restore drill, as Markdown. Pure functions.
import type { ViolationSummary } from '../parts/violations.ts'
import type { DamageRow } from './damage.ts'
import type { ExactResult } from './exact.ts'
import type { Backup } from './repository.ts'
import type { RoundRow } from './rounds.ts'
import type { TotalLoss } from './total-loss.ts'

export interface RestoreReport {
  startedAt: string
  seed: number
  seconds: number
  acknowledged: number
  full: Backup
  rounds: RoundRow[]
  exact: ExactResult
  damage: DamageRow[]
  totalLoss: TotalLoss
  /** A backup of the cluster after the restore. */
  after: Backup
  violations: ViolationSummary[]
}

const seconds = (value: number) => value.toFixed(1)
const count = (value: number) => value.toLocaleString('en')
const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0)

export function toMarkdown(report: RestoreReport): string {
  const { exact } = report
  const comparison = exact.differing.length === 0 ? 'identical' : `different in ${exact.differing.join(', ')}`
  const parts = [
    `# Restore drill of ${report.startedAt}`,
    `Seed ${report.seed}, ${(report.seconds / 60).toFixed(1)} minutes, ${count(report.acknowledged)} acknowledged changes.`,
    roundTable(report),
    `Compared with the primary at ${exact.moment}: ${count(exact.rows)} rows in ${exact.tables} tables, ${comparison}.`,
    timeTable(report),
    totalLossTable(report),
    damageTable(report),
    violationText(report),
  ]
  return `${parts.join('\n\n')}\n`
}

function roundTable({ rounds }: RestoreReport): string {
  return table(
    ['Round', 'Event', 'Timeline', 'Required', 'Excluded', 'In flight', 'Rows', 'Two copies'],
    rounds.map((row, index) => [
      String(index + 1),
      row.event,
      row.timelines.join(' → '),
      count(row.required),
      count(row.excluded),
      count(row.possible),
      count(row.rows),
      row.identical ? 'identical' : 'different',
    ]),
  )
}

function timeTable({ full, rounds, after }: RestoreReport): string {
  return table(
    [
      '',
      'Database (MB)',
      'Backup (s)',
      'In the repository (MB)',
      'Archived after (s)',
      'Restore (s)',
      'Replay (s)',
      'Verify (s)',
      'First response (s)',
    ],
    [
      ['Full backup', ...backupCells(full), '', '', '', '', ''],
      ...rounds.map((row, index) => [
        `Round ${index + 1}`,
        ...backupCells(row.backup),
        seconds(row.archivedSeconds),
        seconds(row.restoreSeconds),
        seconds(row.replaySeconds),
        seconds(row.verifySeconds),
        seconds(row.firstResponseSeconds),
      ]),
      ['After the loss of all nodes', ...backupCells(after), '', '', '', '', ''],
    ],
  )
}

function totalLossTable({ totalLoss }: RestoreReport): string {
  const lost = `${count(totalLoss.lostChanges)} of ${count(totalLoss.acknowledgedBefore)}`
  return table(
    ['Loss of all nodes', ''],
    [
      ['Acknowledged changes lost', lost],
      ['Oldest lost change (s before the loss)', seconds(totalLoss.lostSeconds)],
      ['Backup restored (s after the decision)', seconds(totalLoss.restoredAfter)],
      ['WAL replayed', seconds(totalLoss.replayedAfter)],
      ['petstore verify passed', seconds(totalLoss.verifiedAfter)],
      ['First read of the service, after a standby was copied', seconds(totalLoss.firstReadAfter)],
      ['First write', seconds(totalLoss.firstWriteAfter)],
      ['All three nodes healthy', seconds(totalLoss.healthyAfter)],
    ],
  )
}

function damageTable({ damage }: RestoreReport): string {
  return table(
    ['Damage', 'Check', 'Noticed'],
    damage.map((row) => [
      row.damage,
      row.check,
      row.noticed ?? (row.mustNotice ? '**no**' : 'no, as expected'),
    ]),
  )
}

function violationText({ violations }: RestoreReport): string {
  const found = violations.filter((violation) => violation.count > 0)
  if (found.length === 0) return 'No violation.'
  const total = found.reduce((sum, violation) => sum + violation.count, 0)
  const lines = found.flatMap(({ description, count: times, examples }) => [
    `- ${description}: ${count(times)}`,
    ...examples.map((example) => `  - ${example}`),
  ])
  return [`**${count(total)} violations:**`, '', ...lines].join('\n')
}

function backupCells({ databaseBytes, seconds: taken, repositoryBytes }: Backup): [string, string, string] {
  return [megabytes(databaseBytes), seconds(taken), (repositoryBytes / 2 ** 20).toFixed(1)]
}

function table(header: readonly string[], rows: readonly string[][]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')))
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(header), `|${header.map(() => '---').join('|')}|`, ...escaped.map(line)].join('\n')
}

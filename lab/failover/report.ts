// The report of a run: a table by kind of fault, goals, totals and violations, as Markdown and as data.
// Pure functions.
import type { LoadTotals } from '../load/context.ts'
import type { FeedSummary, MirrorCheck } from '../load/feed-check.ts'
import type { Peak } from '../load/sampler.ts'
import { median } from '../parts/quantile.ts'
import type { ViolationSummary } from '../parts/violations.ts'
import type { Comparison } from '../soak/flatness.ts'
import type { Rates } from '../soak/half-capacity.ts'

export interface FaultRow {
  fault: string
  /** What exactly was done, for example to which node. */
  detail: string
  /** Seconds since the load began. */
  startedAt: number
  healedAt: number
  leaderBefore: string | undefined
  leaderAfter: string | undefined
  writeGapSeconds: number
  readGapSeconds: number
  orderGapSeconds: number
  /** The longest time in which the follower of the event feed read no event. */
  feedGapSeconds: number
  /** The longest time from the acknowledgement of a pet until the follower read its event. */
  feedLagSeconds: number
  /** From the end of the fault; null if the cluster did not become healthy in time. */
  secondsUntilHealthy: number | null
  acknowledged: number
  responses: Record<string, number>
  peak: Peak
  /** The longest time for which the drill itself did not run. The drill may have caused a gap shorter than this. */
  ownDelayMs: number
  /** The mirror of the event feed, compared with the database; null if that was not possible. */
  mirror: MirrorCheck | null
}

export interface Report {
  startedAt: string
  seconds: number
  seed: number
  plan: string[]
  connection: string
  replication: string
  totals: LoadTotals
  acknowledged: number
  /** CPU time of the load and the checks, in seconds and as a share of one core. */
  cpu: { seconds: number; share: number }
  feed: FeedSummary
  faults: FaultRow[]
  kinds: KindSummary[]
  goals: Goal[]
  violations: ViolationSummary[]
  perSecond: { writes: number[]; reads: number[] }
  /** Only of a soak. */
  soak?: { rates: Rates; ends: Comparison[] }
}

export interface KindSummary {
  fault: string
  count: number
  writeGapMedian: number
  writeGapWorst: number
  readGapWorst: number
  orderGapWorst: number
  feedGapWorst: number
  feedLagWorst: number
}

export interface Goal {
  text: string
  seconds: number | undefined
  result: 'reached' | 'missed' | 'not run'
}

export function summarizeKinds(rows: readonly FaultRow[]): KindSummary[] {
  const byKind = Map.groupBy(rows, ({ fault }) => fault)
  return [...byKind]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([fault, same]) => ({
      fault,
      count: same.length,
      writeGapMedian: median(same.map(({ writeGapSeconds }) => writeGapSeconds)),
      writeGapWorst: Math.max(...same.map(({ writeGapSeconds }) => writeGapSeconds)),
      readGapWorst: Math.max(...same.map(({ readGapSeconds }) => readGapSeconds)),
      orderGapWorst: Math.max(...same.map(({ orderGapSeconds }) => orderGapSeconds)),
      feedGapWorst: Math.max(...same.map(({ feedGapSeconds }) => feedGapSeconds)),
      feedLagWorst: Math.max(...same.map(({ feedLagSeconds }) => feedLagSeconds)),
    }))
}

/** While this lasts, no standby can confirm a write. The write gap is as long as the fault. */
const WITHOUT_STANDBYS = 'freeze-standbys'

export function checkGoals(kinds: readonly KindSummary[]): Goal[] {
  const goal = (text: string, maxSeconds: number, counts: (fault: string) => boolean): Goal => {
    const gaps = kinds.filter(({ fault }) => counts(fault)).map(({ writeGapWorst }) => writeGapWorst)
    if (gaps.length === 0) return { text, seconds: undefined, result: 'not run' }
    const seconds = Math.max(...gaps)
    return { text, seconds, result: seconds <= maxSeconds ? 'reached' : 'missed' }
  }
  return [
    goal(
      `Worst write gap at most 25 s (without ${WITHOUT_STANDBYS})`,
      25,
      (fault) => fault !== WITHOUT_STANDBYS,
    ),
    goal('Write gap of a switchover at most 6 s', 6, (fault) => fault === 'switchover'),
    goal(
      'Write gap after the loss of a standby at most 1 s',
      1,
      (fault) => fault === 'kill-synchronous-standby',
    ),
  ]
}

const seconds = (value: number) => value.toFixed(1)
const count = (value: number) => value.toLocaleString('en')

export function toMarkdown(report: Report): string {
  const { totals, kinds, goals, violations, cpu, feed } = report
  const found = violations.filter(({ count: times }) => times > 0)
  const violationCount = found.reduce((sum, { count: times }) => sum + times, 0)
  return `# Drill of ${report.startedAt}

Seed ${report.seed}, ${report.faults.length} of ${report.plan.length} faults in ${(report.seconds / 60).toFixed(1)} minutes. Connection: ${report.connection}. Replication: ${report.replication}.

${table(
  [
    'Fault',
    'Count',
    'Write gap, median (s)',
    'Write gap, worst (s)',
    'Read gap, worst (s)',
    'Order gap, worst (s)',
    'Feed gap, worst (s)',
    'Feed lag, worst (s)',
  ],
  kinds.map((kind) => [
    kind.fault,
    String(kind.count),
    seconds(kind.writeGapMedian),
    seconds(kind.writeGapWorst),
    seconds(kind.readGapWorst),
    seconds(kind.orderGapWorst),
    seconds(kind.feedGapWorst),
    seconds(kind.feedLagWorst),
  ]),
)}

${table(
  ['Goal', 'Measured (s)', 'Result'],
  goals.map(({ text, seconds: measured, result }) => [
    text,
    measured === undefined ? '' : seconds(measured),
    result,
  ]),
)}

${soakText(report.soak)}Acknowledged: ${count(report.acknowledged)} writes (${count(totals.keyedPets)} pets with a key, ${count(totals.unkeyedPets)} without; ${count(totals.orders)} orders, ${count(totals.completions)} completed, ${count(totals.cancellations)} cancelled; ${count(totals.statusChanges)} status changes; ${count(totals.importedRows)} imported rows) and ${count(totals.reads)} reads.
Event feed: ${count(feed.events)} events. The mirror was compared with the database ${count(feed.comparisons)} times, and equal ${count(feed.comparisons - feed.failedComparisons)} times. ${count(feed.readAgain)} events were read again. Time from the acknowledgement of a pet to its event: median ${count(feed.lagMedianMs)} ms, p99 ${count(feed.lagP99Ms)} ms.
The drill itself used ${Math.round(cpu.seconds)} s of CPU time, ${Math.round(cpu.share * 100)}% of one core.

${violationCount === 0 ? 'No violation.' : `**${count(violationCount)} violations:**`}
${found.map(({ description, count: times, examples }) => `\n- ${description}: ${count(times)}${examples.map((example) => `\n  - ${example}`).join('')}`).join('')}
`
    .trimEnd()
    .concat('\n')
}

function soakText(soak: Report['soak']): string {
  if (soak === undefined) return ''
  const { capacity, soak: rate } = soak.rates
  const rows = soak.ends.map(({ what, early, late }) => [what, early.toFixed(1), late.toFixed(1)])
  return `${table(['Between the faults, median', 'At the start', 'At the end'], rows)}

Capacity: ${count(Math.round(capacity))} responses per second. Load: ${count(Math.round(rate))}, ${Math.round((rate / capacity) * 100)}% of it.

`
}

function table(header: readonly string[], rows: readonly string[][]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [
    line(header),
    `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`,
    ...rows.map(line),
  ].join('\n')
}

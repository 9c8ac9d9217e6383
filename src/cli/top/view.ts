// Draws a readings as lines of text. A pure function: screen.ts and run.ts print the lines.
import { countOf } from '../../values/count-text.ts'
import type { Cell } from '../terminal/terminal.ts'
import { age, latency, mean, megabytes, rate, share, shortUrl, integer } from './format.ts'
import { factLine, fitLine, type Line, openTable, spreadLine, styled } from './layout.ts'
import type { InstanceReadings, Problem, Readings, WebhookReadings } from './readings.ts'
import type { RecentProblem } from './recent-problems.ts'

/** On a terminal with fewer lines, no blank lines separate the parts. */
const SPACED_HEIGHT_MIN = 32
/** Rows of each table if the height is not limited. */
const ROWS = 10
const PROBLEMS = 20
const RUNBOOK = 'docs/runbook.md'

export interface ViewOptions {
  width: number
  /** Undefined if the height is not limited. */
  height?: number | undefined
  /** The time of day. */
  clock: string
  /** Which keys the user can press. */
  keys?: string | undefined
  /** Problems that have ended a few seconds ago. */
  ended?: readonly RecentProblem[]
}

/** How many rows each table gets. Does not depend on the figures, so that lines keep their places. */
interface Rows {
  operations: number
  statements: number
  batches: number
  processes: number
}

export function drawSnapshot(readings: Readings, options: ViewOptions): Line[] {
  const { width, height } = options
  const problems = problemLines(readings.problems, options)
  const isSpaced = height === undefined || height >= SPACED_HEIGHT_MIN
  const none = { operations: 0, statements: 0, batches: 0, processes: 0 }
  const fit = (line: Line) => fitLine(line, width)
  // Printed once, a problem is never cut: its end often names the cause.
  const fitProblem = height === undefined ? (line: Line) => fitLine(line, Number.POSITIVE_INFINITY) : fit
  const parts = (rows: Rows) => [
    [fit(headerLine(readings, options)), ...problems.map(fitProblem)],
    ...otherParts(rows).map((lines) => lines.map(fit)),
  ]
  const otherParts = (rows: Rows) => [
    ...(readings.database === null
      ? []
      : [
          requestLines(readings, rows.operations, options),
          statementLines(readings, rows.statements, options),
          batchLines(readings, rows.batches, options),
        ]),
    factLines(readings, width),
    processLines(readings.instances, rows.processes, width),
  ]
  const join = (groups: readonly Line[][]) =>
    groups
      .filter((lines) => lines.length > 0)
      .flatMap((lines, index) => (isSpaced && index > 0 ? [[], ...lines] : lines))
  const free = (height ?? 0) - join(parts(none)).length
  const rows = height === undefined ? unlimitedRows(readings) : shareRows(free, readings)
  const lines = join(parts(rows))
  if (height === undefined || lines.length <= height) return lines
  const shown = lines.slice(0, Math.max(1, height - 1))
  return [...shown, [styled(`… ${lines.length - shown.length} more lines`, 'dim')]].slice(0, height)
}

function unlimitedRows({ instances }: Readings): Rows {
  return { operations: ROWS, statements: ROWS, batches: ROWS, processes: instances.length }
}

/** Processes get less than half of the free lines; the other tables share the rest. */
function shareRows(free: number, { instances, database }: Readings): Rows {
  const most = database === null ? free : Math.floor(free * 0.45)
  const processes = Math.min(instances.length, Math.max(1, most))
  const left = Math.max(0, free - processes)
  const operations = Math.ceil(left * 0.4)
  const statements = Math.floor((left - operations) * 0.6)
  return { operations, statements, batches: left - operations - statements, processes }
}

function headerLine({ instances }: Readings, { width, clock, keys }: ViewOptions): Line {
  const up = instances.filter((instance) => instance.up)
  const versions = [...new Set(up.flatMap(({ version }) => version ?? []))]
  const uptimes = up.flatMap(({ uptimeSeconds }) => uptimeSeconds ?? [])
  const left: Cell[] = [
    styled(['petstore', ...versions.slice(0, 1)].join(' '), 'bold'),
    ...(versions.length > 1 ? [' ', styled('and other versions', 'yellow')] : []),
    '   ',
    styled(
      `${up.length} of ${countOf(instances.length, 'instance')} up`,
      up.length < instances.length ? 'red' : undefined,
    ),
    ...(uptimes.length > 0 ? [`   last start ${age(Math.min(...uptimes))} ago`] : []),
  ]
  return spreadLine(left, [clock, ...(keys === undefined ? [] : [styled(`   ${keys}`, 'dim')])], width)
}

function problemLines(problems: readonly Problem[], { width, height, ended = [] }: ViewOptions): Line[] {
  const max = height === undefined ? PROBLEMS : Math.max(2, Math.floor(height / 6))
  const current = [...Map.groupBy(problems, ({ state, title }) => `${state} ${title}`).values()].map(
    ([first, ...others]) => problemLine(first as Problem, others.length + 1),
  )
  if (current.length === 0) current.push([styled('ok', 'green'), '       no condition of an alert is met'])
  const hidden = current.length > max ? current.length - max + 1 : 0
  const [first = [], ...others] = current.slice(0, current.length - hidden)
  const isInRunbook = problems.some(({ entry }) => entry.startsWith(RUNBOOK))
  const lines = [
    isInRunbook ? spreadLine(first, [styled(`see ${RUNBOOK}`, 'dim')], width) : first,
    ...others,
    ...(hidden > 0 ? [[styled(`         and ${hidden} more; --once lists all`, 'dim')]] : []),
  ]
  return [...lines, ...ended.slice(0, max - lines.length).map(endedLine)]
}

function endedLine({ problem, endedSeconds }: RecentProblem): Line {
  return [styled(`ended    ${problem.title} ${age(endedSeconds)} ago: ${problem.message}`, 'dim')]
}

/** The same problem of several processes or webhooks is one line. */
function problemLine({ state, title, message }: Problem, count: number): Line {
  return [
    styled(state.toUpperCase().padEnd(9), state === 'fault' ? 'red' : 'yellow'),
    styled(count > 1 ? `${title} (×${count})` : title, 'bold'),
    `: ${message}`,
  ]
}

/** Adds empty rows up to the number of rows if the height is limited, so that the lines below keep their places. */
function fill(rows: readonly Line[], count: number, { height }: ViewOptions): Line[] {
  const shown = rows.slice(0, count)
  return height === undefined ? shown : [...shown, ...Array.from({ length: count - shown.length }, () => [])]
}

function requestLines({ requests }: Readings, rows: number, options: ViewOptions): Line[] {
  const columns = [
    ['RATE/S', 8],
    ['4XX/S', 7],
    ['5XX/S', 7],
    ['P50', 9],
    ['P99', 9],
  ] as const
  const { heading, row } = openTable('REQUESTS', columns, options.width)
  const figures = (of: Omit<NonNullable<typeof requests>, 'slowShare' | 'errors' | 'operations'> | null) => [
    rate(of && of.perSecond),
    rate(of && of.clientErrorsPerSecond),
    styled(rate(of && of.serverErrorsPerSecond), of && of.serverErrorsPerSecond > 0 ? 'red' : undefined),
    latency(of && of.p50Seconds),
    latency(of && of.p99Seconds),
  ]
  const operations = (requests?.operations ?? []).map((operation) =>
    row(`  ${operation.operation === 'none' ? 'other paths' : operation.operation}`, figures(operation)),
  )
  return [heading, row('  all operations', figures(requests)), ...fill(operations, rows, options)]
}

function statementLines({ database }: Readings, rows: number, options: ViewOptions): Line[] {
  const columns = [
    ['RATE/S', 8],
    ['TIME', 7],
    ['', 7],
    ['P50', 9],
    ['P99', 9],
  ] as const
  const { heading, row } = openTable('STATEMENTS OF POSTGRESQL', columns, options.width)
  const statements = (database?.statements ?? []).map(
    ({ statement, perSecond, timeShare, p50Seconds, p99Seconds }) =>
      row(`  ${statement}`, [
        rate(perSecond),
        share(timeShare),
        '',
        latency(p50Seconds),
        latency(p99Seconds),
      ]),
  )
  return [heading, ...fill(statements, rows, options)]
}

function batchLines({ batches }: Readings, rows: number, options: ViewOptions): Line[] {
  const columns = [
    ['RATE/S', 8],
    ['SIZE', 7],
    ['', 16],
    ['WAIT P99', 9],
  ] as const
  const { heading, row } = openTable('BATCHES', columns, options.width)
  const lines = (batches ?? []).map(({ kind, perSecond, meanSize, waitP99Seconds }) =>
    row(`  ${kind}`, [rate(perSecond), mean(meanSize), '', latency(waitP99Seconds)]),
  )
  return [heading, ...fill(lines, rows, options)]
}

function factLines({ requests, database, holds, events, webhooks }: Readings, width: number): Line[] {
  const lines: Line[] = []
  if (database !== null) {
    const errors = requests?.errors.map(({ code, perSecond }) => `${code} ${rate(perSecond)}/s`) ?? ['-']
    lines.push(factLine('ERRORS', errors.length === 0 ? ['none'] : errors, width))
    const { connections, waitP99Seconds, standbys } = database
    lines.push(
      factLine(
        'POOL',
        [
          countOf(connections.total, 'connection'),
          `${integer(connections.idle)} idle`,
          `${integer(connections.waiting)} waiting (p99 ${latency(waitP99Seconds)})`,
          styled(
            `${integer(connections.unacknowledged)} unacknowledged`,
            connections.unacknowledged > 0 ? 'red' : undefined,
          ),
        ],
        width,
      ),
    )
    if (standbys !== null) {
      const facts = [`${standbys.connected} connected`, `${standbys.required} required to confirm a write`]
      lines.push(factLine('STANDBYS', standbys.connected + standbys.required === 0 ? ['none'] : facts, width))
    }
  }
  if (holds !== null) {
    const overdue = holds.overdueSeconds > 0 ? `oldest overdue ${age(holds.overdueSeconds)}` : 'none overdue'
    const facts = [`${integer(holds.open)} open`, `${integer(holds.expiring)} expiring within 5 min`, overdue]
    lines.push(factLine('HOLDS', facts, width))
  }
  if (events !== null) {
    const late = events.unnumberedSeconds >= 1
    const facts = [
      `${rate(events.perSecond)} events/s`,
      late ? `oldest change without a number ${age(events.unnumberedSeconds)}` : 'all changes numbered',
      `newest ${integer(events.newestNumber)}`,
      countOf(events.streams, 'stream'),
    ]
    lines.push(factLine('FEED', facts, width))
  }
  if (webhooks !== null) lines.push(factLine('WEBHOOKS', webhookFacts(webhooks), width))
  return lines
}

function webhookFacts(webhooks: WebhookReadings): Cell[] {
  const { enabled, disabled, failing, worstLag, attemptsPerSecond: attempts, attemptP99Seconds } = webhooks
  const total = attempts && Object.values(attempts).reduce((sum, value) => sum + value, 0)
  const failed = attempts && (attempts['failed'] ?? 0) + (attempts['given_up'] ?? 0)
  const isLate = worstLag !== null && worstLag.seconds >= 1
  return [
    `${integer(enabled)} enabled`,
    styled(`${integer(failing)} failing`, failing > 0 ? 'yellow' : undefined),
    isLate ? `max lag ${age(worstLag.seconds)} (id ${worstLag.webhook})` : 'no lag',
    `${rate(total)} attempts/s (${rate(failed)} failed)`,
    `${integer(disabled)} disabled`,
    `p99 ${latency(attemptP99Seconds)}`,
  ]
}

function processLines(instances: readonly InstanceReadings[], rows: number, width: number): Line[] {
  const columns = [
    ['COMMAND', 9],
    ['VERSION', 10],
    ['UP', 8],
    ['CPU', 7],
    ['MEMORY', 9],
    ['LAG P99', 9],
    ['FILES', 7],
  ] as const
  const { heading, row } = openTable('PROCESSES', columns, width)
  const lines = instances.map((instance): Line => {
    const name = `  ${shortUrl(instance.url)}`
    if (!instance.up) return [name, '  ', styled('DOWN', 'red'), `  ${instance.reason}`]
    return row(name, [
      instance.command ?? '',
      instance.version ?? '',
      age(instance.uptimeSeconds).replace(/ (h|d) .*/, ' $1'),
      share(instance.cpu),
      megabytes(instance.memoryBytes),
      latency(instance.eventLoopLagP99Seconds),
      integer(instance.openFiles),
    ])
  })
  if (lines.length <= rows) return [heading, ...lines]
  const shown = Math.max(0, rows - 1)
  return [
    heading,
    ...lines.slice(0, shown),
    ...(rows > 0 ? [[styled(`  … ${lines.length - shown} more`, 'dim')]] : []),
  ]
}

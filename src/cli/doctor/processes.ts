// The check `processes` of `petstore doctor --url`: conditions of running processes that only their metrics show. Compares the figures
// of one moment with the limits of the alerts. An alert of Prometheus waits until its condition has lasted.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ALERTS,
  type AlertName,
  alertOf,
  CPU_MAX,
  EVENT_LOOP_LAG_MAX_SECONDS,
  FREQUENT_TASKS,
  isBeyond,
  READING_TASKS,
  SLOW_SECONDS,
} from '../../telemetry/alerts.ts'
import { type Metrics, sumOf, valueOf } from '../../telemetry/scraping/metrics.ts'
import { ratesOf } from '../../telemetry/scraping/rates.ts'
import { scrape, ScrapeFailure } from '../../telemetry/scraping/scrape.ts'
import { count, countOf } from '../../values/count-text.ts'
import { visible } from '../terminal/terminal.ts'
import { type CHECKS_OF_ALERTS, runbookStep } from './alert-limits.ts'
import { ageOf, type Finding } from './finding.ts'

/** Rates are those of this time. */
const MEASURED_MS = 1_000
const check = 'processes'

export interface ProcessState {
  /** Host and port. */
  name: string
  /** Why the process returned no metrics; undefined if it is up. */
  failure?: string
  metrics?: Metrics
  /** The increase of every series per second; undefined if the process restarted meanwhile. */
  rates?: Metrics | undefined
}

export async function checkProcesses(addresses: readonly URL[]): Promise<Finding[]> {
  return judgeProcesses(await Promise.all(addresses.map(observe)), Date.now() / 1_000)
}

async function observe(address: URL): Promise<ProcessState> {
  const name = address.host
  try {
    const before = await scrape(address)
    const startedAt = performance.now()
    await sleep(MEASURED_MS)
    const metrics = await scrape(address)
    return { name, metrics, rates: ratesOf(before, metrics, (performance.now() - startedAt) / 1_000) }
  } catch (error) {
    if (!(error instanceof ScrapeFailure)) throw error
    return { name, failure: error.message }
  }
}

/** A process that returned its metrics. */
interface Scraped {
  name: string
  metrics: Metrics
  rates: Metrics | undefined
}

interface Seen {
  processes: readonly ProcessState[]
  scraped: readonly Scraped[]
  /** Those that can read from PostgreSQL. The others have an alert of their own. */
  reachable: readonly Scraped[]
  /** Of the requests of all processes. NaN without requests. */
  requests: { failedShare: number; slowShare: number; overloadedPerSecond: number }
  nowSeconds: number
}

/** A value to compare with a limit, and the message if it is beyond the limit. */
type Figure = readonly [value: number, message: string]

export function judgeProcesses(processes: readonly ProcessState[], nowSeconds: number): Finding[] {
  const scraped = processes.flatMap(({ name, metrics, rates }) =>
    metrics === undefined ? [] : [{ name, metrics, rates }],
  )
  const reachable = scraped.filter(
    (one) => !isBeyond('PetstoreDatabaseUnreachable', sinceRead(one, nowSeconds)[0]),
  )
  const requests = requestFigures(scraped.flatMap(({ rates }) => rates ?? []))
  const seen = { processes, scraped, reachable, requests, nowSeconds }
  const found = [...alertFindings(seen), ...otherFindings(seen)]
  if (found.length > 0) return found
  const message = `${scraped.map(({ name }) => name).join(', ')}: no problem`
  return [{ check, state: 'ok', message }]
}

function requestFigures(rates: readonly Metrics[]): Seen['requests'] {
  const name = 'petstore_http_request_seconds'
  const all = sumOf(rates, `${name}_count`)
  const failed = sumOf(rates, `${name}_count`, ({ status }) => status?.startsWith('5') === true)
  const fast = sumOf(rates, `${name}_bucket`, ({ le }) => le === String(SLOW_SECONDS))
  return {
    failedShare: failed / all,
    slowShare: 1 - fast / all,
    overloadedPerSecond: sumOf(rates, 'petstore_errors_total', ({ code }) => code === 'overloaded'),
  }
}

function alertFindings(seen: Seen): Finding[] {
  return (Object.keys(FIGURES) as ProcessAlert[]).flatMap((alert) =>
    FIGURES[alert](seen)
      .filter(([value]) => isBeyond(alert, value))
      .map(([, message]) => toFinding(alert, message)),
  )
}

/** An alert that pages is a fault. */
function toFinding(alert: AlertName, message: string): Finding {
  const { severity, heading } = alertOf(alert)
  const state = severity === 'page' ? 'fault' : 'warning'
  return { check, state, message: `${heading}: ${message}`, remedy: runbookStep(alert) }
}

type ProcessAlert = {
  [Alert in AlertName]: (typeof CHECKS_OF_ALERTS)[Alert] extends typeof check ? Alert : never
}[AlertName]

const FIGURES: Record<ProcessAlert, (seen: Seen) => Figure[]> = {
  PetstoreDown: ({ processes }) =>
    processes.flatMap(({ name, failure }) =>
      failure === undefined ? [] : [[1, `${name}: ${visible(failure)}`]],
    ),
  PetstoreRequestsFail: ({ requests: { failedShare } }) => [
    [failedShare, `${share(failedShare)} of the responses are 5xx`],
  ],
  PetstoreSlow: ({ requests: { slowShare } }) => [
    [slowShare, `${share(slowShare)} took longer than ${SLOW_SECONDS} s`],
  ],
  PetstoreDatabaseUnreachable: ({ scraped, nowSeconds }) => scraped.map((one) => sinceRead(one, nowSeconds)),
  PetstoreWritesStalled: ({ reachable }) =>
    reachable.map(({ name, metrics }) => {
      const writes = valueOf(metrics, 'petstore_database_connections', { state: 'unacknowledged' }) ?? 0
      return [writes, `${countOf(writes, 'unacknowledged write')} of ${name}`]
    }),
  PetstoreBackgroundJobFails: ({ reachable, nowSeconds }) =>
    reachable.flatMap((one) => FREQUENT_TASKS.flatMap((task) => sinceSuccess(one, task, nowSeconds))),
  PetstoreWebhookLate: ({ scraped }) =>
    scraped
      .flatMap(({ metrics }) => metrics.get('petstore_webhook_lag_seconds') ?? [])
      .map(({ labels, value }) => [value, `webhook ${labels['webhook']} is ${ageOf(value)} behind`]),
  PetstoreMemoryHigh: ({ scraped }) =>
    scraped.map(({ name, metrics }) => {
      const bytes = valueOf(metrics, 'process_resident_memory_bytes') ?? 0
      return [bytes, `${name} uses ${Math.round(bytes / 1e6)} MB`]
    }),
}

function lastSuccess({ metrics }: Scraped, task: string): number | undefined {
  return valueOf(metrics, 'petstore_background_last_success_timestamp_seconds', { task })
}

/** A process that has lost all connections is in the state of the alert at once. */
function sinceRead(scraped: Scraped, nowSeconds: number): Figure {
  const readAt = Math.max(...READING_TASKS.map((task) => lastSuccess(scraped, task) ?? 0)) || nowSeconds
  const since = nowSeconds - readAt
  const connections = valueOf(scraped.metrics, 'petstore_database_connections', { state: 'total' })
  if (connections !== 0 || isBeyond('PetstoreDatabaseUnreachable', since)) {
    return [since, `${scraped.name} has read nothing for ${ageOf(since)}`]
  }
  return [Number.POSITIVE_INFINITY, `${scraped.name} has no connection`]
}

function sinceSuccess(scraped: Scraped, task: string, nowSeconds: number): Figure[] {
  const successAt = lastSuccess(scraped, task)
  return successAt === undefined ? [] : [[nowSeconds - successAt, `${scraped.name}: ${task}`]]
}

/** Conditions without an alert. */
function otherFindings({ requests, scraped, reachable, nowSeconds }: Seen): Finding[] {
  const rejected = rate(requests.overloadedPerSecond)
  return [
    ...(requests.overloadedPerSecond > 0
      ? [
          warning(
            `Too many requests: ${rejected}/s are rejected: overloaded`,
            'See "Too many requests" in docs/runbook.md.',
          ),
        ]
      : []),
    ...reachable.flatMap((one) => failedJobs(one, nowSeconds)),
    ...scraped.flatMap(loadFindings),
  ]
}

function warning(message: string, remedy: string): Finding {
  return { check, state: 'warning', message, remedy }
}

/** Jobs that failed now, and have no fault yet. */
function failedJobs(scraped: Scraped, nowSeconds: number): Finding[] {
  const alert = 'PetstoreBackgroundJobFails'
  const isFault = (task: string) =>
    FREQUENT_TASKS.includes(task) &&
    sinceSuccess(scraped, task, nowSeconds).some(([since]) => isBeyond(alert, since))
  const tasks = (scraped.rates?.get('petstore_background_failures_total') ?? []).flatMap(
    ({ labels: { task = '' }, value }) => (value > 0 && !isFault(task) ? [task] : []),
  )
  const message = `${ALERTS[alert].heading}: ${scraped.name}: ${tasks.join(', ')}`
  return tasks.length === 0 ? [] : [warning(message, runbookStep(alert))]
}

function loadFindings({ name, metrics, rates }: Scraped): Finding[] {
  const rateOf = (counter: string) => (rates && valueOf(rates, counter)) ?? 0
  const cpu = rateOf('process_cpu_seconds_total')
  const lag = valueOf(metrics, 'nodejs_eventloop_lag_p99_seconds') ?? 0
  const dropped = rateOf('petstore_log_lines_dropped_total')
  return [
    ...(cpu >= CPU_MAX
      ? [
          warning(
            `A process uses most of a core: ${name}: CPU ${share(cpu)}`,
            'Add a process: docs/evidence/scale.md.',
          ),
        ]
      : []),
    ...(lag > EVENT_LOOP_LAG_MAX_SECONDS
      ? [
          warning(
            `A process lacks CPU time: ${name}: event loop lag p99 ${Math.round(lag * 1_000)} ms`,
            'Find what else uses the CPU of this host, or add a host.',
          ),
        ]
      : []),
    ...(dropped > 0
      ? [
          warning(
            `Log lines are lost: ${name} drops ${rate(dropped)}/s`,
            'The reader of the log is too slow: "Logs" in docs/monitoring.md.',
          ),
        ]
      : []),
  ]
}

function rate(perSecond: number): string {
  if (perSecond < 0.1) return '<0.1'
  return perSecond < 9.95 ? perSecond.toFixed(1) : count(Math.round(perSecond))
}

function share(value: number): string {
  const percent = value * 100
  return percent < 9.95 ? `${percent.toFixed(1)} %` : `${Math.round(percent)} %`
}

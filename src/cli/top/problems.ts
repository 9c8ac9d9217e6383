// The problems that `petstore top` shows: the alerts of src/telemetry/alerts.ts, judged by the figures of one moment, and
// conditions of docs/monitoring.md without an alert. An alert of Prometheus waits until its condition has lasted.
import {
  ALERTS,
  type AlertName,
  alertOf,
  CPU_MAX,
  EVENT_LOOP_LAG_MAX_SECONDS,
  FREQUENT_TASKS,
  READING_TASKS,
  runbookEntry,
  SLOW_SECONDS,
} from '../../telemetry/alerts.ts'
import { countOf } from '../../values/count-text.ts'
import { age, megabytes, rate, share, shortUrl } from './format.ts'
import { maxOf, minOf, sumsBy, valueOf } from './gauges.ts'
import type { Metrics } from './metrics.ts'
import type { ProcessState } from './processes.ts'
import type { Problem, RequestReadings } from './readings.ts'

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
  /** The metrics of all processes, for values of the store: one process with a good value is enough. */
  metrics: readonly Metrics[]
  requests: RequestReadings | null
  nowSeconds: number
}

/** A value to compare with a limit, and the message if it is beyond the limit. */
type Figure = readonly [value: number, message: string]

/** All problems, faults first. */
export function findProblems(
  processes: readonly ProcessState[],
  requests: RequestReadings | null,
  nowSeconds: number,
): Problem[] {
  const scraped = processes.flatMap(({ url, metrics, rates }) =>
    metrics === undefined ? [] : [{ name: shortUrl(url), metrics, rates }],
  )
  const isReachable = (one: Scraped) => !isBeyond('PetstoreDatabaseUnreachable', sinceRead(one, nowSeconds))
  const reachable = scraped.filter(isReachable)
  const metrics = scraped.map((one) => one.metrics)
  const seen = { processes, scraped, reachable, metrics, requests, nowSeconds }
  const found = [...alertProblems(seen), ...otherProblems(seen)]
  return [
    ...found.filter(({ state }) => state === 'fault'),
    ...found.filter(({ state }) => state === 'warning'),
  ]
}

function alertProblems(seen: Seen): Problem[] {
  return (Object.keys(FIGURES) as (keyof typeof FIGURES)[]).flatMap((alert) => {
    const { severity, heading } = alertOf(alert)
    const state = severity === 'page' ? 'fault' : 'warning'
    return FIGURES[alert](seen)
      .filter((one) => isBeyond(alert, one))
      .map(
        ([, message]) => ({ state, alert, title: heading, message, entry: runbookEntry(heading) }) as const,
      )
  })
}

/** An alert without a limit has figures only while its condition is true. */
function isBeyond(alert: AlertName, [value]: Figure): boolean {
  const { limit, isLowBad } = alertOf(alert)
  return limit === undefined || (isLowBad ? value < limit : value > limit)
}

/** Without a value, there is no figure. */
function figure(value: number | null | undefined, message: (value: number) => string): Figure[] {
  return value === null || value === undefined ? [] : [[value, message(value)]]
}

/** The figures of each alert. PetstoreRestarts has none, because `top` does not know the earlier starts of a process. */
const FIGURES: Record<Exclude<AlertName, 'PetstoreRestarts'>, (seen: Seen) => Figure[]> = {
  PetstoreDown: ({ processes }) =>
    processes.flatMap(({ url, failure }) =>
      failure === undefined ? [] : [[1, `${shortUrl(url)}: ${failure}`] as const],
    ),
  PetstoreRequestsFail: ({ requests }) =>
    figure(
      requests && requests.serverErrorsPerSecond / requests.perSecond,
      (failed) => `${share(failed)} of the responses are 5xx`,
    ),
  PetstoreSlow: ({ requests }) =>
    figure(requests?.slowShare, (slow) => `${share(slow)} took longer than ${SLOW_SECONDS} s`),
  PetstoreDatabaseUnreachable: ({ scraped, nowSeconds }) => scraped.map((one) => sinceRead(one, nowSeconds)),
  PetstoreWritesStalled: ({ reachable }) =>
    reachable.flatMap(({ name, metrics }) =>
      figure(
        valueOf(metrics, 'petstore_database_connections', { state: 'unacknowledged' }),
        (writes) => `${countOf(writes, 'unacknowledged write')} of ${name}`,
      ),
    ),
  PetstoreBackgroundJobFails: ({ reachable, nowSeconds }) =>
    reachable.flatMap((one) => FREQUENT_TASKS.flatMap((task) => sinceSuccess(one, task, nowSeconds))),
  PetstoreReplicationNotProtecting: ({ metrics }) => replication(metrics),
  PetstoreFeedLate: ({ metrics }) =>
    figure(
      minOf(metrics, 'petstore_events_unnumbered_seconds'),
      (late) => `the oldest change without an event is ${age(late)} old`,
    ),
  PetstoreWebhookLate: ({ metrics }) =>
    metrics
      .flatMap((one) => one.get('petstore_webhook_lag_seconds') ?? [])
      .map(({ labels, value }) => [value, `webhook ${labels['webhook']} is ${age(value)} behind`]),
  PetstoreHoldsNotSwept: ({ metrics }) =>
    figure(
      minOf(metrics, 'petstore_hold_overdue_seconds'),
      (overdue) => `the oldest expired ${age(overdue)} ago`,
    ),
  // The value is 0 if no key expires.
  PetstoreApiKeyExpires: ({ metrics, nowSeconds }) =>
    expiry(maxOf(metrics, 'petstore_api_key_next_expiry_timestamp_seconds') || null, nowSeconds),
  PetstoreCertificateExpires: ({ metrics, nowSeconds }) =>
    expiry(minOf(metrics, 'petstore_database_certificate_expiry_timestamp_seconds'), nowSeconds),
  PetstoreMemoryHigh: ({ scraped }) =>
    scraped.flatMap(({ name, metrics }) =>
      figure(
        valueOf(metrics, 'process_resident_memory_bytes'),
        (bytes) => `${name} uses ${megabytes(bytes)}`,
      ),
    ),
  PetstoreArchivingFails: ({ metrics }) =>
    figure(maxOf(metrics, 'petstore_wal_archiving_failing'), () => 'backups lack newer writes'),
  PetstoreRestoreNotProven: ({ metrics, nowSeconds }) => sinceProven(metrics, nowSeconds),
  PetstoreRemovalNear: ({ metrics, nowSeconds }) => removals(metrics, nowSeconds),
}

const expiry = (expiresAt: number | null, nowSeconds: number) =>
  figure(expiresAt && expiresAt - nowSeconds, (left) => `in ${age(left)}`)

function lastSuccess({ metrics }: Scraped, task: string): number | undefined {
  return valueOf(metrics, 'petstore_background_last_success_timestamp_seconds', { task })
}

/** A process that has lost all connections is in the state of the alert at once. */
function sinceRead(scraped: Scraped, nowSeconds: number): Figure {
  const readAt = Math.max(...READING_TASKS.map((task) => lastSuccess(scraped, task) ?? 0)) || nowSeconds
  const read: Figure = [
    nowSeconds - readAt,
    `${scraped.name} has read nothing for ${age(nowSeconds - readAt)}`,
  ]
  const connections = valueOf(scraped.metrics, 'petstore_database_connections', { state: 'total' })
  if (connections !== 0 || isBeyond('PetstoreDatabaseUnreachable', read)) return read
  return [Number.POSITIVE_INFINITY, `${scraped.name} has no connection`]
}

function sinceSuccess(scraped: Scraped, task: string, nowSeconds: number): Figure[] {
  const successAt = lastSuccess(scraped, task)
  return successAt === undefined ? [] : [[nowSeconds - successAt, `${scraped.name}: ${task}`]]
}

function replication(metrics: readonly Metrics[]): Figure[] {
  const connected = maxOf(metrics, 'petstore_replication_standbys', { state: 'connected' })
  const required = maxOf(metrics, 'petstore_replication_standbys', { state: 'required' })
  if (connected === null || required === null) return []
  if (required === 0) return connected > 0 ? [[connected, 'no write waits for a standby']] : []
  const problem = connected < required ? 'writes wait' : 'no spare standby'
  return connected <= required
    ? [[connected, `${connected} connected, ${required} required: ${problem}`]]
    : []
}

function sinceProven(metrics: readonly Metrics[], nowSeconds: number): Figure[] {
  const provenAt = maxOf(metrics, 'petstore_restore_proven_timestamp_seconds')
  if (provenAt === null) return []
  const isFailed = maxOf(metrics, 'petstore_restore_check_failed') === 1
  if (isFailed) return [[Number.POSITIVE_INFINITY, 'the newest check failed']]
  const since = nowSeconds - provenAt
  return [[since, provenAt === 0 ? 'no backup yet' : `for ${age(since)}`]]
}

/** The time until operations are removed that programs called today. */
function removals(metrics: readonly Metrics[], nowSeconds: number): Figure[] {
  const name = 'petstore_removal_timestamp_seconds'
  const samples = metrics.find((one) => one.has(name))?.get(name) ?? []
  return samples.flatMap(({ labels: { operation = '' }, value }): Figure[] => {
    const calls = maxOf(metrics, 'petstore_deprecated_calls_today', { operation }) ?? 0
    const message = `${operation} in ${age(value - nowSeconds)}, ${countOf(calls, 'call')} today`
    return calls === 0 ? [] : [[value - nowSeconds, message]]
  })
}

/** Conditions without an alert. */
function otherProblems({ requests, scraped, reachable, nowSeconds }: Seen): Problem[] {
  const overloaded = requests?.errors.find(({ code }) => code === 'overloaded')?.perSecond ?? 0
  const title = 'Too many requests'
  return [
    ...(overloaded > 0
      ? [warning(title, `${rate(overloaded)}/s are rejected: overloaded`, runbookEntry(title))]
      : []),
    ...reachable.flatMap((one) => failedJobs(one, nowSeconds)),
    ...scraped.flatMap(loadProblems),
  ]
}

function warning(title: string, message: string, entry: string): Problem {
  return { state: 'warning', alert: null, title, message, entry }
}

/** Jobs that failed now, and have no fault yet. */
function failedJobs(scraped: Scraped, nowSeconds: number): Problem[] {
  const isFault = (task: string) =>
    FREQUENT_TASKS.includes(task) &&
    sinceSuccess(scraped, task, nowSeconds).some((since) => isBeyond('PetstoreBackgroundJobFails', since))
  const { name, rates } = scraped
  const failing = rates ? [...sumsBy([rates], 'petstore_background_failures_total', 'task')] : []
  const tasks = failing.flatMap(([task, perSecond]) => (perSecond > 0 && !isFault(task) ? [task] : []))
  const { heading } = ALERTS.PetstoreBackgroundJobFails
  return tasks.length === 0 ? [] : [warning(heading, `${name}: ${tasks.join(', ')}`, runbookEntry(heading))]
}

function loadProblems({ name, metrics, rates }: Scraped): Problem[] {
  const rateOf = (counter: string) => (rates && valueOf(rates, counter)) ?? 0
  const found: Problem[] = []
  const health = 'docs/monitoring.md#values-without-an-alert'
  const cpu = rateOf('process_cpu_seconds_total')
  if (cpu >= CPU_MAX) {
    found.push(warning('A process uses most of a core', `${name}: CPU ${share(cpu)}`, health))
  }
  const lag = valueOf(metrics, 'nodejs_eventloop_lag_p99_seconds') ?? 0
  if (lag > EVENT_LOOP_LAG_MAX_SECONDS) {
    const ms = Math.round(lag * 1_000)
    found.push(warning('A process lacks CPU time', `${name}: event loop lag p99 ${ms} ms`, health))
  }
  const dropped = rateOf('petstore_log_lines_dropped_total')
  if (dropped > 0) {
    found.push(warning('Log lines are lost', `${name} drops ${rate(dropped)}/s`, 'docs/monitoring.md#logs'))
  }
  return found
}

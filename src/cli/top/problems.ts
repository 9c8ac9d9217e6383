// The conditions that `petstore top` shows as problems: those of deploy/monitoring/alerts.yaml, with the same limits, and
// those that docs/running.md names. An alert waits until its condition has lasted; this file looks at one moment only.
import { countOf } from '../../values/count-text.ts'
import { age, megabytes, rate, share, shortUrl } from './format.ts'
import { maxOf, minOf, sumsBy, valueOf } from './gauges.ts'
import type { ProcessState } from './processes.ts'
import type { Metrics } from './metrics.ts'
import type { Problem, RequestReadings } from './readings.ts'

const DAY_SECONDS = 86_400
/** A request that takes longer is slow. */
export const SLOW_SECONDS = 0.5

/** The limits of the alerts. test/cli/top-problems.test.ts compares them with the file. */
export const ALERT_LIMITS = {
  PetstoreRequestsFail: 14.4 * 0.001,
  PetstoreSlow: 0.05,
  PetstoreDatabaseUnreachable: 30,
  PetstoreWritesStalled: 0,
  PetstoreBackgroundJobFails: 60,
  PetstoreFeedLate: 10,
  PetstoreWebhookLate: 300,
  PetstoreHoldsNotSwept: 10,
  PetstoreApiKeyExpires: 7 * DAY_SECONDS,
  PetstoreCertificateExpires: 21 * DAY_SECONDS,
  PetstoreMemoryHigh: 400e6,
  PetstoreRestoreNotProven: 3 * DAY_SECONDS,
  PetstoreRemovalNear: 90 * DAY_SECONDS,
} as const

/** Tasks that read from the database every 10 seconds, from different tables. */
export const READING_TASKS = ['measure the store', 'read restore checks']
/** Tasks that run at least every 10 seconds, as in the alert on jobs. */
export const FREQUENT_TASKS = [
  'measure the store',
  'sweep expired holds',
  'sequence events',
  'deliver webhooks',
]

/** The limits of docs/running.md. */
const CPU_MAX = 0.8
const EVENT_LOOP_LAG_MAX_SECONDS = 0.1

const RUNBOOK = 'docs/runbook.md'

/**
 * The entry of each alert: its state and its heading in the runbook. The dashboards use it, and
 * test/cli/top-problems.test.ts compares it with alerts.yaml and the runbook. Only a Prometheus, which knows the earlier
 * starts of a process, can find PetstoreRestarts.
 */
export const ENTRIES = {
  PetstoreRequestsFail: ['fault', 'Requests fail'],
  PetstoreSlow: ['fault', 'Responses are slow'],
  PetstoreDown: ['fault', 'An instance is down'],
  PetstoreRestarts: ['fault', 'An instance is down'],
  PetstoreDatabaseUnreachable: ['fault', 'PostgreSQL is unreachable'],
  PetstoreWritesStalled: ['fault', 'No standby confirms writes'],
  PetstoreBackgroundJobFails: ['fault', 'Background jobs fail'],
  PetstoreReplicationNotProtecting: ['warning', 'A standby is lost'],
  PetstoreFeedLate: ['fault', 'Events or webhooks are late'],
  PetstoreWebhookLate: ['warning', 'Events or webhooks are late'],
  PetstoreHoldsNotSwept: ['fault', 'Expired holds are not swept'],
  PetstoreApiKeyExpires: ['warning', 'An API key is about to expire'],
  PetstoreCertificateExpires: ['warning', 'The certificate of PostgreSQL expires'],
  PetstoreMemoryHigh: ['warning', 'A process uses much memory'],
  PetstoreRestoreNotProven: ['warning', 'No backup was proven'],
  PetstoreRemovalNear: ['warning', 'An operation is removed soon'],
} as const satisfies Record<string, [Problem['state'], string]>

export type AlertName = keyof typeof ENTRIES

/** All problems, faults first. */
export function findProblems(
  processes: readonly ProcessState[],
  requests: RequestReadings | null,
  nowSeconds: number,
): Problem[] {
  const metrics = processes.flatMap((process) => process.metrics ?? [])
  const found = [
    ...processes.flatMap(findDown),
    ...(requests === null ? [] : findInRequests(requests)),
    ...processes.flatMap((process) => findInProcess(process, nowSeconds)),
    ...findInStore(metrics, nowSeconds),
  ]
  return [
    ...found.filter(({ state }) => state === 'fault'),
    ...found.filter(({ state }) => state === 'warning'),
  ]
}

function alertProblem(alert: AlertName, message: string): Problem {
  const [state, title] = ENTRIES[alert]
  return { state, alert, title, message, entry: entryOf(RUNBOOK, title) }
}

function warning(title: string, message: string, entry: string): Problem {
  return { state: 'warning', alert: null, title, message, entry }
}

function entryOf(page: string, heading: string): string {
  return `${page}#${heading.toLowerCase().replaceAll(' ', '-')}`
}

function findDown({ url, failure }: ProcessState): Problem[] {
  return failure === undefined ? [] : [alertProblem('PetstoreDown', `${shortUrl(url)}: ${failure}`)]
}

function findInRequests(requests: RequestReadings): Problem[] {
  const { perSecond, serverErrorsPerSecond, slowShare, errors } = requests
  const found: Problem[] = []
  const failed = perSecond > 0 ? serverErrorsPerSecond / perSecond : 0
  if (failed > ALERT_LIMITS.PetstoreRequestsFail) {
    found.push(alertProblem('PetstoreRequestsFail', `${share(failed)} of the responses are 5xx`))
  }
  if (slowShare !== null && slowShare > ALERT_LIMITS.PetstoreSlow) {
    found.push(alertProblem('PetstoreSlow', `${share(slowShare)} took longer than ${SLOW_SECONDS} s`))
  }
  const overloaded = errors.find(({ code }) => code === 'overloaded')?.perSecond ?? 0
  if (overloaded > 0) {
    const title = 'Too many requests'
    found.push(warning(title, `${rate(overloaded)}/s are rejected: overloaded`, entryOf(RUNBOOK, title)))
  }
  return found
}

function findInProcess({ url, metrics, rates }: ProcessState, nowSeconds: number): Problem[] {
  if (metrics === undefined) return []
  const found: Problem[] = []
  const name = shortUrl(url)
  const unreachable = describeUnreachable(metrics, nowSeconds)
  if (unreachable !== undefined) {
    found.push(alertProblem('PetstoreDatabaseUnreachable', `${name} ${unreachable}`))
  }
  const stalled = valueOf(metrics, 'petstore_database_connections', { state: 'unacknowledged' }) ?? 0
  // As in the alert: writes to an unreachable database have another cause.
  if (unreachable === undefined && stalled > ALERT_LIMITS.PetstoreWritesStalled) {
    found.push(
      alertProblem('PetstoreWritesStalled', `${countOf(stalled, 'unacknowledged write')} of ${name}`),
    )
  }
  const memory = valueOf(metrics, 'process_resident_memory_bytes') ?? 0
  if (memory > ALERT_LIMITS.PetstoreMemoryHigh) {
    found.push(alertProblem('PetstoreMemoryHigh', `${name} uses ${megabytes(memory)}`))
  }
  for (const { labels, value } of metrics.get('petstore_webhook_lag_seconds') ?? []) {
    if (value <= ALERT_LIMITS.PetstoreWebhookLate) continue
    found.push(alertProblem('PetstoreWebhookLate', `webhook ${labels['webhook']} is ${age(value)} behind`))
  }
  const inJobs = unreachable === undefined ? findInJobs(name, metrics, rates, nowSeconds) : []
  return [...found, ...inJobs, ...findInLoad(name, metrics, rates)]
}

function lastSuccess(metrics: Metrics, task: string): number | undefined {
  return valueOf(metrics, 'petstore_background_last_success_timestamp_seconds', { task })
}

/** The alert waits for 30 s. A process that has lost all connections is in the same state at once. */
function describeUnreachable(metrics: Metrics, nowSeconds: number): string | undefined {
  const readAt = Math.max(...READING_TASKS.map((task) => lastSuccess(metrics, task) ?? 0)) || nowSeconds
  const since = nowSeconds - readAt
  if (since > ALERT_LIMITS.PetstoreDatabaseUnreachable) return `has read nothing for ${age(since)}`
  const connections = valueOf(metrics, 'petstore_database_connections', { state: 'total' })
  return connections === 0 ? 'has no connection' : undefined
}

function findInLoad(name: string, metrics: Metrics, rates: Metrics | undefined): Problem[] {
  const found: Problem[] = []
  const health = 'docs/running.md#health'
  const cpu = (rates && valueOf(rates, 'process_cpu_seconds_total')) ?? 0
  if (cpu >= CPU_MAX) {
    found.push(warning('A process uses most of a core', `${name}: CPU ${share(cpu)}`, health))
  }
  const lag = valueOf(metrics, 'nodejs_eventloop_lag_p99_seconds') ?? 0
  if (lag > EVENT_LOOP_LAG_MAX_SECONDS) {
    const ms = Math.round(lag * 1_000)
    found.push(warning('A process lacks CPU time', `${name}: event loop lag p99 ${ms} ms`, health))
  }
  const dropped = (rates && valueOf(rates, 'petstore_log_lines_dropped_total')) ?? 0
  if (dropped > 0) {
    found.push(warning('Log lines are lost', `${name} drops ${rate(dropped)}/s`, 'docs/running.md#logs'))
  }
  return found
}

/** A job that has failed for a minute is a fault; one that failed now is a warning. */
function findInJobs(
  name: string,
  metrics: Metrics,
  rates: Metrics | undefined,
  nowSeconds: number,
): Problem[] {
  const limit = nowSeconds - ALERT_LIMITS.PetstoreBackgroundJobFails
  const stopped = FREQUENT_TASKS.filter((task) => (lastSuccess(metrics, task) ?? nowSeconds) < limit)
  if (stopped.length > 0) {
    return [alertProblem('PetstoreBackgroundJobFails', `${name}: ${stopped.join(', ')}`)]
  }
  const failing = rates ? [...sumsBy([rates], 'petstore_background_failures_total', 'task')] : []
  const tasks = failing.filter(([, perSecond]) => perSecond > 0).map(([task]) => task)
  if (tasks.length === 0) return []
  const [, title] = ENTRIES.PetstoreBackgroundJobFails
  return [warning(title, `${name}: ${tasks.join(', ')}`, entryOf(RUNBOOK, title))]
}

/** Values of the store. As in the alerts, one process with a good value is enough. */
function findInStore(metrics: readonly Metrics[], nowSeconds: number): Problem[] {
  const found: Problem[] = [...findInReplication(metrics), ...findInBackups(metrics, nowSeconds)]
  const late = minOf(metrics, 'petstore_events_unnumbered_seconds') ?? 0
  if (late > ALERT_LIMITS.PetstoreFeedLate) {
    found.push(alertProblem('PetstoreFeedLate', `the oldest change without an event is ${age(late)} old`))
  }
  const overdue = minOf(metrics, 'petstore_hold_overdue_seconds') ?? 0
  if (overdue > ALERT_LIMITS.PetstoreHoldsNotSwept) {
    found.push(alertProblem('PetstoreHoldsNotSwept', `the oldest expired ${age(overdue)} ago`))
  }
  const keyExpiry = maxOf(metrics, 'petstore_api_key_next_expiry_timestamp_seconds') ?? 0
  if (keyExpiry > 0 && keyExpiry - nowSeconds < ALERT_LIMITS.PetstoreApiKeyExpires) {
    found.push(alertProblem('PetstoreApiKeyExpires', `in ${age(keyExpiry - nowSeconds)}`))
  }
  const certificate = minOf(metrics, 'petstore_database_certificate_expiry_timestamp_seconds')
  if (certificate !== null && certificate - nowSeconds < ALERT_LIMITS.PetstoreCertificateExpires) {
    found.push(alertProblem('PetstoreCertificateExpires', `in ${age(certificate - nowSeconds)}`))
  }
  const removals = 'petstore_removal_timestamp_seconds'
  for (const { labels, value } of metrics.find((one) => one.has(removals))?.get(removals) ?? []) {
    const { operation = '' } = labels
    const calls = maxOf(metrics, 'petstore_deprecated_calls_today', { operation }) ?? 0
    if (calls === 0 || value - nowSeconds >= ALERT_LIMITS.PetstoreRemovalNear) continue
    const message = `${operation} in ${age(value - nowSeconds)}, ${countOf(calls, 'call')} today`
    found.push(alertProblem('PetstoreRemovalNear', message))
  }
  return found
}

function findInReplication(metrics: readonly Metrics[]): Problem[] {
  const connected = maxOf(metrics, 'petstore_replication_standbys', { state: 'connected' })
  const required = maxOf(metrics, 'petstore_replication_standbys', { state: 'required' })
  if (connected === null || required === null) return []
  if (required > 0 && connected <= required) {
    const spare = connected < required ? 'writes wait' : 'no spare standby'
    const message = `${connected} connected, ${required} required: ${spare}`
    return [alertProblem('PetstoreReplicationNotProtecting', message)]
  }
  if (required === 0 && connected > 0) {
    return [alertProblem('PetstoreReplicationNotProtecting', 'no write waits for a standby')]
  }
  return []
}

function findInBackups(metrics: readonly Metrics[], nowSeconds: number): Problem[] {
  const proven = maxOf(metrics, 'petstore_restore_proven_timestamp_seconds')
  if (proven === null) return []
  const isFailed = maxOf(metrics, 'petstore_restore_check_failed') === 1
  const since = nowSeconds - proven
  if (!isFailed && since <= ALERT_LIMITS.PetstoreRestoreNotProven) return []
  const message = isFailed ? 'the newest check failed' : proven === 0 ? 'no backup yet' : `for ${age(since)}`
  return [alertProblem('PetstoreRestoreNotProven', message)]
}

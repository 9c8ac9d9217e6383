// Computes the figures of one moment from the last two scrapes of all processes.
import { SLOW_SECONDS } from '../../telemetry/alerts.ts'
import { maxOf, minOf, sumOf, sumsBy, valueOf } from './gauges.ts'
import { emptyHistogram, histogramOf, histogramsBy, meanOf, quantile, shareAbove } from './histogram.ts'
import { findProblems } from './problems.ts'
import type { ProcessState } from './processes.ts'
import type { Metrics } from './metrics.ts'
import type {
  BatchReadings,
  DatabaseReadings,
  InstanceReadings,
  RequestReadings,
  Readings,
  StatementReadings,
  WebhookReadings,
} from './readings.ts'

export function takeReadings(processes: readonly ProcessState[], now: Date): Readings {
  const running = (command: 'serve' | 'deliver') =>
    processes.filter(({ metrics }) => metrics !== undefined && commandOf(metrics) === command)
  const [serving, delivering] = [running('serve'), running('deliver')]
  const served = serving.flatMap(({ metrics }) => metrics ?? [])
  const delivered = delivering.flatMap(({ metrics }) => metrics ?? [])
  const servedRates = knownRates(serving)
  const seconds = processes.flatMap((process) => process.seconds ?? [])
  const requests = servedRates === undefined ? null : requestReadings(servedRates)
  return {
    time: now.toISOString(),
    intervalSeconds: seconds.length === 0 ? null : Math.max(...seconds),
    problems: findProblems(processes, requests, now.getTime() / 1_000),
    instances: processes.map((process) => instanceReadings(process, now)),
    requests,
    database: served.length === 0 ? null : databaseReadings(served, servedRates),
    batches: servedRates === undefined ? null : batchReadings(servedRates),
    holds: holdFigures(served),
    events: served.length === 0 ? null : eventFigures(served, processes),
    webhooks: delivered.length === 0 ? null : webhookReadings(delivered, knownRates(delivering)),
  }
}

/** Undefined until one of the processes was scraped twice. */
function knownRates(processes: readonly ProcessState[]): Metrics[] | undefined {
  const rates = processes.flatMap((process) => process.rates ?? [])
  return rates.length === 0 ? undefined : rates
}

/** `petstore deliver` has metrics of webhooks, and no metrics of requests. */
function commandOf(metrics: Metrics): 'serve' | 'deliver' {
  return metrics.has('petstore_webhooks') ? 'deliver' : 'serve'
}

function instanceReadings({ url, failure, metrics, rates }: ProcessState, now: Date): InstanceReadings {
  const value = (name: string) => (metrics && valueOf(metrics, name)) ?? null
  const start = value('process_start_time_seconds')
  return {
    url,
    up: failure === undefined,
    reason: failure ?? null,
    command: metrics === undefined ? null : commandOf(metrics),
    version: metrics?.get('petstore_build_info')?.[0]?.labels['version'] ?? null,
    uptimeSeconds: start === null ? null : Math.max(0, now.getTime() / 1_000 - start),
    cpu: (rates && valueOf(rates, 'process_cpu_seconds_total')) ?? null,
    memoryBytes: value('process_resident_memory_bytes'),
    eventLoopLagP99Seconds: value('nodejs_eventloop_lag_p99_seconds'),
    openFiles: value('process_open_fds'),
  }
}

function requestReadings(rates: readonly Metrics[]): RequestReadings {
  const name = 'petstore_http_request_seconds'
  const all = histogramOf(rates, name)
  const byClass = histogramsBy(rates, name, ({ status = '' }) => status.charAt(0))
  const byOperation = histogramsBy(rates, name, ({ operation = '' }) => operation)
  const byBoth = histogramsBy(rates, name, ({ operation, status = '' }) => `${operation} ${status.charAt(0)}`)
  const rateOf = (groups: typeof byBoth, group: string) => (groups.get(group) ?? emptyHistogram()).count
  const operations = [...byOperation].map(([operation, histogram]) => ({
    operation,
    perSecond: histogram.count,
    clientErrorsPerSecond: rateOf(byBoth, `${operation} 4`),
    serverErrorsPerSecond: rateOf(byBoth, `${operation} 5`),
    p50Seconds: quantile(0.5, histogram),
    p99Seconds: quantile(0.99, histogram),
  }))
  const errors = [...sumsBy(rates, 'petstore_errors_total', 'code')].map(([code, perSecond]) => ({
    code,
    perSecond,
  }))
  return {
    perSecond: all.count,
    clientErrorsPerSecond: rateOf(byClass, '4'),
    serverErrorsPerSecond: rateOf(byClass, '5'),
    p50Seconds: quantile(0.5, all),
    p99Seconds: quantile(0.99, all),
    slowShare: shareAbove(SLOW_SECONDS, all),
    errors: busiestFirst(errors, ({ code }) => code),
    operations: busiestFirst(operations, ({ operation }) => operation),
  }
}

/** Leaves out what did not occur. The name decides between equal rates, so that rows keep their places. */
function busiestFirst<Item extends { perSecond: number }>(
  items: Item[],
  nameOf: (item: Item) => string,
): Item[] {
  return items
    .filter(({ perSecond }) => perSecond > 0)
    .sort((a, b) => b.perSecond - a.perSecond || (nameOf(a) < nameOf(b) ? -1 : 1))
}

function databaseReadings(
  served: readonly Metrics[],
  rates: readonly Metrics[] | undefined,
): DatabaseReadings {
  const connections = (state: string) => sumOf(served, 'petstore_database_connections', { state })
  const standbys = (state: string) => maxOf(served, 'petstore_replication_standbys', { state })
  const connected = standbys('connected')
  return {
    connections: {
      total: connections('total'),
      idle: connections('idle'),
      waiting: connections('waiting'),
      unacknowledged: connections('unacknowledged'),
    },
    waitP99Seconds:
      rates === undefined ? null : quantile(0.99, histogramOf(rates, 'petstore_database_wait_seconds')),
    standbys: connected === null ? null : { connected, required: standbys('required') ?? 0 },
    statements: rates === undefined ? null : statementReadings(rates),
  }
}

/** The statement that takes most of the time first. */
function statementReadings(rates: readonly Metrics[]): StatementReadings[] {
  const name = 'petstore_query_seconds'
  const { sum: total } = histogramOf(rates, name)
  return [...histogramsBy(rates, name, ({ statement = '' }) => statement)]
    .filter(([, { count }]) => count > 0)
    .sort(([nameA, a], [nameB, b]) => b.sum - a.sum || (nameA < nameB ? -1 : 1))
    .map(([statement, histogram]) => ({
      statement,
      perSecond: histogram.count,
      timeShare: total > 0 ? histogram.sum / total : 0,
      p50Seconds: quantile(0.5, histogram),
      p99Seconds: quantile(0.99, histogram),
    }))
}

function batchReadings(rates: readonly Metrics[]): BatchReadings[] {
  const waits = histogramsBy(rates, 'petstore_batch_wait_seconds', ({ kind = '' }) => kind)
  const sizes = histogramsBy(rates, 'petstore_batch_size', ({ kind = '' }) => kind)
  const batches = [...sizes].map(([kind, histogram]) => ({
    kind,
    perSecond: histogram.count,
    meanSize: meanOf(histogram),
    waitP99Seconds: quantile(0.99, waits.get(kind) ?? emptyHistogram()),
  }))
  return busiestFirst(batches, ({ kind }) => kind)
}

function holdFigures(served: readonly Metrics[]): Readings['holds'] {
  const open = maxOf(served, 'petstore_holds', { state: 'open' })
  if (open === null) return null
  return {
    open,
    expiring: maxOf(served, 'petstore_holds', { state: 'expiring' }) ?? 0,
    overdueSeconds: minOf(served, 'petstore_hold_overdue_seconds') ?? 0,
  }
}

function eventFigures(served: readonly Metrics[], processes: readonly ProcessState[]): Readings['events'] {
  const name = 'petstore_events_newest_number'
  // All processes report the same feed. The value is 0 until a process has read it.
  const increases = processes.flatMap(({ before, metrics, seconds = 0 }) => {
    const [from, to] = [before, metrics].map((scraped) => (scraped && valueOf(scraped, name)) || 0)
    return from && to && seconds > 0 ? [Math.max(0, to - from) / seconds] : []
  })
  return {
    newestNumber: maxOf(served, name) ?? 0,
    perSecond: increases.length === 0 ? null : Math.max(...increases),
    unnumberedSeconds: minOf(served, 'petstore_events_unnumbered_seconds') ?? 0,
    streams: sumOf(served, 'petstore_event_streams'),
  }
}

function webhookReadings(
  delivered: readonly Metrics[],
  rates: readonly Metrics[] | undefined,
): WebhookReadings {
  const lags = delivered.flatMap((metrics) => metrics.get('petstore_webhook_lag_seconds') ?? [])
  const worst = lags.toSorted((a, b) => b.value - a.value)[0]
  const attempts = 'petstore_webhook_attempt_seconds'
  const rateBy = (outcomes: readonly Metrics[]) =>
    Object.fromEntries(sumsBy(outcomes, `${attempts}_count`, 'outcome'))
  return {
    // Each process reports all webhooks of the store, but only its own failing ones.
    enabled: maxOf(delivered, 'petstore_webhooks', { state: 'enabled' }) ?? 0,
    disabled: maxOf(delivered, 'petstore_webhooks', { state: 'disabled' }) ?? 0,
    failing: sumOf(delivered, 'petstore_webhooks', { state: 'failing' }),
    worstLag: worst === undefined ? null : { webhook: worst.labels['webhook'] ?? '', seconds: worst.value },
    attemptsInFlight: sumOf(delivered, 'petstore_webhook_attempts_in_flight'),
    attemptsPerSecond: rates === undefined ? null : rateBy(rates),
    attemptP99Seconds: rates === undefined ? null : quantile(0.99, histogramOf(rates, attempts)),
  }
}

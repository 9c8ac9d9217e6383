// Metrics for operators, in the Prometheus format.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { DatabaseObserver, Db } from '../db/database.ts'
import type { ErrorCode } from '../errors.ts'
import { DURATION_BUCKETS } from './buckets.ts'
import { addBuildInfo } from './build-info.ts'
import { addDatabaseMetrics } from './database-metrics.ts'
import { addJobMetrics, type JobObserver } from './job-metrics.ts'
import type { Log } from './log.ts'
import { addStoreMetrics, type StoreFigures } from './store-metrics.ts'

export interface Metrics {
  registry: Registry
  observeRequest: (operation: string, status: number, seconds: number) => void
  /** Called once for each error response. */
  countError: (code: ErrorCode) => void
  /** Called once for each batch, with the number of requests in it and the seconds that the first of them has waited. */
  observeBatch: (kind: string, size: number, waitSeconds: number) => void
  /** For `openDatabase`. */
  database: DatabaseObserver
  /** For `startBackground`. */
  jobs: JobObserver
  /** Called several times a minute. */
  observeStore: (figures: StoreFigures) => void
  setEventStreams: (open: number) => void
  /** Called once for each sign-in that ended, with `signed_in` or the code of its error. A count of 0 shows the outcome. */
  countSignIn: (outcome: string, count?: number) => void
  /** Called many times a second, with the state of the event feed. */
  observeFeed: (state: { head: bigint; unnumberedSeconds: number | null }) => void
  /** Called with the results of restore checks. Before the first call, the metrics are absent. */
  observeRestores: (state: { provenAt: Date | null; isNewestProven: boolean | null }) => void
}

/** @param removals When each deprecated operation will be removed. */
export function openMetrics(
  db: Pick<Db, 'connections'>,
  { writer }: Pick<Log, 'writer'>,
  removals: Readonly<Record<string, Date>> = {},
): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  addBuildInfo(registry)

  const requests = new Histogram({
    name: 'petstore_http_request_seconds',
    help: 'Time from receiving a request to the end of its response.',
    labelNames: ['operation', 'status'],
    buckets: DURATION_BUCKETS,
    registers: [registry],
  })

  const errors = new Counter({
    name: 'petstore_errors_total',
    help: 'Error responses, by the code of the error.',
    labelNames: ['code'],
    registers: [registry],
  })

  const batchWaits = new Histogram({
    name: 'petstore_batch_wait_seconds',
    help: 'Time that the first request of a batch waited until the batch began.',
    labelNames: ['kind'],
    buckets: DURATION_BUCKETS,
    registers: [registry],
  })

  const batches = new Histogram({
    name: 'petstore_batch_size',
    help: 'Number of requests in one batch.',
    labelNames: ['kind'],
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers: [registry],
  })

  const eventStreams = new Gauge({
    name: 'petstore_event_streams',
    help: 'Open streams of events.',
    registers: [registry],
  })

  const signIns = new Counter({
    name: 'petstore_sign_ins_total',
    help: 'Sign-ins of people: signed_in, or the code of the error.',
    labelNames: ['outcome'],
    registers: [registry],
  })

  const database = addDatabaseMetrics(registry, db)

  const droppedLogLines = new Counter({
    name: 'petstore_log_lines_dropped_total',
    help: 'Log lines dropped because the log reader was too slow, stalled or not running.',
    registers: [registry],
    collect() {
      droppedLogLines.reset()
      droppedLogLines.inc(writer.droppedLines())
    },
  })

  const newestEvent = new Gauge({
    name: 'petstore_events_newest_number',
    help: 'Number of the newest event in the feed.',
    registers: [registry],
  })
  const unnumbered = new Gauge({
    name: 'petstore_events_unnumbered_seconds',
    help: 'Age of the oldest change that is not in the event feed yet; 0 if all changes are.',
    registers: [registry],
  })
  // A gauge begins at 0. Until the feed is read, 0 would mean that it is empty and up to date.
  newestEvent.remove()
  unnumbered.remove()

  // Not registered yet: until the results are read, 0 would mean that no backup was ever proven.
  const restoreProven = new Gauge({
    name: 'petstore_restore_proven_timestamp_seconds',
    help: 'Time of the last check that restored and verified a backup, in seconds since 1970; 0 if there was none.',
    registers: [],
  })
  const restoreFailed = new Gauge({
    name: 'petstore_restore_check_failed',
    help: '1 if the newest check of a backup failed, otherwise 0.',
    registers: [],
  })

  return {
    registry,
    observeRequest: (operation, status, seconds) => requests.observe({ operation, status }, seconds),
    countError: (code) => errors.inc({ code }),
    observeBatch: (kind, size, waitSeconds) => {
      batches.observe({ kind }, size)
      batchWaits.observe({ kind }, waitSeconds)
    },
    database,
    jobs: addJobMetrics(registry),
    observeStore: addStoreMetrics(registry, removals),
    setEventStreams: (open) => eventStreams.set(open),
    countSignIn: (outcome, count = 1) => signIns.inc({ outcome }, count),
    observeFeed: ({ head, unnumberedSeconds }) => {
      newestEvent.set(Number(head))
      unnumbered.set(unnumberedSeconds ?? 0)
    },
    observeRestores: ({ provenAt, isNewestProven }) => {
      restoreProven.set((provenAt?.getTime() ?? 0) / 1_000)
      restoreFailed.set(isNewestProven === false ? 1 : 0)
      registry.registerMetric(restoreProven)
      registry.registerMetric(restoreFailed)
    },
  }
}

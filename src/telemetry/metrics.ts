// Metrics for operators, in the Prometheus format.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ErrorCode } from '../contract/errors.ts'
import { DURATION_BUCKETS } from './buckets.ts'
import { addBuildInfo } from './build-info.ts'
import { addDatabaseMetrics, type ConnectionCounts, type DatabaseObserver } from './database-metrics.ts'
import { addJobMetrics, type JobObserver } from './job-metrics.ts'
import type { Log } from './log.ts'

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
  setEventStreams: (open: number) => void
  /** Called with the bytes of all large responses in memory. */
  setResponseBytes: (bytes: number) => void
  /** Called once for each failed read of the streams of events. A count of 0 shows the read. */
  countStreamFailure: (read: string, count?: number) => void
  /** Called once for each sign-in that ended, with `signed_in` or the code of its error. A count of 0 shows the outcome. */
  countSignIn: (outcome: string, count?: number) => void
}

// oxlint-disable-next-line max-lines-per-function -- a list of metrics
export function openMetrics(db: ConnectionCounts, { writer }: Pick<Log, 'writer'>): Metrics {
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

  const responseBytes = new Gauge({
    name: 'petstore_large_response_bytes',
    help: 'Bytes of large responses that clients have not accepted yet. Reads beyond the limit get 503 overloaded.',
    registers: [registry],
  })

  const streamFailures = new Counter({
    name: 'petstore_event_stream_failures_total',
    help: 'Failed reads of the streams of events, which retry them: events, or whether the keys of streams and exports are valid (api_keys).',
    labelNames: ['read'],
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
    setEventStreams: (open) => eventStreams.set(open),
    setResponseBytes: (bytes) => responseBytes.set(bytes),
    countStreamFailure: (read, count = 1) => streamFailures.inc({ read }, count),
    countSignIn: (outcome, count = 1) => signIns.inc({ outcome }, count),
  }
}

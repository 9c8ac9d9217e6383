// Figures for operators, in the format of Prometheus.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Db } from '../db/database.ts'
import type { Log } from './log.ts'

export interface Metrics {
  registry: Registry
  /** One answered request. */
  observeRequest: (operation: string, status: number, seconds: number) => void
  /** One piece of work in the database, and how many requests it answered. */
  observeBatch: (kind: string, size: number) => void
}

export function openMetrics(db: Pick<Db, 'connections'>, { writer }: Pick<Log, 'writer'>): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  const requests = new Histogram({
    name: 'petstore_http_request_seconds',
    help: 'Time from the arrival of a request to the end of its answer.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })

  const batches = new Histogram({
    name: 'petstore_batch_size',
    help: 'How many requests one piece of work in the database answered.',
    labelNames: ['kind'],
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers: [registry],
  })

  const connections = new Gauge({
    name: 'petstore_database_connections',
    help: 'Connections to PostgreSQL: open, idle, and requests waiting for one.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(db.connections())) connections.set({ state }, count)
    },
  })

  const droppedLogLines = new Counter({
    name: 'petstore_log_lines_dropped_total',
    help: 'Log lines dropped because the reader of the log was too slow, stalled or gone.',
    registers: [registry],
    collect() {
      droppedLogLines.reset()
      droppedLogLines.inc(writer.droppedLines())
    },
  })

  return {
    registry,
    observeRequest: (operation, status, seconds) => requests.observe({ operation, status }, seconds),
    observeBatch: (kind, size) => batches.observe({ kind }, size),
  }
}

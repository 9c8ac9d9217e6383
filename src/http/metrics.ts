// Figures for operators, in the format of Prometheus.
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Db } from '../db/database.ts'

export interface Metrics {
  registry: Registry
  /** One answered request. */
  observeRequest: (operation: string, status: number, seconds: number) => void
}

export function openMetrics(db: Pick<Db, 'connections'>): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  const requests = new Histogram({
    name: 'petstore_http_request_seconds',
    help: 'Time from the arrival of a request to the end of its answer.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
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

  return {
    registry,
    observeRequest: (operation, status, seconds) => requests.observe({ operation, status }, seconds),
  }
}

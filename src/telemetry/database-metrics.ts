// Metrics of the connections to PostgreSQL and of the queries on them.
import { Gauge, Histogram, type Registry } from 'prom-client'
import type { Db, DatabaseObserver } from '../db/database.ts'
import { DURATION_BUCKETS } from './buckets.ts'

/** Adds the metrics to the registry. Returns what the database must call. */
export function addDatabaseMetrics(registry: Registry, db: Pick<Db, 'connections'>): DatabaseObserver {
  const registers = [registry]

  const connections: Gauge = new Gauge({
    name: 'petstore_database_connections',
    help: 'Connections to PostgreSQL (total, idle), requests waiting for a connection (waiting), and writes without a response (unacknowledged).',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(db.connections())) connections.set({ state }, count)
    },
  })

  const waits = new Histogram({
    name: 'petstore_database_wait_seconds',
    help: 'Time that reads and writes waited for a connection to PostgreSQL.',
    labelNames: ['kind'],
    buckets: DURATION_BUCKETS,
    registers,
  })

  const queries = new Histogram({
    name: 'petstore_query_seconds',
    help: 'Time from sending a statement to its result, by the name of the statement.',
    labelNames: ['statement'],
    buckets: DURATION_BUCKETS,
    registers,
  })

  const certificate = new Gauge({
    name: 'petstore_database_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of PostgreSQL expires, in seconds since 1970. Without TLS, there is no value.',
    // With a label, the metric has no value until it is set.
    labelNames: ['server'],
    registers,
  })

  return {
    onWait: (kind, seconds) => waits.observe({ kind }, seconds),
    onQuery: (statement, seconds) => queries.observe({ statement }, seconds),
    onCertificate: (validTo) => certificate.set({ server: 'primary' }, validTo.getTime() / 1_000),
  }
}

// Metrics of the connections to PostgreSQL and of the queries on them.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { DURATION_BUCKETS } from './buckets.ts'

/** Told how long the database takes. */
export interface DatabaseObserver {
  /** Called for each attempt, with the seconds that it waited for a connection. */
  onWait: (kind: 'read' | 'write', seconds: number) => void
  /** Called for each statement, also for a failed one. */
  onQuery: (statement: string, seconds: number) => void
  /** Called for each new connection with TLS, with the end of the validity of the server's certificate. */
  onCertificate: (validTo: Date) => void
  /** Called each time one of several hosts cannot be asked whether it is the primary. */
  onHostFailure: (host: string) => void
}

/** Counts by state, such as `idle`. */
export interface ConnectionCounts {
  connections(): Record<string, number>
}

/** Adds the metrics to the registry. Returns what the database must call. */
export function addDatabaseMetrics(registry: Registry, db: ConnectionCounts): DatabaseObserver {
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

  const hostFailures = new Counter({
    name: 'petstore_database_host_failures_total',
    help: 'Failed attempts to ask a host of DATABASE_URL whether it is the primary. With a single host, there is no value.',
    labelNames: ['host'],
    registers,
  })

  return {
    onWait: (kind, seconds) => waits.observe({ kind }, seconds),
    onQuery: (statement, seconds) => queries.observe({ statement }, seconds),
    onCertificate: (validTo) => certificate.set({ server: 'primary' }, validTo.getTime() / 1_000),
    onHostFailure: (host) => hostFailures.inc({ host }),
  }
}

// The figures that `petstore top` shows. `petstore top --json` prints a Readings: docs/monitoring.md documents its fields, and
// scripts rely on them.

/** As in `petstore doctor`. An alert that pages is a fault, an alert that opens a ticket is a warning. */
type ProblemState = 'fault' | 'warning'

export interface Problem {
  state: ProblemState
  /** The alert with the same condition; null if there is none. */
  alert: string | null
  /** The heading in the documentation that says what to do. */
  title: string
  message: string
  /** The page and the heading. */
  entry: string
}

export interface InstanceReadings {
  url: string
  up: boolean
  /** Why the process returned no metrics. */
  reason: string | null
  command: 'serve' | 'deliver' | null
  version: string | null
  uptimeSeconds: number | null
  /** CPU seconds per second: 1 is one core. */
  cpu: number | null
  memoryBytes: number | null
  eventLoopLagP99Seconds: number | null
  openFiles: number | null
}

export interface OperationReadings {
  operation: string
  perSecond: number
  clientErrorsPerSecond: number
  serverErrorsPerSecond: number
  p50Seconds: number | null
  p99Seconds: number | null
}

export interface RequestReadings extends Omit<OperationReadings, 'operation'> {
  slowShare: number | null
  errors: { code: string; perSecond: number }[]
  operations: OperationReadings[]
}

export interface StatementReadings {
  statement: string
  perSecond: number
  /** The share of the time of all statements. */
  timeShare: number
  p50Seconds: number | null
  p99Seconds: number | null
}

export interface DatabaseReadings {
  connections: { total: number; idle: number; waiting: number; unacknowledged: number }
  waitP99Seconds: number | null
  standbys: { connected: number; required: number } | null
  statements: StatementReadings[] | null
}

export interface BatchReadings {
  kind: string
  perSecond: number
  meanSize: number | null
  waitP99Seconds: number | null
}

export interface WebhookReadings {
  enabled: number
  disabled: number
  failing: number
  worstLag: { webhook: string; seconds: number } | null
  attemptsInFlight: number
  attemptsPerSecond: Record<string, number> | null
  attemptP99Seconds: number | null
}

/** Rates and quantiles are null until a process was scraped twice. Parts that no process reports are null. */
export interface Readings {
  time: string
  intervalSeconds: number | null
  problems: Problem[]
  instances: InstanceReadings[]
  requests: RequestReadings | null
  database: DatabaseReadings | null
  batches: BatchReadings[] | null
  holds: { open: number; expiring: number; overdueSeconds: number } | null
  events: {
    newestNumber: number
    perSecond: number | null
    unnumberedSeconds: number
    streams: number
  } | null
  webhooks: WebhookReadings | null
}

// The figures that `petstore top` shows. `petstore top --json` prints a Snapshot: docs/top.md documents its fields, and
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

export interface InstanceFigures {
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

export interface OperationFigures {
  operation: string
  perSecond: number
  clientErrorsPerSecond: number
  serverErrorsPerSecond: number
  p50Seconds: number | null
  p99Seconds: number | null
}

export interface RequestFigures extends Omit<OperationFigures, 'operation'> {
  slowShare: number | null
  errors: { code: string; perSecond: number }[]
  operations: OperationFigures[]
}

export interface StatementFigures {
  statement: string
  perSecond: number
  /** The share of the time of all statements. */
  timeShare: number
  p50Seconds: number | null
  p99Seconds: number | null
}

export interface DatabaseFigures {
  connections: { total: number; idle: number; waiting: number; unacknowledged: number }
  waitP99Seconds: number | null
  standbys: { connected: number; required: number } | null
  statements: StatementFigures[] | null
}

export interface BatchFigures {
  kind: string
  perSecond: number
  meanSize: number | null
  waitP99Seconds: number | null
}

export interface WebhookFigures {
  enabled: number
  disabled: number
  failing: number
  worstLag: { webhook: string; seconds: number } | null
  attemptsInFlight: number
  attemptsPerSecond: Record<string, number> | null
  attemptP99Seconds: number | null
}

/** Rates and quantiles are null until a process was scraped twice. Parts that no process reports are null. */
export interface Snapshot {
  time: string
  intervalSeconds: number | null
  problems: Problem[]
  instances: InstanceFigures[]
  requests: RequestFigures | null
  database: DatabaseFigures | null
  batches: BatchFigures[] | null
  holds: { open: number; expiring: number; overdueSeconds: number } | null
  events: {
    newestNumber: number
    perSecond: number | null
    unnumberedSeconds: number
    streams: number
  } | null
  webhooks: WebhookFigures | null
}

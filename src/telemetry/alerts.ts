// Every alert on the metrics of Petstore. `npm run openapi` writes deploy/monitoring/alerts.yaml and the table of
// docs/runbook.md from this table. `petstore doctor`, the dashboards and the drill of alerts use its limits.

export const DAY_SECONDS = 86_400
/** The goal is that at most this share of the requests fails. */
export const FAILED_SHARE_GOAL = 0.001
/** A request that takes longer is slow. The histogram of requests has a bucket with this bound. */
export const SLOW_SECONDS = 0.5
/** CPU seconds per second of a process, and the lag of its event loop, that docs/monitoring.md names. They have no alert. */
export const CPU_MAX = 0.8
export const EVENT_LOOP_LAG_MAX_SECONDS = 0.1

/** Tasks that read from the database every 10 seconds, from different tables: a lock stops one of them at most. */
export const READING_TASKS = ['measure the store', 'read restore checks']
/** Tasks that run at least every 10 seconds. */
export const FREQUENT_TASKS = [
  'measure the store',
  'sweep expired holds',
  'sequence events',
  'deliver webhooks',
]

export interface Alert {
  /** A comment in alerts.yaml. */
  note?: string
  /** The condition in PromQL. */
  expr: (limit: string) => string
  /** The value above which the condition is true. Absent if the condition has no such value. */
  limit?: number
  /** The condition is true below the limit instead, for example for the time until a key expires. */
  isLowBad?: true
  /** How long the condition must be true before the alert fires. Default: 0. */
  forSeconds?: number
  /** How long the alert fires after the condition was last true. Default: 0. */
  keepFiringSeconds?: number
  /** A page: users notice it now. A ticket: it needs attention this week. */
  severity: 'page' | 'ticket'
  /** A template of Prometheus. */
  summary: string
  /** The heading in docs/runbook.md. */
  heading: string
}

const PROCESSES = 'job=~"petstore|petstore-deliver"'
const REQUESTS = 'petstore_http_request_seconds'
const LAST_SUCCESS = 'petstore_background_last_success_timestamp_seconds'
const KEY_EXPIRY = 'max by (job) (petstore_api_key_next_expiry_timestamp_seconds)'
const KEY_EXPIRY_DAYS = 7
const PROVEN_DAYS = 3

const tasks = (names: readonly string[]) => `{task=~"${names.join('|')}"}`
const standbys = (state: string) => `max by (job) (petstore_replication_standbys{state="${state}"})`
const lines = (...text: string[]) => text.join('\n')
/** How long ago an instance last read from PostgreSQL. */
const SINCE_READ = `time() - max by (job, instance) (${LAST_SUCCESS}${tasks(READING_TASKS)})`
/** An instance that cannot read either has an alert of its own, with a limit that is a little higher. */
const UNLESS_UNREACHABLE = `unless on (job, instance) ${SINCE_READ} > 25`

const failedShare = (window: string) => ({
  record: `petstore:failed_requests:ratio${window}`,
  expr: lines(
    `sum(rate(${REQUESTS}_count{status=~"5.."}[${window}]))`,
    `/ sum(rate(${REQUESTS}_count[${window}]))`,
  ),
})

/** Expressions that alerts use, which Prometheus evaluates under a name. */
export const RECORDED = [failedShare('5m'), failedShare('1h')]

export const ALERTS = {
  PetstoreRequestsFail: {
    note: "The goal is that 99.9 % of the requests do not fail. At 14.4 times that rate, a month's budget lasts two days.",
    expr: (limit) => RECORDED.map(({ record }) => `${record} > ${limit}`).join(' and '),
    limit: 0.0144,
    forSeconds: 60,
    severity: 'page',
    summary: '{{ $value | humanizePercentage }} of the requests of the last 5 minutes failed',
    heading: 'Requests fail',
  },
  PetstoreSlow: {
    note: `The goal is that 99 % of the requests take less than ${SLOW_SECONDS} s.`,
    expr: (limit) =>
      lines(
        `1 - sum(rate(${REQUESTS}_bucket{le="${SLOW_SECONDS}"}[5m]))`,
        `/ sum(rate(${REQUESTS}_count[5m])) > ${limit}`,
      ),
    limit: 0.05,
    forSeconds: 120,
    severity: 'page',
    summary: `{{ $value | humanizePercentage }} of the requests of the last 5 minutes took longer than ${SLOW_SECONDS} s`,
    heading: 'Responses are slow',
  },
  PetstoreDown: {
    expr: () => `up{${PROCESSES}} == 0`,
    forSeconds: 60,
    severity: 'page',
    summary: '{{ $labels.job }} {{ $labels.instance }} does not respond',
    heading: 'An instance is down',
  },
  PetstoreRestarts: {
    expr: (limit) => `changes(process_start_time_seconds{${PROCESSES}}[15m]) > ${limit}`,
    limit: 3,
    severity: 'page',
    summary: '{{ $labels.job }} {{ $labels.instance }} started {{ $value }} times in 15 minutes',
    heading: 'An instance is down',
  },
  PetstoreDatabaseUnreachable: {
    note: 'Both tasks read from the database every 10 seconds, from different tables: a lock stops one of them at most.\nAlertmanager inhibits the alerts on requests while this one keeps firing: their 5 minutes still include the failures.',
    expr: (limit) => `${SINCE_READ} > ${limit}`,
    limit: 30,
    forSeconds: 15,
    keepFiringSeconds: 360,
    severity: 'page',
    summary: '{{ $labels.instance }} has read nothing from PostgreSQL for {{ $value | humanizeDuration }}',
    heading: 'PostgreSQL is unreachable',
  },
  PetstoreWritesStalled: {
    note: 'If the instance cannot read either, PostgreSQL is unreachable, which has its own alert.',
    expr: (limit) =>
      lines(`petstore_database_connections{state="unacknowledged"} > ${limit}`, UNLESS_UNREACHABLE),
    limit: 0,
    forSeconds: 30,
    keepFiringSeconds: 360,
    severity: 'page',
    summary: '{{ $value }} writes of {{ $labels.instance }} wait for PostgreSQL, usually for a standby',
    heading: 'No standby confirms writes',
  },
  PetstoreBackgroundJobFails: {
    note: 'These tasks run at least every 10 seconds. If one fails and the others work, a session usually locks its tables.',
    expr: (limit) => lines(`time() - ${LAST_SUCCESS}${tasks(FREQUENT_TASKS)} > ${limit}`, UNLESS_UNREACHABLE),
    limit: 60,
    forSeconds: 60,
    severity: 'page',
    summary:
      'The job "{{ $labels.task }}" of {{ $labels.instance }} has failed for {{ $value | humanizeDuration }}',
    heading: 'Background jobs fail',
  },
  PetstoreReplicationNotProtecting: {
    note: 'Standbys are connected, but no write waits for one; or the loss of one more standby stops writes.',
    expr: () =>
      lines(
        `(${standbys('connected')} <= ${standbys('required')}`,
        `and ${standbys('required')} > 0)`,
        `or (${standbys('required')} == 0`,
        `and ${standbys('connected')} > 0)`,
      ),
    forSeconds: 120,
    severity: 'ticket',
    summary: 'PostgreSQL has no spare standby, or its standbys are asynchronous',
    heading: 'A standby is lost',
  },
  PetstoreFeedLate: {
    expr: (limit) => `min by (job) (petstore_events_unnumbered_seconds) > ${limit}`,
    limit: 10,
    forSeconds: 60,
    severity: 'page',
    summary: 'The oldest change without an event is {{ $value | humanizeDuration }} old',
    heading: 'Events or webhooks are late',
  },
  PetstoreWebhookLate: {
    expr: (limit) => `petstore_webhook_lag_seconds > ${limit}`,
    limit: 300,
    forSeconds: 300,
    severity: 'ticket',
    summary: 'Webhook {{ $labels.webhook }} is {{ $value | humanizeDuration }} behind',
    heading: 'Events or webhooks are late',
  },
  PetstoreHoldsNotSwept: {
    expr: (limit) => `min by (job) (petstore_hold_overdue_seconds) > ${limit}`,
    limit: 10,
    forSeconds: 60,
    severity: 'page',
    summary: 'A hold expired {{ $value | humanizeDuration }} ago, and its pet is still on hold',
    heading: 'Expired holds are not swept',
  },
  PetstoreApiKeyExpires: {
    expr: (limit) => lines(`${KEY_EXPIRY} > 0`, `and ${KEY_EXPIRY} - time() < ${limit}`),
    limit: KEY_EXPIRY_DAYS * DAY_SECONDS,
    isLowBad: true,
    severity: 'ticket',
    summary: `An API key that a program uses expires within ${KEY_EXPIRY_DAYS} days`,
    heading: 'An API key is about to expire',
  },
  PetstoreCertificateExpires: {
    expr: (limit) =>
      `min by (job) (petstore_database_certificate_expiry_timestamp_seconds) - time() < ${limit}`,
    limit: 21 * DAY_SECONDS,
    isLowBad: true,
    severity: 'ticket',
    summary: 'The certificate of PostgreSQL expires in {{ $value | humanizeDuration }}',
    heading: 'The certificate of PostgreSQL expires',
  },
  PetstoreMemoryHigh: {
    note: 'The limit of the unit is 512 MB. Under overload, a process used at most 240 MB.',
    expr: (limit) => `process_resident_memory_bytes{${PROCESSES}} > ${limit}`,
    limit: 400e6,
    forSeconds: 300,
    severity: 'ticket',
    summary: '{{ $labels.job }} {{ $labels.instance }} uses {{ $value | humanize1024 }}B',
    heading: 'A process uses much memory',
  },
  PetstoreArchivingFails: {
    expr: (limit) => `max by (job) (petstore_wal_archiving_failing) > ${limit}`,
    limit: 0,
    forSeconds: 300,
    severity: 'ticket',
    summary: 'PostgreSQL cannot archive WAL: backups lack newer writes, and the disk fills',
    heading: 'WAL is not archived',
  },
  PetstoreRestoreNotProven: {
    expr: (limit) =>
      lines(
        `time() - max by (job) (petstore_restore_proven_timestamp_seconds) > ${limit}`,
        'or max by (job) (petstore_restore_check_failed) == 1',
      ),
    limit: PROVEN_DAYS * DAY_SECONDS,
    forSeconds: 300,
    severity: 'ticket',
    summary: `No backup was restored and verified for ${PROVEN_DAYS} days, or the newest check failed`,
    heading: 'No backup was proven',
  },
  PetstoreRemovalNear: {
    expr: (limit) =>
      lines(
        `max by (operation) (petstore_removal_timestamp_seconds) - time() < ${limit}`,
        'and on (operation) max by (operation) (max_over_time(petstore_deprecated_calls_today[1d])) > 0',
      ),
    limit: 90 * DAY_SECONDS,
    isLowBad: true,
    severity: 'ticket',
    summary:
      '{{ $labels.operation }} is removed in {{ $value | humanizeDuration }}, and programs still call it',
    heading: 'An operation is removed soon',
  },
} satisfies Record<string, Alert>

export type AlertName = keyof typeof ALERTS

export const ALERT_NAMES = Object.keys(ALERTS) as AlertName[]

export const alertOf = (name: AlertName): Alert => ALERTS[name]

/** Whether a value meets the condition. An alert without a limit has values only while its condition is true. */
export function isBeyond(alert: AlertName, value: number): boolean {
  const { limit, isLowBad } = alertOf(alert)
  return limit === undefined || (isLowBad ? value < limit : value > limit)
}

/** The anchor of a heading, by the rules of GitHub. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}

/** The page and the anchor of a heading in the runbook. */
export const runbookEntry = (heading: string) => `docs/runbook.md#${anchorOf(heading)}`

// The dashboard of PostgreSQL, as the instances see it: connections, statements, replication and background jobs.
import { MappingType, type ValueMap } from '@grafana/grafana-foundation-sdk/dashboard'
import { OpsPerSecond, Seconds, Short } from '@grafana/grafana-foundation-sdk/units'
import { ALERTS, DAY_SECONDS, FREQUENT_TASKS, READING_TASKS } from '../../src/telemetry/alerts.ts'
import type { DashboardSpec } from './dashboard.ts'
import { aboveZero, largest, of, quantile, rate, sumBy } from './expressions.ts'
import { stat, timeSeries } from './panels.ts'

const SHOWN_MAX = 8
const QUERIES = 'petstore_query_seconds'

const connections = (state: string) => of('petstore_database_connections', `state="${state}"`)
const standbys = (state: string) => `max(${of('petstore_replication_standbys', `state="${state}"`)})`
const lastSuccess = (tasks: readonly string[]) =>
  of('petstore_background_last_success_timestamp_seconds', `task=~"${tasks.join('|')}"`)
const sinceSuccess = (tasks: readonly string[]) => `time() - ${lastSuccess(tasks)}`
/** As in the alert: of both tasks, the one that succeeded last. */
const SINCE_READ = `time() - max by (job, instance) (${lastSuccess(READING_TASKS)})`
/** 1 if PostgreSQL has no spare standby, or if its standbys are asynchronous. 2 if writes wait. 0 without standbys. */
const NOT_PROTECTING = `(${standbys('connected')} <= bool ${standbys('required')}) * (${standbys('required')} > bool 0)
+ (${standbys('required')} == bool 0) * (${standbys('connected')} > bool 0)
+ (${standbys('connected')} < bool ${standbys('required')})`

const replicationText: ValueMap = {
  type: MappingType.ValueToText,
  options: {
    0: { text: 'ok', color: 'green' },
    1: { text: 'not protected', color: 'red' },
    2: { text: 'writes wait', color: 'red' },
  },
}

const top = [
  stat({
    title: 'Last read',
    shows: 'How long ago an instance last read from PostgreSQL. Each one does it every 10 seconds.',
    good: 'below 12 s.',
    alert: 'PetstoreDatabaseUnreachable',
    unit: Seconds,
    decimals: 1,
    width: 4,
    none: 'no instance',
    limits: { warn: 15 },
    queries: [{ expr: `max(${SINCE_READ})`, legend: 'ago' }],
  }),
  stat({
    title: 'Unacknowledged writes',
    shows: 'Writes that PostgreSQL does not confirm, usually because no standby does.',
    good: '0.',
    alert: 'PetstoreWritesStalled',
    unit: Short,
    width: 4,
    limits: { bad: 1 },
    queries: [{ expr: `sum(${connections('unacknowledged')})`, legend: 'writes' }],
  }),
  stat({
    title: 'Waiting for a connection',
    shows: 'Requests that wait for a connection to PostgreSQL.',
    good: '0, except for moments.',
    entry: 'Responses are slow',
    unit: Short,
    width: 4,
    limits: { warn: 1 },
    queries: [{ expr: `sum(${connections('waiting')})`, legend: 'requests' }],
  }),
  stat({
    title: 'Statements, p99',
    shows: 'The time from sending a statement to its result, for 99 % of the statements.',
    good: 'the usual value, some milliseconds.',
    entry: 'Responses are slow',
    unit: Seconds,
    width: 4,
    none: 'no statements',
    limits: { warn: 0.1, bad: 0.5 },
    queries: [{ expr: quantile(0.99, QUERIES), legend: 'p99' }],
  }),
  stat({
    title: 'Replication',
    shows:
      'Whether one more lost standby would stop writes, or a lost primary lose them. A single server is "ok".',
    good: 'ok.',
    alert: 'PetstoreReplicationNotProtecting',
    unit: Short,
    width: 4,
    mappings: [replicationText],
    limits: { bad: 1 },
    queries: [{ expr: NOT_PROTECTING, legend: 'replication' }],
  }),
  stat({
    title: 'Certificate expires in',
    shows: 'The time until the certificate of PostgreSQL expires.',
    good: `more than ${ALERTS.PetstoreCertificateExpires.limit / DAY_SECONDS} days.`,
    alert: 'PetstoreCertificateExpires',
    unit: Seconds,
    width: 4,
    none: 'no TLS',
    limits: {},
    queries: [
      {
        expr: `min(${of('petstore_database_certificate_expiry_timestamp_seconds')}) - time()`,
        legend: 'expires in',
      },
    ],
  }),
]

const pool = [
  timeSeries({
    title: 'Connections',
    shows:
      'Open connections of all instances, and those of them that are idle. DATABASE_POOL_SIZE is the limit of an instance.',
    good: 'some connections are idle.',
    entry: 'Responses are slow',
    unit: Short,
    width: 8,
    queries: [
      { expr: `sum(${connections('total')})`, legend: 'total' },
      { expr: `sum(${connections('idle')})`, legend: 'idle' },
    ],
  }),
  timeSeries({
    title: 'Waiting requests and unacknowledged writes',
    shows: 'Requests that wait for a connection, and writes without a response from PostgreSQL.',
    good: 'both 0. Both at once: writes hold their connections, because no standby confirms them.',
    alert: 'PetstoreWritesStalled',
    unit: Short,
    width: 8,
    queries: [
      { expr: `sum(${connections('waiting')})`, legend: 'waiting' },
      { expr: `sum(${connections('unacknowledged')})`, legend: 'unacknowledged' },
    ],
  }),
  timeSeries({
    title: 'Wait for a connection, p99',
    shows: 'How long reads and writes wait for a connection.',
    good: 'a few milliseconds. If it grows while statements are fast, there are too few connections.',
    entry: 'Responses are slow',
    unit: Seconds,
    width: 8,
    queries: [{ expr: quantile(0.99, 'petstore_database_wait_seconds', { by: 'kind' }), legend: '{{kind}}' }],
  }),
]

const statements = [
  timeSeries({
    title: 'Time in PostgreSQL, by statement',
    shows:
      'The statements that keep the most connections busy. 1 s of time per second is one connection in use all the time.',
    good: 'no statement stands out. A new one at the top is the cause of slow responses.',
    entry: 'Responses are slow',
    unit: Short,
    width: 12,
    queries: [
      {
        expr: largest(SHOWN_MAX, 'statement', (window) =>
          sumBy('statement', rate(`${QUERIES}_sum`, '', window)),
        ),
        legend: '{{statement}}',
      },
    ],
  }),
  timeSeries({
    title: 'p99 time, by statement',
    shows:
      'The slowest statements. One slow statement: a lock or a missing index. All slow: the disk or the CPU of PostgreSQL.',
    good: 'the usual values, some milliseconds.',
    entry: 'Responses are slow',
    unit: Seconds,
    width: 12,
    queries: [
      {
        expr: largest(SHOWN_MAX, 'statement', (window) =>
          quantile(0.99, QUERIES, { by: 'statement', ...(window && { window }) }),
        ),
        legend: '{{statement}}',
      },
    ],
  }),
  timeSeries({
    title: 'Statements per second',
    shows: 'How many statements the instances send, with those of background jobs.',
    good: 'the usual shape.',
    entry: 'Responses are slow',
    unit: OpsPerSecond,
    width: 12,
    queries: [{ expr: `sum(${rate(`${QUERIES}_count`)})`, legend: 'statements' }],
  }),
  timeSeries({
    title: 'Commit time',
    shows: 'How long commits take. With synchronous replication, a commit waits for the disk of a standby.',
    good: 'some milliseconds. A long commit usually waits for a standby.',
    entry: 'No standby confirms writes',
    unit: Seconds,
    width: 12,
    queries: [0.5, 0.99].map((share) => ({
      expr: quantile(share, QUERIES, { conditions: 'statement="commit"' }),
      legend: `p${share * 100}`,
    })),
  }),
]

const background = [
  timeSeries({
    title: 'Standbys',
    shows: 'Connected standbys of PostgreSQL, and how many of them must confirm a write.',
    good: 'more connected than required. Both are 0 for a single server.',
    alert: 'PetstoreReplicationNotProtecting',
    unit: Short,
    width: 6,
    queries: [
      { expr: standbys('connected'), legend: 'connected' },
      { expr: standbys('required'), legend: 'required' },
    ],
  }),
  timeSeries({
    title: 'Time since the last success of background jobs',
    shows: 'The jobs that run at least every 10 seconds, on the process that is furthest behind.',
    good: 'below 12 s. All jobs growing: PostgreSQL is unreachable. One job growing: a session locks its tables.',
    alert: 'PetstoreBackgroundJobFails',
    unit: Seconds,
    width: 6,
    softMax: 65,
    limits: {},
    queries: [{ expr: `max by (task) (${sinceSuccess(FREQUENT_TASKS)})`, legend: '{{task}}' }],
  }),
  timeSeries({
    title: 'Failed runs of background jobs in 5 minutes',
    shows: 'The jobs that failed. The log has the cause.',
    good: '0.',
    entry: 'Background jobs fail',
    unit: Short,
    width: 6,
    queries: [
      {
        expr: aboveZero('task', sumBy('task', `increase(${of('petstore_background_failures_total')}[5m])`)),
        legend: '{{task}}',
      },
    ],
  }),
  timeSeries({
    title: 'Hosts that cannot be asked, in 5 minutes',
    shows:
      'Failed attempts to ask each host of DATABASE_URL whether it is the primary. With a single host, there are none.',
    good: '0. The log has the reason, for example a wrong password.',
    entry: 'PostgreSQL is unreachable',
    unit: Short,
    width: 6,
    queries: [
      {
        expr: aboveZero(
          'host',
          sumBy('host', `increase(${of('petstore_database_host_failures_total')}[5m])`),
        ),
        legend: '{{host}}',
      },
    ],
  }),
]

export const POSTGRESQL: DashboardSpec = {
  name: 'postgresql',
  title: 'Petstore: PostgreSQL',
  description:
    'Is PostgreSQL the cause? Connections, statements, replication and background jobs, as the instances see them.',
  top,
  rows: [
    { title: 'Connections', panels: pool },
    { title: 'Statements', panels: statements },
    { title: 'Replication and background jobs', panels: background },
  ],
}

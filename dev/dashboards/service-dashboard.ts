// The dashboard of the processes: requests, errors, latency and what limits them. Open this one first.
import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common'
import {
  BytesIEC,
  BytesSI,
  CountsPerSecond,
  PercentUnit,
  RequestsPerSecond,
  Seconds,
  Short,
} from '@grafana/grafana-foundation-sdk/units'
import {
  CPU_MAX,
  EVENT_LOOP_LAG_MAX_SECONDS,
  FAILED_SHARE_GOAL,
  SLOW_SECONDS,
} from '../../src/telemetry/alerts.ts'
import type { DashboardSpec } from './dashboard.ts'
import { of, quantile, rate, sumBy } from './expressions.ts'
import { stat, timeSeries } from './panels.ts'

const REQUESTS = 'petstore_http_request_seconds'
const MEMORY_MEASURED_BYTES = 240e6

/** Without requests, there is no share. */
const shareOfRequests = (requests: string, window: string) =>
  `(sum(${requests}) or vector(0)) / (sum(${rate(`${REQUESTS}_count`, '', window)}) > 0)`
const failed = (window: string) => shareOfRequests(rate(`${REQUESTS}_count`, 'status=~"5.."', window), window)
const fast = (window: string) =>
  shareOfRequests(rate(`${REQUESTS}_bucket`, `le="${SLOW_SECONDS}"`, window), window)
/** A code has no series before its first error. */
const errorsWith = (code: string) => ({
  expr: `sum(${rate('petstore_errors_total', `code="${code}"`)}) or vector(0)`,
  legend: code,
})

const top = [
  stat({
    title: 'Firing alerts',
    shows: 'The alerts of Petstore that fire now. They do not depend on the chosen instances.',
    good: 'none.',
    entry: 'Alerts',
    unit: Short,
    width: 5,
    text: BigValueTextMode.Name,
    none: 'none',
    limits: { bad: 1 },
    queries: [
      {
        expr: 'sum by (alertname) (ALERTS{alertname=~"Petstore.*", alertstate="firing"})',
        legend: '{{alertname}}',
      },
    ],
  }),
  stat({
    title: 'Processes down',
    shows: 'Processes that Prometheus cannot read.',
    good: '0.',
    alert: 'PetstoreDown',
    unit: Short,
    width: 3,
    limits: { bad: 1 },
    queries: [{ expr: `sum(1 - ${of('up')})`, legend: 'down' }],
  }),
  stat({
    title: 'Requests',
    shows: 'Requests per second to all chosen instances.',
    good: 'the usual value for this time of day.',
    entry: 'First look',
    unit: RequestsPerSecond,
    width: 4,
    queries: [{ expr: `sum(${rate(`${REQUESTS}_count`)})`, legend: 'requests' }],
  }),
  stat({
    title: 'Failed in 5 minutes',
    shows: 'The share of the requests of the last 5 minutes that got a 5xx response.',
    good: 'below 0.1 %, the goal.',
    alert: 'PetstoreRequestsFail',
    unit: PercentUnit,
    decimals: 2,
    width: 4,
    none: 'no requests',
    limits: { warn: FAILED_SHARE_GOAL },
    queries: [{ expr: failed('5m'), legend: 'failed' }],
  }),
  stat({
    title: 'Slow in 5 minutes',
    shows: `The share of the requests of the last 5 minutes that took longer than ${SLOW_SECONDS} s.`,
    good: 'below 1 %, the goal.',
    alert: 'PetstoreSlow',
    unit: PercentUnit,
    decimals: 2,
    width: 4,
    none: 'no requests',
    limits: { warn: 0.01 },
    queries: [{ expr: `clamp_min(1 - ${fast('5m')}, 0)`, legend: 'slow' }],
  }),
  stat({
    title: 'Versions',
    shows: 'The versions that run, and the number of processes with each.',
    good: 'one version, except during an upgrade.',
    entry: 'An instance is down',
    unit: Short,
    width: 4,
    text: BigValueTextMode.ValueAndName,
    none: 'no process',
    queries: [{ expr: `count by (version) (${of('petstore_build_info')})`, legend: '{{version}}' }],
  }),
]

const clients = [
  timeSeries({
    title: 'Requests per second, by operation',
    shows:
      'How many requests clients send. "none" are requests that no operation handled, or that were rejected at once.',
    good: 'the usual shape. A sudden drop to 0 means that requests do not arrive.',
    entry: 'First look',
    unit: RequestsPerSecond,
    width: 12,
    queries: [{ expr: sumBy('operation', rate(`${REQUESTS}_count`)), legend: '{{operation}}' }],
  }),
  timeSeries({
    title: 'Errors per second, by code',
    shows:
      'Error responses by code. The codes with a 5xx status are unavailable, outcome_unknown, overloaded and internal_error.',
    good: 'only codes of wrong requests, such as pet_not_found, at their usual rate.',
    entry: 'Requests fail',
    unit: CountsPerSecond,
    width: 12,
    queries: [{ expr: sumBy('code', rate('petstore_errors_total')), legend: '{{code}}' }],
  }),
  timeSeries({
    title: 'Failed requests',
    shows:
      'The share of the requests that got a 5xx response. The lines are the goal and the limit of the alert.',
    good: 'below the orange line.',
    alert: 'PetstoreRequestsFail',
    unit: PercentUnit,
    width: 8,
    softMax: 0.02,
    limits: { warn: FAILED_SHARE_GOAL },
    queries: [{ expr: failed('$__rate_interval'), legend: 'failed' }],
  }),
  timeSeries({
    title: 'Latency of all requests',
    shows: 'Half, 95 % and 99 % of the requests were faster than these lines.',
    good: `p99 below ${SLOW_SECONDS} s.`,
    entry: 'Responses are slow',
    unit: Seconds,
    width: 8,
    limits: { bad: SLOW_SECONDS },
    queries: [0.5, 0.95, 0.99].map((share) => ({
      expr: quantile(share, REQUESTS),
      legend: `p${share * 100}`,
    })),
  }),
  timeSeries({
    title: 'p99 latency, by operation',
    shows:
      'Which operation is slow. If all are, look at the process below, and at the dashboard of PostgreSQL.',
    good: `below ${SLOW_SECONDS} s.`,
    entry: 'Responses are slow',
    unit: Seconds,
    width: 8,
    limits: { bad: SLOW_SECONDS },
    queries: [{ expr: quantile(0.99, REQUESTS, { by: 'operation' }), legend: '{{operation}}' }],
  }),
]

const processes = [
  timeSeries({
    title: 'CPU',
    shows: 'CPU time of each process. A process uses about one core at most.',
    good: `below ${CPU_MAX * 100} % of a core. Above it, add a process.`,
    entry: 'Too many requests',
    unit: PercentUnit,
    width: 8,
    softMax: 1,
    limits: { bad: CPU_MAX },
    queries: [{ expr: rate('process_cpu_seconds_total'), legend: '{{instance}}' }],
  }),
  timeSeries({
    title: 'Event loop lag, p99',
    shows: 'How late a process runs its work. It grows if the process gets too little CPU time.',
    good: `below ${EVENT_LOOP_LAG_MAX_SECONDS} s.`,
    entry: 'Responses are slow',
    unit: Seconds,
    width: 8,
    softMax: 0.12,
    limits: { bad: EVENT_LOOP_LAG_MAX_SECONDS },
    queries: [{ expr: of('nodejs_eventloop_lag_p99_seconds'), legend: '{{instance}}' }],
  }),
  timeSeries({
    title: 'Memory',
    shows:
      'Memory of each process, and the part of it that is the heap. The system ends a process at 512 MB.',
    good: 'below 240 MB, the highest value under overload, and not growing for hours.',
    alert: 'PetstoreMemoryHigh',
    unit: BytesSI,
    width: 8,
    limits: { warn: MEMORY_MEASURED_BYTES },
    queries: [
      { expr: of('process_resident_memory_bytes'), legend: '{{instance}}' },
      { expr: of('nodejs_heap_size_used_bytes'), legend: '{{instance}} heap' },
    ],
  }),
  timeSeries({
    title: 'Rejected because of load',
    shows:
      'overloaded: a process had too many requests in flight. rate_limited: a caller was above its own limit.',
    good: '0. Some rate_limited are normal if a key has a limit.',
    entry: 'Too many requests',
    unit: CountsPerSecond,
    width: 8,
    queries: [errorsWith('overloaded'), errorsWith('rate_limited')],
  }),
  timeSeries({
    title: 'Open event streams',
    shows:
      'Clients that follow the events, for each instance. EVENT_STREAMS_MAX is the limit, 1000 by default.',
    good: 'below the limit, and spread over the instances.',
    entry: 'Too many requests',
    unit: Short,
    width: 8,
    queries: [{ expr: of('petstore_event_streams'), legend: '{{instance}}' }],
  }),
  timeSeries({
    title: 'Open files',
    shows: 'Open files and connections of each process.',
    good: 'follows the number of clients. If it grows with the memory, clients do not read their responses.',
    entry: 'A process uses much memory',
    unit: Short,
    width: 8,
    queries: [{ expr: of('process_open_fds'), legend: '{{instance}}' }],
  }),
  timeSeries({
    title: 'Starts in the last 15 minutes',
    shows: 'How often each process started again.',
    good: '0, and 1 after an upgrade.',
    alert: 'PetstoreRestarts',
    unit: Short,
    width: 8,
    softMax: 4,
    limits: {},
    queries: [{ expr: `changes(${of('process_start_time_seconds')}[15m])`, legend: '{{instance}}' }],
  }),
  timeSeries({
    title: 'Large responses in memory',
    shows: 'Responses that clients have not read yet. At 64 MiB, further large ones get 503 overloaded.',
    good: 'near 0. A client that reads slowly keeps its responses in memory.',
    entry: 'Too many requests',
    unit: BytesIEC,
    width: 8,
    queries: [{ expr: of('petstore_large_response_bytes'), legend: '{{instance}}' }],
  }),
  timeSeries({
    title: 'Dropped log lines per second',
    shows: 'Log lines that were lost because the log could not be written: the log does not show everything.',
    good: '0.',
    entry: 'An instance is down',
    unit: CountsPerSecond,
    width: 8,
    queries: [{ expr: rate('petstore_log_lines_dropped_total'), legend: '{{instance}}' }],
  }),
]

export const SERVICE: DashboardSpec = {
  name: 'service',
  title: 'Petstore: service',
  description:
    'Do requests work, how fast are they, and does each process keep up? Open this dashboard first.',
  top,
  rows: [
    { title: 'What clients get', panels: clients },
    { title: 'What limits a process', panels: processes },
  ],
}

// Metrics as the processes of Petstore write them, for the tests of `petstore doctor --url` that need no service.
import type { Registry } from 'prom-client'
import type { ProcessState } from '../../src/cli/doctor/processes.ts'
import { type DeliveryCounts, openDeliveryMetrics } from '../../src/events/delivery/metrics.ts'
import { openServiceMetrics } from '../../src/server/store-metrics/store-metrics.ts'
import { REMOVALS } from '../../src/store/pets/deprecation.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { parseMetrics } from '../../src/telemetry/scraping/metrics.ts'
import { ratesOf } from '../../src/telemetry/scraping/rates.ts'

export const STORE = {
  holds: 12,
  holdsExpiring: 3,
  overdueSeconds: 0,
  nextKeyExpiry: null,
  deprecatedCalls: {},
  replication: { connected: 2, required: 1 },
  isArchivingFailing: false,
}

/** The metrics of a `petstore serve` process. */
export function openServeMetrics() {
  const connections = { total: 10, idle: 7, waiting: 0, unacknowledged: 0 }
  const metrics = openServiceMetrics({ connections: () => connections }, openLog('silent'), REMOVALS)
  metrics.observeStore(STORE)
  metrics.observeFeed({ head: 1_000n, unnumberedSeconds: null })
  return { ...metrics, connections }
}

/** The metrics of a `petstore deliver` process. */
export function openDeliverMetrics() {
  const state: DeliveryCounts & { lagSeconds: Map<bigint, number> } = {
    enabled: 5,
    disabled: 1,
    failing: 0,
    lagSeconds: new Map([[7n, 0]]),
    inFlight: 2,
    memoryBytes: { messages: 512, sending: 4_096, events: 1_024 },
  }
  return { ...openDeliveryMetrics(() => state), state }
}

/** The test process has other values, some of which would be problems. */
const OF_PROCESS: Record<string, number> = {
  process_start_time_seconds: 1_790_000_000,
  process_cpu_seconds_total: 60,
  process_resident_memory_bytes: 180e6,
  process_open_fds: 87,
  nodejs_eventloop_lag_p99_seconds: 0.012,
}

interface Written {
  registry: Pick<Registry, 'getMetricsAsJSON'>
}

/** What `/metrics` returns as JSON. `changed` replaces values of the process, such as its start time. */
export async function metricsText(
  { registry }: Written,
  changed: Record<string, number> = {},
): Promise<string> {
  const values = { ...OF_PROCESS, ...changed }
  const metrics = await registry.getMetricsAsJSON()
  return JSON.stringify(
    metrics.map((metric) =>
      metric.name in values ? { ...metric, values: [{ labels: {}, value: values[metric.name] }] } : metric,
    ),
  )
}

/** The state of a process after two scrapes, a second apart. `work` happens between them; `changed` is for the second one. */
export async function scrapeTwice(
  written: Written,
  work: () => void = () => {},
  changed: Record<string, number> = {},
): Promise<ProcessState> {
  const before = parseMetrics(await metricsText(written))
  work()
  const metrics = parseMetrics(await metricsText(written, changed))
  return { name: '127.0.0.1:9091', metrics, rates: ratesOf(before, metrics, 1) }
}

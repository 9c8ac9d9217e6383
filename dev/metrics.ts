// The metrics of each process, as the code declares them, without those of every Node program.
import type { Registry } from 'prom-client'
import { openDeliveryMetrics } from '../src/events/delivery/metrics.ts'
import { openServiceMetrics } from '../src/server/store-metrics/store-metrics.ts'
import { REMOVALS } from '../src/store/pets/deprecation.ts'
import { openLog } from '../src/telemetry/log.ts'

export interface Metric {
  name: string
  type: string
  labelNames: string[]
  help: string
}

export function serviceMetrics(): Metric[] {
  const connections = () => ({ total: 0, idle: 0, waiting: 0, unacknowledged: 0 })
  const metrics = openServiceMetrics({ connections }, openLog('silent'), REMOVALS)
  // The service registers these metrics when it has read their values.
  metrics.observeRestores({ provenAt: null, isNewestProven: null })
  return metricsOf(metrics.registry)
}

export function deliveryMetrics(): Metric[] {
  const lagSeconds = new Map<bigint, number>()
  const memoryBytes = { messages: 0, sending: 0, events: 0 }
  const counts = { enabled: 0, disabled: 0, failing: 0, lagSeconds, inFlight: 0, memoryBytes }
  return metricsOf(openDeliveryMetrics(() => counts).registry)
}

function metricsOf(registry: Registry): Metric[] {
  const declared = registry.getMetricsAsArray() as unknown as Metric[]
  return declared.filter(({ name }) => name.startsWith('petstore_'))
}

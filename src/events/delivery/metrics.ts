// Metrics of `petstore deliver`, in the Prometheus format.
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { addBuildInfo } from '../../telemetry/build-info.ts'
import { addJobMetrics, type JobObserver } from '../../telemetry/job-metrics.ts'
import { MEMORY_MAX_BYTES, type MemoryLimits } from './memory.ts'

export interface DeliveryCounts {
  enabled: number
  disabled: number
  failing: number
  lagSeconds: ReadonlyMap<bigint, number>
  inFlight: number
  memoryBytes: MemoryLimits
}

export interface DeliveryMetrics {
  registry: Registry
  observe: (outcome: string, durationMs: number) => void
  /** For `startBackground`. */
  jobs: JobObserver
}

/** @param stateOf Called when the metrics are read. */
export function openDeliveryMetrics(stateOf: () => DeliveryCounts): DeliveryMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  addBuildInfo(registry)
  const registers = [registry]

  const attempts = new Histogram({
    name: 'petstore_webhook_attempt_seconds',
    help: 'Duration of the attempts to deliver a message: delivered, failed, given_up or skipped.',
    labelNames: ['outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  })
  const webhooks: Gauge = new Gauge({
    name: 'petstore_webhooks',
    help: 'Webhooks of the store: enabled and disabled; failing: the receiver fails, counted by the process that delivers.',
    labelNames: ['state'],
    registers,
    collect() {
      const { enabled, disabled, failing } = stateOf()
      for (const [state, count] of Object.entries({ enabled, disabled, failing })) {
        webhooks.set({ state }, count)
      }
    },
  })
  const lag: Gauge = new Gauge({
    name: 'petstore_webhook_lag_seconds',
    help: 'Age of the oldest event that a webhook of this process has not received; 0 if it has received all. The label is the id of the webhook.',
    labelNames: ['webhook'],
    registers,
    collect() {
      lag.reset()
      for (const [webhook, seconds] of stateOf().lagSeconds) lag.set({ webhook: String(webhook) }, seconds)
    },
  })
  const inFlight: Gauge = new Gauge({
    name: 'petstore_webhook_attempts_in_flight',
    help: 'Attempts in flight.',
    registers,
    collect() {
      inFlight.set(stateOf().inFlight)
    },
  })
  addMemoryMetrics(registry, stateOf)

  return {
    registry,
    observe: (outcome, durationMs) => attempts.observe({ outcome }, durationMs / 1_000),
    jobs: addJobMetrics(registry),
  }
}

function addMemoryMetrics(registry: Registry, stateOf: () => DeliveryCounts): void {
  const registers = [registry]
  const used: Gauge = new Gauge({
    name: 'petstore_webhook_memory_bytes',
    help: 'Memory of this process for the delivery: waiting messages, the texts that are being sent, and the events that were read.',
    labelNames: ['part'],
    registers,
    collect() {
      for (const [part, bytes] of Object.entries(stateOf().memoryBytes)) used.set({ part }, bytes)
    },
  })
  new Gauge({
    name: 'petstore_webhook_memory_max_bytes',
    help: 'Max of the sum of `petstore_webhook_memory_bytes`.',
    registers,
  }).set(MEMORY_MAX_BYTES)
}

// Metrics of background jobs: when each of them last succeeded, and how often it failed. The label is not `job`, because
// Prometheus adds a label of that name to every metric.
import { Counter, Gauge, type Registry } from 'prom-client'

export interface JobObserver {
  onStart: (job: string) => void
  onSuccess: (job: string) => void
  onFailure: (job: string) => void
}

export function addJobMetrics(registry: Registry): JobObserver {
  const registers = [registry]
  const succeeded = new Gauge({
    name: 'petstore_background_last_success_timestamp_seconds',
    help: 'When a background job last succeeded, in seconds since 1970; before that, when it was started.',
    labelNames: ['task'],
    registers,
  })
  const failures = new Counter({
    name: 'petstore_background_failures_total',
    help: 'Failed runs of background jobs.',
    labelNames: ['task'],
    registers,
  })
  const setTime = (task: string) => succeeded.set({ task }, Date.now() / 1_000)
  return {
    // Without a value, nothing would show that a job has never succeeded.
    onStart: setTime,
    onSuccess: setTime,
    onFailure: (task) => failures.inc({ task }),
  }
}

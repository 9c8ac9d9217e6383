// Metrics of background jobs: when each of them last succeeded, and how often it failed.
import { Counter, Gauge, type Registry } from 'prom-client'

export interface JobObserver {
  onSuccess: (job: string) => void
  onFailure: (job: string) => void
}

export function addJobMetrics(registry: Registry): JobObserver {
  const registers = [registry]
  const succeeded = new Gauge({
    name: 'petstore_job_last_success_timestamp_seconds',
    help: 'When a background job last succeeded, in seconds since 1970.',
    labelNames: ['job'],
    registers,
  })
  const failures = new Counter({
    name: 'petstore_job_failures_total',
    help: 'Failed runs of background jobs.',
    labelNames: ['job'],
    registers,
  })
  return {
    onSuccess: (job) => succeeded.set({ job }, Date.now() / 1_000),
    onFailure: (job) => failures.inc({ job }),
  }
}

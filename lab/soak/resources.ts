// Reads the metrics of both instances every few seconds: memory, open files, handles and connections to PostgreSQL.
import { type Metrics, valueOf } from '../../src/telemetry/scraping/metrics.ts'
import { scrape } from '../../src/telemetry/scraping/scrape.ts'
import { repeat } from '../parts/repeat.ts'

const SAMPLED_EVERY_MS = 5_000
const BYTES_PER_MB = 1e6

/** The metrics that are read, as the service names them. */
const METRICS = {
  memoryMb: ['process_resident_memory_bytes'],
  heapMb: ['nodejs_heap_size_used_bytes'],
  openFiles: ['process_open_fds'],
  handles: ['nodejs_active_handles_total'],
  connections: ['petstore_database_connections', { state: 'total' }],
} as const

export type Resource = keyof typeof METRICS
export const RESOURCES = Object.keys(METRICS) as Resource[]

export interface ResourceSample extends Record<Resource, number> {
  /** 0 or 1. */
  instance: number
  /** Seconds since the load began. */
  second: number
}

export interface ResourceSampler {
  samples: () => ResourceSample[]
  stop: () => Promise<void>
}

export function startResourceSampler(adminUrls: readonly string[]): ResourceSampler {
  const startedAt = performance.now()
  const samples: ResourceSample[] = []
  const stop = repeat(SAMPLED_EVERY_MS, async () => {
    const second = (performance.now() - startedAt) / 1000
    // An instance that returns no metrics in time has no sample.
    const scraped = await Promise.all(adminUrls.map((url) => scrape(new URL(url)).catch(() => undefined)))
    for (const [instance, metrics] of scraped.entries()) {
      if (metrics !== undefined) samples.push({ instance, second, ...resourcesOf(metrics) })
    }
  })
  return { samples: () => [...samples], stop }
}

/** Throws if the service does not expose one of the metrics. */
export function resourcesOf(metrics: Metrics): Record<Resource, number> {
  const values = RESOURCES.map((resource): [Resource, number] => {
    const [name, selector] = METRICS[resource]
    const found = valueOf(metrics, name, selector)
    if (found === undefined) throw new Error(`The service has no metric for ${resource}.`)
    return [resource, found / (resource.endsWith('Mb') ? BYTES_PER_MB : 1)]
  })
  return Object.fromEntries(values) as Record<Resource, number>
}

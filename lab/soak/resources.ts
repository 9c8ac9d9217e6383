// Reads the metrics of both instances every few seconds: memory, open files, handles and connections to PostgreSQL.
import { valueOf } from '../../src/cli/top/gauges.ts'
import { parseMetrics as parseJson } from '../../src/cli/top/metrics.ts'
import { repeat } from '../parts/repeat.ts'

const SAMPLED_EVERY_MS = 5_000
const REQUEST_TIMEOUT_MS = 2_000
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
    const texts = await Promise.all(adminUrls.map(readMetrics))
    for (const [instance, text] of texts.entries()) {
      if (text !== undefined) samples.push({ instance, second, ...parseMetrics(text) })
    }
  })
  return { samples: () => [...samples], stop }
}

/** Undefined if the instance returns no metrics in time. */
async function readMetrics(adminUrl: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${adminUrl}/metrics`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    return response.ok ? await response.text() : undefined
  } catch {
    return undefined
  }
}

/** Throws if the service does not expose one of the metrics. */
export function parseMetrics(text: string): Record<Resource, number> {
  const metrics = parseJson(text)
  const values = RESOURCES.map((resource): [Resource, number] => {
    const [name, selector] = METRICS[resource]
    const found = valueOf(metrics, name, selector)
    if (found === undefined) throw new Error(`The service has no metric for ${resource}.`)
    return [resource, found / (resource.endsWith('Mb') ? BYTES_PER_MB : 1)]
  })
  return Object.fromEntries(values) as Record<Resource, number>
}

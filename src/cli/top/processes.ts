// The processes that `petstore top` watches, with the last two scrapes of each.
import type { Metrics } from './metrics.ts'
import { ratesOf } from './rates.ts'
import { scrape, ScrapeFailure } from './scrape.ts'

/** What is known about one process after a scrape. */
export interface ProcessState {
  /** The origin of its admin port. */
  url: string
  /** Why the process returned no metrics; undefined if it is up. */
  failure?: string | undefined
  metrics?: Metrics | undefined
  /** The metrics of the scrape before; undefined after the first scrape, a failure and a restart. */
  before?: Metrics | undefined
  /** The increase per second of every series between these two scrapes. */
  rates?: Metrics | undefined
  /** The seconds between these two scrapes. */
  seconds?: number | undefined
}

interface Scraped {
  atMs: number
  metrics: Metrics
}

/** Returns a function that reads the metrics of all processes at once. It never throws. */
export function openProcesses(addresses: readonly URL[], signal: AbortSignal): () => Promise<ProcessState[]> {
  const previous = new Map<string, Scraped>()

  async function readOne(address: URL): Promise<ProcessState> {
    const url = address.origin
    const before = previous.get(url)
    // After a failure, the earlier values are too old for rates.
    previous.delete(url)
    try {
      const metrics = await scrape(address, signal)
      const atMs = performance.now()
      previous.set(url, { atMs, metrics })
      if (before === undefined) return { url, metrics }
      const seconds = (atMs - before.atMs) / 1_000
      const rates = ratesOf(before.metrics, metrics, seconds)
      return rates === undefined ? { url, metrics } : { url, metrics, before: before.metrics, rates, seconds }
    } catch (error) {
      if (!(error instanceof ScrapeFailure)) throw error
      return { url, failure: error.message }
    }
  }

  return () => Promise.all(addresses.map(readOne))
}

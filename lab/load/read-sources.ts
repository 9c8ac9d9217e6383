// Counts which servers served the reads of both instances, from their metrics. Only with DATABASE_READ_URL.
import { type Metrics, type Sample } from '../../src/cli/top/metrics.ts'
import { scrape } from '../../src/cli/top/scrape.ts'
import { repeat } from '../parts/repeat.ts'

/** What an instance counts between its last sample and its crash is missing. */
const SAMPLED_EVERY_MS = 500
const READS = 'petstore_reads_total'
const FALLBACKS = 'petstore_read_fallbacks_total'
const UNFENCED = 'petstore_unfenced_reads_total'
const PRIMARY = 'primary'

/** Each read is one statement, which can serve several requests. */
export interface ReadCounts {
  standbys: number
  primary: number
  /** Reads that the primary served instead of a standby, by reason. */
  fallbacks: Record<string, number>
  /** How often a fence timed out. */
  unfenced: number
}

export interface ReadSources {
  /** The counts since the last call. */
  take: () => Promise<ReadCounts>
  /** Returns a function that says whether this many standbys have served a read of each instance since then. */
  watch: (standbys: number) => Promise<() => boolean>
  stop: () => Promise<void>
}

/** @param read Reads the metrics of one instance. */
export function startReadSources(
  adminUrls: readonly string[],
  read: (adminUrl: string) => Promise<Metrics> = (url) => scrape(new URL(url), AbortSignal.any([])),
): ReadSources {
  let counts = emptyCounts()
  let sampling = Promise.resolve()
  const instances = adminUrls.map((url) => ({
    url,
    last: new Map<string, number>(),
    served: new Set<string>(),
  }))

  /** One after the other: an older value that arrives later would look like that of a new process. */
  function sample(): Promise<void> {
    sampling = sampling.then(sampleAll)
    return sampling
  }

  async function sampleAll(): Promise<void> {
    await Promise.all(
      instances.map(async (instance) => {
        // An instance that is starting or frozen has no metrics.
        const metrics = await read(instance.url).catch(() => undefined)
        if (metrics === undefined) return
        for (const { series, labels, name, value } of seriesOf(metrics)) {
          const last = instance.last.get(series) ?? 0
          instance.last.set(series, value)
          // A new process counts from 0.
          const added = value < last ? value : value - last
          if (added > 0) count(instance.served, { name, labels, value: added })
        }
      }),
    )
  }

  function count(served: Set<string>, { name, labels, value }: Sample): void {
    const { target = '', reason = '' } = labels
    if (name === UNFENCED) counts.unfenced += value
    else if (name === FALLBACKS) counts.fallbacks[reason] = (counts.fallbacks[reason] ?? 0) + value
    else if (target === PRIMARY) counts.primary += value
    else {
      counts.standbys += value
      served.add(target)
    }
  }

  const stop = repeat(SAMPLED_EVERY_MS, sample)
  return {
    take: async () => {
      await sample()
      const taken = counts
      counts = emptyCounts()
      return taken
    },
    watch: async (standbys) => {
      await sample()
      for (const { served } of instances) served.clear()
      return () => instances.every(({ served }) => served.size >= standbys)
    },
    stop,
  }
}

const emptyCounts = (): ReadCounts => ({ standbys: 0, primary: 0, fallbacks: {}, unfenced: 0 })

function seriesOf(metrics: Metrics): (Sample & { series: string })[] {
  return [READS, FALLBACKS, UNFENCED].flatMap((name) =>
    (metrics.get(name) ?? []).map((sample) => ({
      ...sample,
      series: `${name} ${sample.labels['target'] ?? sample.labels['reason']}`,
    })),
  )
}

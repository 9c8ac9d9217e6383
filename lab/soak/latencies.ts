// Collects the latency of every response, and summarizes it in intervals of ten seconds.

export const INTERVAL_SECONDS = 10

export interface Latency {
  /** The middle of the interval, in seconds since the load began. */
  second: number
  p50Ms: number
  p99Ms: number
  perSecond: number
}

export interface Latencies {
  add: (ms: number) => void
  /** The intervals that are over. */
  summary: () => Latency[]
}

export function openLatencies(now: () => number = () => performance.now()): Latencies {
  const startedAt = now()
  const done: Latency[] = []
  let interval = 0
  let current: number[] = []

  function closeIntervals(): void {
    const at = Math.floor((now() - startedAt) / (INTERVAL_SECONDS * 1000))
    for (; interval < at; interval += 1) {
      if (current.length > 0) done.push(summarize(interval, current))
      current = []
    }
  }

  return {
    add: (ms) => {
      closeIntervals()
      current.push(ms)
    },
    summary: () => {
      closeIntervals()
      return [...done]
    },
  }
}

function summarize(interval: number, values: number[]): Latency {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return {
    second: (interval + 0.5) * INTERVAL_SECONDS,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    perSecond: round(values.length / INTERVAL_SECONDS),
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

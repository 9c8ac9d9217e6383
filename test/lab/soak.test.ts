// The measurements of a soak.
import { expect, test } from 'vitest'
import { compareEnds, type SoakData } from '../../lab/soak/flatness.ts'
import { parseTicks, shares } from '../../lab/soak/host-cpu.ts'
import { openLatencies } from '../../lab/soak/latencies.ts'
import { resourcesOf } from '../../lab/soak/resources.ts'
import { drawSoakChart } from '../../lab/soak/soak-chart.ts'
import { parseMetrics } from '../../src/telemetry/scraping/metrics.ts'

const METRICS = JSON.stringify([
  { name: 'process_resident_memory_bytes', values: [{ labels: {}, value: 120_000_000 }] },
  { name: 'nodejs_heap_size_used_bytes', values: [{ labels: {}, value: 40_000_000 }] },
  { name: 'process_open_fds', values: [{ labels: {}, value: 41 }] },
  { name: 'nodejs_active_handles_total', values: [{ labels: {}, value: 12 }] },
  {
    name: 'petstore_database_connections',
    values: [
      { labels: { state: 'idle' }, value: 3 },
      { labels: { state: 'total' }, value: 11 },
    ],
  },
])

test('latencies are summarized in intervals of ten seconds', () => {
  let at = 0
  const latencies = openLatencies(() => at)
  for (const ms of [1, 2, 3, 4]) latencies.add(ms)
  at = 10_000
  latencies.add(50)
  expect(latencies.summary()).toEqual([{ second: 5, p50Ms: 3, p99Ms: 4, perSecond: 0.4 }])
  at = 40_000
  expect(latencies.summary().map(({ second }) => second)).toEqual([5, 15])
})

test('resources are read from the metrics of the service; a missing metric is an error', () => {
  expect(resourcesOf(parseMetrics(METRICS))).toEqual({
    memoryMb: 120,
    heapMb: 40,
    openFiles: 41,
    handles: 12,
    connections: 11,
  })
  expect(() => resourcesOf(parseMetrics(METRICS.replace('process_open_fds', 'other')))).toThrow(
    'no metric for openFiles',
  )
})

const FAULT = { startedAt: 190, healedAt: 200, secondsUntilHealthy: 5 }

/** 1,000 seconds, with a memory that grows by 1 MB in 10 seconds, and slow responses during the fault. */
function growing(): SoakData {
  const seconds = Array.from({ length: 100 }, (_, index) => index * 10)
  return {
    rates: { capacity: 100, soak: 50 },
    resources: seconds.map((second) => ({
      instance: 0,
      second,
      ...resourcesOf(parseMetrics(METRICS)),
      memoryMb: second / 10,
    })),
    latencies: seconds.map((second) => ({
      second,
      p50Ms: 1,
      p99Ms: second >= 190 && second <= 220 ? 20_000 : 9,
      perSecond: 50,
    })),
    hostCpu: seconds.map((second) => ({ second, used: 60, taken: second / 100 })),
  }
}

test('a soak compares its start with its end, and ignores the faults', () => {
  const ends = new Map(compareEnds(growing(), [FAULT], 1_000).map(({ what, ...values }) => [what, values]))
  const memory = ends.get('memory of an instance (MB)')
  expect(memory?.early).toBeLessThan(35)
  expect(memory?.late).toBeGreaterThan(75)
  expect(ends.get('open files of an instance')).toEqual({ early: 41, late: 41 })
  expect(ends.get('latency, p99 (ms)')).toEqual({ early: 9, late: 9 })
  expect(ends.get('CPU that this host used (%)')).toEqual({ early: 60, late: 60 })
})

test('the CPU of the host is the share of the ticks between two samples', () => {
  const before = parseTicks('cpu  100 0 50 200 10 0 0 40 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n')
  const after = parseTicks('cpu  140 0 60 230 10 0 0 60 0 0\n')
  expect(shares(before, after)).toEqual({ used: 50, taken: 20 })
  expect(shares(after, after)).toEqual({ used: 0, taken: 0 })
})

test('the chart of a soak is SVG with the faults', () => {
  const chart = drawSoakChart(growing(), [{ ...FAULT, fault: 'isolate' }], 1_000)
  expect(chart).toMatch(/^<svg .*<title>isolate<\/title>.*Memory in MB.*<\/svg>\n$/s)
  expect(chart).not.toContain('NaN')
})

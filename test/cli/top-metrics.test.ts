// The parts of `petstore top` that compute: the JSON of metrics, rates and quantiles.
import { Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { histogramOf, histogramsBy, quantile, shareAbove } from '../../src/cli/top/histogram.ts'
import { parseMetrics } from '../../src/cli/top/metrics.ts'
import { ratesOf } from '../../src/cli/top/rates.ts'

/** One metric in the JSON of `/metrics`. */
const written = (name: string, ...values: object[]) => ({ name, help: 'Text.', type: 'gauge', values })
const parse = (...metrics: object[]) => parseMetrics(JSON.stringify(metrics))

test('parses values, labels and the three names of a histogram, as prom-client writes them', async () => {
  const registry = new Registry()
  new Gauge({ name: 'g', help: 'g', labelNames: ['code'], registers: [registry] }).set({ code: 503 }, 2.5)
  new Gauge({ name: 'unknown', help: 'n', registers: [registry] }).set(Number.NaN)
  const histogram = new Histogram({ name: 'h', help: 'h', buckets: [0.5], registers: [registry] })
  histogram.observe(0.1)
  histogram.observe(3)
  expect([...parseMetrics(JSON.stringify(await registry.getMetricsAsJSON())).values()].flat()).toEqual([
    { name: 'g', labels: { code: '503' }, value: 2.5 },
    { name: 'unknown', labels: {}, value: Number.NaN },
    { name: 'h_bucket', labels: { le: '0.5' }, value: 1 },
    { name: 'h_bucket', labels: { le: '+Inf' }, value: 2 },
    { name: 'h_sum', labels: {}, value: 3.1 },
    { name: 'h_count', labels: {}, value: 2 },
  ])
})

test.each([
  '<html>',
  'up 1',
  '',
  'null',
  '{"error":true}',
  '[1]',
  '[{"name":"x"}]',
  '[{"name":"x","values":[1]}]',
])('rejects a text that is not the JSON of metrics: %s', (text) => {
  expect(() => parseMetrics(text)).toThrow(Error)
})

/** Two scrapes of a process: the counts of the series of a counter by the value of its label. */
const scraped = (counts: Record<string, number>, start = 100) =>
  parse(
    written('process_start_time_seconds', { labels: {}, value: start }),
    written('c', ...Object.entries(counts).map(([a, value]) => ({ labels: { a }, value }))),
  )

test('a rate is the increase per second between two scrapes', () => {
  const rates = ratesOf(scraped({ one: 10, two: 5 }), scraped({ one: 16, two: 5 }), 2)
  expect(rates?.get('c')?.map(({ value }) => value)).toEqual([3, 0])
})

test('a series that appears began at 0, and a counter that decreased began again', () => {
  const rates = ratesOf(scraped({ one: 10 }), scraped({ one: 4, added: 6 }), 1)
  expect(rates?.get('c')?.map(({ value }) => value)).toEqual([4, 6])
})

test('there are no rates across a restart of the process', () => {
  expect(ratesOf(scraped({ one: 10 }, 100), scraped({ one: 12 }, 200), 1)).toBeUndefined()
})

/** Cumulative counts of the buckets 1, 2, 4 and +Inf. */
const histogram = (...counts: number[]) => ({
  count: counts.at(-1) ?? 0,
  sum: 0,
  buckets: new Map([1, 2, 4, Number.POSITIVE_INFINITY].map((bound, index) => [bound, counts[index] ?? 0])),
})

/** The expected values are those of `histogram_quantile` of Prometheus, which `promtool test rules` confirmed. */
test.each([
  ['interpolates within a bucket', 0.5, [0, 10, 10, 10], 1.5],
  ['begins the first bucket at 0', 0.5, [10, 10, 10, 10], 0.5],
  ['skips empty buckets', 0.99, [50, 50, 100, 100], 3.96],
  ['returns the upper bound at the end of a bucket', 0.5, [5, 10, 10, 10], 1],
  ['returns the highest finite bound for values beyond it', 0.99, [0, 0, 0, 10], 4],
  ['returns the highest finite bound if only the quantile is beyond it', 0.99, [0, 0, 90, 100], 4],
  ['works with fractions, such as rates', 0.5, [0.05, 0.15, 0.15, 0.15], 1.25],
  ['corrects counts that decrease', 0.5, [10, 9, 9, 10], 0.5],
])('a quantile %s', (_what, share, counts, expected) => {
  expect(quantile(share, histogram(...counts))).toBeCloseTo(expected, 10)
})

test.each([
  ['no values', histogram(0, 0, 0, 0)],
  ['no buckets', { count: 0, sum: 0, buckets: new Map() }],
  [
    'no infinite bucket',
    {
      count: 1,
      sum: 0,
      buckets: new Map([
        [1, 1],
        [2, 1],
      ]),
    },
  ],
  ['only the infinite bucket', { count: 1, sum: 0, buckets: new Map([[Number.POSITIVE_INFINITY, 1]]) }],
])('with %s, there is no quantile', (_what, given) => {
  expect(quantile(0.99, given)).toBeNull()
})

test('histograms of several processes and labels are added up', () => {
  const process = (count: number) => {
    const series = ['a', 'b'].flatMap((l) => [
      { metricName: 'h_bucket', labels: { le: 1, l }, value: count },
      { metricName: 'h_bucket', labels: { le: '+Inf', l }, value: count * 2 },
      { metricName: 'h_sum', labels: { l }, value: count * 3 },
      { metricName: 'h_count', labels: { l }, value: count * 2 },
    ])
    return parse(written('h', ...series))
  }
  const processes = [process(1), process(10)]
  const all = histogramOf(processes, 'h')
  expect(all).toEqual({
    count: 44,
    sum: 66,
    buckets: new Map([
      [1, 22],
      [Number.POSITIVE_INFINITY, 44],
    ]),
  })
  expect(histogramsBy(processes, 'h', ({ l = '' }) => l).get('b')?.count).toBe(22)
  expect(shareAbove(1, all)).toBe(0.5)
  expect(shareAbove(3, all)).toBeNull()
  expect(histogramOf(processes, 'missing').count).toBe(0)
})

// What the metrics of a process are read into: series, sums and rates.
import { Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { parseMetrics } from '../../src/telemetry/scraping/metrics.ts'
import { ratesOf } from '../../src/telemetry/scraping/rates.ts'

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

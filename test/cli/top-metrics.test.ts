// The parts of `petstore top` that compute: the text format of Prometheus, rates and quantiles.
import { expect, test } from 'vitest'
import { histogramOf, histogramsBy, quantile, shareAbove } from '../../src/cli/top/histogram.ts'
import { parseMetrics } from '../../src/cli/top/prometheus-text.ts'
import { ratesOf } from '../../src/cli/top/rates.ts'

const only = (text: string) => [...parseMetrics(text)].map(([name, samples]) => [name, samples[0]])

test.each([
  ['a value without labels', 'up 1', 'up', {}, 1],
  ['labels', 'x{a="1",b="two words"} 2.5', 'x', { a: '1', b: 'two words' }, 2.5],
  ['a comma after the last label', 'x{a="1",} 2', 'x', { a: '1' }, 2],
  ['escaped label values', String.raw`x{a="q\" b\\ n\n"} 1`, 'x', { a: 'q" b\\ n\n' }, 1],
  ['braces and commas in label values', 'x{a="},{",b="="} 1', 'x', { a: '},{', b: '=' }, 1],
  ['a timestamp', 'x 1 1700000000000', 'x', {}, 1],
  ['exponents', 'x 1.5e+09', 'x', {}, 1.5e9],
  ['infinity', 'x{le="+Inf"} +Inf', 'x', { le: '+Inf' }, Number.POSITIVE_INFINITY],
  ['NaN', 'x NaN', 'x', {}, Number.NaN],
  ['NaN as prom-client writes it', 'x Nan', 'x', {}, Number.NaN],
  ['a negative number', 'x -0.5', 'x', {}, -0.5],
  ['empty label values', 'x{a=""} 0', 'x', { a: '' }, 0],
  ['Windows line ends', 'x 1\r', 'x', {}, 1],
])('parses %s', (_what, line, name, labels, value) => {
  expect(only(`# HELP ${name} Text {with="braces"} 1.\n# TYPE ${name} gauge\n\n${line}\n`)).toEqual([
    [name, { labels, key: expect.any(String), value }],
  ])
})

test('two series with the same labels in another order are the same series', () => {
  const [one, other] = ['x{a="1",b="2"} 1', 'x{b="2",a="1"} 1'].map(
    (text) => parseMetrics(text).get('x')?.[0]?.key,
  )
  expect(one).toBe(other)
})

test.each([
  '<html>',
  'x',
  'x one',
  'x{a=1} 1',
  'x{a="1} 1',
  'x{a="1"b="2"} 1',
  '{"error":true}',
  'x 0x10',
  'x null',
])('rejects a line that is no metric: %s', (line) => {
  expect(() => parseMetrics(line)).toThrow(SyntaxError)
})

const scraped = (lines: string[], start = 100) =>
  parseMetrics([`process_start_time_seconds ${start}`, ...lines].join('\n'))

test('a rate is the increase per second between two scrapes', () => {
  const rates = ratesOf(scraped(['c{a="1"} 10', 'c{a="2"} 5']), scraped(['c{a="1"} 16', 'c{a="2"} 5']), 2)
  expect(rates?.get('c')?.map(({ value }) => value)).toEqual([3, 0])
})

test('a series that appears began at 0, and a counter that decreased began again', () => {
  const rates = ratesOf(scraped(['c{a="1"} 10']), scraped(['c{a="1"} 4', 'c{a="new"} 6']), 1)
  expect(rates?.get('c')?.map(({ value }) => value)).toEqual([4, 6])
})

test('there are no rates across a restart of the process', () => {
  expect(ratesOf(scraped(['c 10'], 100), scraped(['c 12'], 200), 1)).toBeUndefined()
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
  const text = (count: number) =>
    parseMetrics(
      ['a', 'b']
        .flatMap((label) => [
          `h_bucket{le="1",l="${label}"} ${count}`,
          `h_bucket{le="+Inf",l="${label}"} ${count * 2}`,
          `h_sum{l="${label}"} ${count * 3}`,
          `h_count{l="${label}"} ${count * 2}`,
        ])
        .join('\n'),
    )
  const processes = [text(1), text(10)]
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

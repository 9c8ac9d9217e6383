// Which servers served the reads of the instances, from metrics that are known.
import { expect, onTestFinished, test } from 'vitest'
import { startReadSources } from '../../lab/load/read-sources.ts'
import { type Metrics, parseMetrics } from '../../src/cli/top/metrics.ts'

/** Counters of one instance, as prom-client writes them. */
function metricsOf(
  reads: Record<string, number>,
  fallbacks: Record<string, number> = {},
  unfenced = 0,
): Metrics {
  const counter = (name: string, label: string, values: Record<string, number>) => ({
    name,
    values: Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value })),
  })
  return parseMetrics(
    JSON.stringify([
      counter('petstore_reads_total', 'target', reads),
      counter('petstore_read_fallbacks_total', 'reason', fallbacks),
      counter('petstore_unfenced_reads_total', 'target', { primary: unfenced }),
    ]),
  )
}

/** Instances whose metrics a test changes. One without metrics does not respond. */
function openSources(instances: Record<string, Metrics | undefined>) {
  const sources = startReadSources(Object.keys(instances), async (url) => {
    const metrics = instances[url]
    if (metrics === undefined) throw new Error('no response')
    return metrics
  })
  onTestFinished(() => sources.stop())
  return sources
}

test('adds up the reads of both instances since the last call', async () => {
  const instances = {
    a: metricsOf({ n2: 10, n3: 20, primary: 1 }, { late: 1 }, 2),
    b: metricsOf({ n2: 5, primary: 4 }, { late: 1, quorum: 3 }),
  }
  const sources = openSources(instances)
  expect(await sources.take()).toEqual({
    standbys: 35,
    primary: 5,
    fallbacks: { late: 2, quorum: 3 },
    unfenced: 2,
  })
  instances.a = metricsOf({ n2: 11, n3: 20, primary: 1 }, { late: 1 }, 2)
  expect(await sources.take()).toEqual({ standbys: 1, primary: 0, fallbacks: {}, unfenced: 0 })
})

test('counts from 0 after an instance was replaced, and keeps what it counted before', async () => {
  const instances: Record<string, Metrics | undefined> = { a: metricsOf({ n2: 100 }) }
  const sources = openSources(instances)
  await sources.take()
  instances['a'] = undefined
  expect(await sources.take()).toMatchObject({ standbys: 0 })
  instances['a'] = metricsOf({ n2: 7 })
  expect(await sources.take()).toMatchObject({ standbys: 7 })
})

test('says when every standby has served a read of each instance', async () => {
  const instances = { a: metricsOf({ n2: 1, n3: 1 }), b: metricsOf({ n2: 1, n3: 1 }) }
  const sources = openSources(instances)
  const isServed = await sources.watch(2)
  expect(isServed()).toBe(false)
  instances.a = metricsOf({ n2: 2, n3: 2, primary: 5 })
  instances.b = metricsOf({ n2: 2, n3: 1, primary: 5 })
  await sources.take()
  expect(isServed()).toBe(false)
  instances.b = metricsOf({ n1: 1, n2: 2, n3: 1, primary: 5 })
  await sources.take()
  expect(isServed()).toBe(true)
})

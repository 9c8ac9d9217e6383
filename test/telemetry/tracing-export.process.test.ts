// How traces are exported: settings, an unreachable collector, the shutdown, and what a service without tracing loads.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { makeCertificate } from '../../lab/parts/certificate.ts'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { readConfig } from '../../src/config/config.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { freePort } from '../../src/data/demo/cluster.ts'
import { openTracing } from '../../src/telemetry/tracing/open-tracing.ts'
import type { Tracing } from '../../src/telemetry/tracing/tracing.ts'
import { issueApiKey } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { openOtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts'
import { type Service, startService } from '../support/service.ts'
import { recordProcess, SOON } from '../support/tracing-fixture.ts'

const DATABASE_URL = await createTestDatabase()
const { text: apiKey } = await issueApiKey(openTestDatabase(DATABASE_URL), { scopes: SCOPES })

/** Timeouts that a busy host does not reach, and that are longer than a shutdown may take. */
const PATIENT = { OTEL_EXPORTER_OTLP_TIMEOUT: '60000', OTEL_BSP_EXPORT_TIMEOUT: '60000' }

async function start(environment: Record<string, string>): Promise<Service> {
  const service = await startService({ DATABASE_URL, ...environment })
  afterAll(() => service.stop())
  return service
}

async function addPets({ origin }: Service, count: number): Promise<void> {
  const client = openTestClient({ origin, apiKey })
  const created = Array.from({ length: count }, () => client.post('/pets', { name: 'Rex', categoryId: 1 }))
  expect((await Promise.all(created)).map(({ status }) => status)).toEqual(Array(count).fill(201))
}

test('by default, tracing is off: the SDK is not loaded, and no log line has a traceId', async () => {
  const { environment, recorded } = recordProcess()
  const service = await start(environment)
  await addPets(service, 1)
  expect(await service.stop()).toBe(0)
  // prom-client, the library of the metrics, loads the package `api`. It has interfaces and no code that exports.
  const { port } = new URL(DATABASE_URL)
  expect(recorded()).toEqual(['loaded @opentelemetry/api', `connected 127.0.0.1:${port}`])
  expect(service.log()).toContain('"operation":"createPet"')
  expect(service.log()).not.toContain('traceId')
})

test('the settings of the exporter are used, and only requests that a caller has sampled are recorded', async () => {
  const certificate = makeCertificate(['IP:127.0.0.1'])
  const folder = mkdtempSync(join(tmpdir(), 'petstore-test-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'ca.pem')
  writeFileSync(file, certificate.cert)
  const receiver = await openOtlpReceiver(certificate)
  const service = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/some/path`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret,x-one=1',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-one=2',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_CERTIFICATE: file,
    OTEL_SERVICE_NAME: 'shop-api',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=ignored,team=a%20b',
    OTEL_BSP_SCHEDULE_DELAY: '2000',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4',
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
  })
  const traceIds = Array.from({ length: 9 }, () => crypto.randomUUID().replaceAll('-', ''))
  const flags = ['00', '01', undefined]
  const client = openTestClient({ origin: service.origin, apiKey })
  await Promise.all(
    traceIds.map((traceId, index) => {
      const flag = flags[index % 3]
      const headers = { ...(flag && { traceparent: `00-${traceId}-00f067aa0ba902b7-${flag}` }) }
      return client.post('/pets', { name: 'Rex', categoryId: 1 }, headers)
    }),
  )
  const requestsOf = (spans: ReceivedSpan[]) => spans.filter(({ kind }) => kind === 'server')
  const sampled = traceIds.filter((_id, index) => flags[index % 3] === '01')
  await receiver.until((spans) => requestsOf(spans).length >= sampled.length)
  expect(await service.stop()).toBe(0)

  const requests = requestsOf(receiver.spans)
  expect(new Set(requests.map(({ traceId }) => traceId))).toEqual(new Set(sampled))
  // A batch of requests that are not sampled belongs to no trace, whatever request came before it.
  expect(receiver.spans.filter(({ traceId }) => !sampled.includes(traceId))).toEqual([])
  expect(receiver.spans[0]?.resource).toMatchObject({ 'service.name': 'shop-api', team: 'a b' })
  expect(Math.max(...receiver.exports.map(({ spans }) => spans))).toBe(4)
  expect(receiver.exports[0]).toMatchObject({
    path: '/some/path',
    headers: {
      authorization: 'Bearer secret',
      'x-one': '2',
      'content-encoding': 'gzip',
      'content-type': 'application/x-protobuf',
    },
  })
})

afterEach(() => vi.unstubAllEnvs())

/** Tracing in this process, and the reasons of its warnings. The SDK reads the variables of the process. */
function open(
  variables: Record<string, string>,
  flushedWithinMs?: number,
): { tracing: Tracing; reasons: string[] } {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  const reasons: string[] = []
  const log = { warn: ({ reason }: { reason: string }) => void reasons.push(reason) }
  return {
    tracing: openTracing(readConfig({ DATABASE_URL, ...ENDPOINT, ...variables }), log, flushedWithinMs),
    reasons,
  }
}

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }

/** Starts requests and never ends them, so that nothing is exported. Returns how many of 400 are sampled. */
async function countSampled(settings: Record<string, string>, parentFlags?: '00' | '01'): Promise<number> {
  const { tracing } = open(settings)
  const traces = Array.from({ length: 400 }, () => {
    // Math.random() has a fixed seed in tests.
    const traceId = Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('')
    const traceparent = `00-${traceId}-00f067aa0ba902b7-${parentFlags}`
    return tracing.startRequest('test', parentFlags === undefined ? {} : { traceparent })
  })
  await tracing.close()
  return traces.filter(({ span }) => span !== undefined).length
}

test.each<[sampler: string, share: string, alone: number, sampled: number, notSampled: number]>([
  ['', '', 400, 400, 0],
  ['always_on', '', 400, 400, 400],
  ['always_off', '', 0, 0, 0],
  ['traceidratio', '0.5', 200, 200, 200],
  ['parentbased_always_on', '', 400, 400, 0],
  ['parentbased_always_off', '', 0, 400, 0],
  ['parentbased_traceidratio', '0.5', 200, 400, 0],
])(
  'the sampler "%s" with the argument "%s" decides alone, or with the caller',
  async (sampler, share, alone, sampled, notSampled) => {
    const settings = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share }
    const counts = [
      await countSampled(settings),
      await countSampled(settings, '01'),
      await countSampled(settings, '00'),
    ]
    for (const [index, expected] of [alone, sampled, notSampled].entries()) {
      // Six standard deviations.
      expect(Math.abs((counts[index] ?? 0) - expected)).toBeLessThanOrEqual(expected === 200 ? 60 : 0)
    }
  },
)

test('a trace that is not sampled has no span, no context and no attributes, but its id is passed on', async () => {
  const { tracing } = open({ OTEL_TRACES_SAMPLER: 'always_off' })
  const attributes = vi.fn(() => ({}))
  const { traceId, span, headers } = tracing.startOutgoing('POST', attributes)
  expect(span).toBeUndefined()
  expect(attributes).not.toHaveBeenCalled()
  expect(headers).toEqual({ traceparent: expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-00$`) })
  expect(tracing.run(span, tracing.active)).toBeUndefined()
  await tracing.close()
})

test('every variable that the SDK ignores is logged at the start', async () => {
  const { tracing, reasons } = open({
    OTEL_BSP_MAX_QUEUE_SIZE: '65537',
    OTEL_BSP_SCHEDULE_DELAY: 'soon',
    OTEL_EXPORTER_OTLP_TIMEOUT: '-1',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'zip',
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/does/not/exist.pem',
  })
  await tracing.close()
  expect(reasons.toSorted()).toEqual([
    expect.stringContaining('OTEL_EXPORTER_OTLP_COMPRESSION is invalid'),
    expect.stringContaining('OTEL_EXPORTER_OTLP_TIMEOUT is invalid'),
    'Failed to read root certificate file',
    'OTEL_BSP_MAX_QUEUE_SIZE must be a whole number from 1 to 65536, not 65537',
    expect.stringContaining("Unknown value 'soon' for OTEL_BSP_SCHEDULE_DELAY"),
  ])
})

test('the remaining spans are exported when tracing is closed', async () => {
  const receiver = await openOtlpReceiver()
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    ...PATIENT,
  }
  const { tracing } = open(variables, 60_000)
  for (const name of ['one', 'two']) tracing.startRequest(name, {}).span?.end()
  await tracing.close()
  expect(receiver.spans.map(({ name }) => name)).toEqual(['one', 'two'])
})

test('spans that do not fit into the queue are dropped and logged, and the others are exported', async () => {
  const receiver = await openOtlpReceiver()
  const limits = { OTEL_BSP_MAX_QUEUE_SIZE: '3', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '3' }
  const { tracing, reasons } = open(
    { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...limits, ...PATIENT },
    60_000,
  )
  // The first three are exported. The next three wait until that export has ended.
  for (let count = 0; count < 8; count += 1) tracing.startRequest('request', {}).span?.end()
  await receiver.until((spans) => spans.length === 6)
  tracing.startRequest('request', {}).span?.end()
  await tracing.close()
  expect(receiver.spans).toHaveLength(7)
  expect(reasons).toEqual(['Dropped 2 spans because maxQueueSize reached'])
})

test('an unreachable collector affects no request, is logged once, and does not delay the shutdown', async () => {
  const service = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
    // Shorter than the first pause of the exporter, which therefore does not retry.
    OTEL_EXPORTER_OTLP_TIMEOUT: '750',
    OTEL_BSP_MAX_QUEUE_SIZE: '16',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4',
    ...SOON,
  })
  // Several exports, of which each fails.
  for (let round = 0; round < 5; round += 1) {
    await addPets(service, 10)
    await sleep(100)
  }
  await expect.poll(service.log).toContain('traces could not be exported')
  expect(await service.stop()).toBe(0)
  const warnings = service
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{"level":40'))
  expect(warnings.map((line) => JSON.parse(line) as object)).toEqual([
    // On a busy host, the timeout can come first.
    expect.objectContaining({ reason: expect.stringMatching(/ECONNREFUSED|timed out/i) }),
  ])
  const { lostSpans } = JSON.parse(warnings[0] ?? '') as { lostSpans: number }
  // Those of the first export. On a busy host, it can begin before a batch is full.
  expect(lostSpans).toBeGreaterThan(0)
  expect(lostSpans).toBeLessThanOrEqual(4)
})

test('a collector that never responds does not delay the shutdown', async () => {
  const silent = await openLocalServer(() => {})
  afterAll(silent.close)
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: silent.origin }
  const service = await start({ ...endpoint, ...PATIENT, ...SOON })
  await addPets(service, 5)
  // A process that waited for the exports would be ended, and return 1.
  expect(await service.stop()).toBe(0)
})

// The problems that `petstore top` shows: each alert that it can judge, at the limit of the alert.
import { expect, test } from 'vitest'
import { takeReadings } from '../../src/cli/top/take-readings.ts'
import { openDeliverMetrics, openServeMetrics, scrapeTwice, STORE } from './top-fixture.ts'

const NOW = new Date('2026-11-16T12:00:00Z')
const nowSeconds = NOW.getTime() / 1_000
const days = (count: number) => new Date(NOW.getTime() + count * 86_400_000)

async function problemsAfter(work: (serve: ReturnType<typeof openServeMetrics>) => void) {
  const serve = openServeMetrics()
  const state = await scrapeTwice(serve, () => work(serve))
  return takeReadings([state], NOW).problems.map(
    ({ state: level, title, message }) => `${level}: ${title}: ${message}`,
  )
}

const respond =
  (count: number, status: number, seconds = 0.01) =>
  (serve: ReturnType<typeof openServeMetrics>) => {
    for (let index = 0; index < count; index += 1) serve.observeRequest('listPets', status, seconds)
  }

test('a healthy process has no problem', async () => {
  expect(await problemsAfter(respond(100, 200))).toEqual([])
})

test.each<[string, (serve: ReturnType<typeof openServeMetrics>) => void, string]>([
  [
    'failed requests',
    (serve) => {
      respond(96, 200)(serve)
      respond(4, 503)(serve)
    },
    'fault: Requests fail: 4.0 % of the responses are 5xx',
  ],
  [
    'slow requests',
    (serve) => {
      respond(90, 200)(serve)
      respond(10, 200, 0.7)(serve)
    },
    'fault: Responses are slow: 10 % took longer than 0.5 s',
  ],
  [
    'stalled writes',
    ({ connections }) => (connections.unacknowledged = 3),
    'fault: No standby confirms writes: 3 unacknowledged writes of 127.0.0.1:9091',
  ],
  [
    'lost connections',
    ({ connections }) => (connections.total = 0),
    'fault: PostgreSQL is unreachable: 127.0.0.1:9091 has no connection',
  ],
  [
    'a late feed',
    (serve) => serve.observeFeed({ head: 1n, unnumberedSeconds: 11 }),
    'fault: Events or webhooks are late: the oldest change without an event is 11 s old',
  ],
  [
    'overdue holds',
    (serve) => serve.observeStore({ ...STORE, overdueSeconds: 11 }),
    'fault: Expired holds are not swept: the oldest expired 11 s ago',
  ],
  [
    'a lost standby',
    (serve) => serve.observeStore({ ...STORE, replication: { connected: 1, required: 1 } }),
    'warning: A standby is lost: 1 connected, 1 required: no spare standby',
  ],
  [
    'a lack of standbys',
    (serve) => serve.observeStore({ ...STORE, replication: { connected: 0, required: 1 } }),
    'warning: A standby is lost: 0 connected, 1 required: writes wait',
  ],
  [
    'asynchronous standbys',
    (serve) => serve.observeStore({ ...STORE, replication: { connected: 2, required: 0 } }),
    'warning: A standby is lost: no write waits for a standby',
  ],
  [
    'WAL that cannot be archived',
    (serve) => serve.observeStore({ ...STORE, isArchivingFailing: true }),
    'warning: WAL is not archived: backups lack newer writes',
  ],
  [
    'an API key that expires',
    (serve) => serve.observeStore({ ...STORE, nextKeyExpiry: days(3) }),
    'warning: An API key is about to expire: in 3 d',
  ],
  [
    'a certificate that expires',
    (serve) => serve.database.onCertificate(days(20)),
    'warning: The certificate of PostgreSQL expires: in 20 d',
  ],
  [
    'no proven backup',
    (serve) => serve.observeRestores({ provenAt: days(-4), isNewestProven: true }),
    'warning: No backup was proven: for 4 d',
  ],
  [
    'a failed check of a backup',
    (serve) => serve.observeRestores({ provenAt: days(-1), isNewestProven: false }),
    'warning: No backup was proven: the newest check failed',
  ],
  [
    'rejected requests',
    (serve) => serve.countError('overloaded'),
    'warning: Too many requests: 1.0/s are rejected: overloaded',
  ],
  [
    'failed background jobs',
    (serve) => serve.jobs.onFailure('sweep expired holds'),
    'warning: Background jobs fail: 127.0.0.1:9091: sweep expired holds',
  ],
])('reports %s', async (_what, work, problem) => {
  expect(await problemsAfter(work)).toEqual([problem])
})

test('reports a database that was not read for 30 s, an instance that is down, and a webhook that is late', async () => {
  const serve = openServeMetrics()
  serve.jobs.onSuccess('measure the store')
  const soon = await scrapeTwice(serve, () => {})
  const readAt = soon.metrics?.get('petstore_background_last_success_timestamp_seconds')?.[0]?.value ?? 0
  const titlesAt = (seconds: number, state = soon) =>
    takeReadings([state], new Date(seconds * 1_000)).problems.map(({ title }) => title)
  expect(titlesAt(readAt + 29)).toEqual([])
  expect(titlesAt(readAt + 31)).toEqual(['PostgreSQL is unreachable'])
  const stalled = await scrapeTwice(serve, () => (serve.connections.unacknowledged = 3))
  expect(titlesAt(readAt + 31, stalled)).toEqual(['PostgreSQL is unreachable'])

  const deliver = openDeliverMetrics()
  deliver.state.lagSeconds.set(8n, 301)
  const late = await scrapeTwice(deliver, () => {})
  const down = { url: 'http://127.0.0.1:9093', failure: 'no process listens on this port' }
  expect(takeReadings([late, down], NOW).problems).toEqual([
    {
      state: 'fault',
      alert: 'PetstoreDown',
      title: 'An instance is down',
      message: '127.0.0.1:9093: no process listens on this port',
      entry: 'docs/runbook.md#an-instance-is-down',
    },
    {
      state: 'warning',
      alert: 'PetstoreWebhookLate',
      title: 'Events or webhooks are late',
      message: 'webhook 8 is 5 min behind',
      entry: 'docs/runbook.md#events-or-webhooks-are-late',
    },
  ])
})

test('a job that fails while another one reads is a fault after a minute, and no sign of an unreachable database', async () => {
  const serve = openServeMetrics()
  for (const name of ['measure the store', 'read restore checks']) serve.jobs.onSuccess(name)
  const state = await scrapeTwice(serve, () => {})
  const successes = state.metrics?.get('petstore_background_last_success_timestamp_seconds') ?? []
  const readAt = successes[0]?.value ?? 0
  const other = successes.find(({ labels }) => labels['task'] === 'read restore checks')
  if (other) other.value += 3_600
  const problemsAt = (seconds: number) =>
    takeReadings([state], new Date(seconds * 1_000)).problems.map(
      ({ title, message }) => `${title}: ${message}`,
    )
  expect(problemsAt(readAt + 59)).toEqual([])
  expect(problemsAt(readAt + 61)).toEqual(['Background jobs fail: 127.0.0.1:9091: measure the store'])
})

test('an operation that is removed soon is a problem only while programs call it', async () => {
  const serve = openServeMetrics()
  const called = await scrapeTwice(serve, () =>
    serve.observeStore({ ...STORE, deprecatedCalls: { getPet: 7 } }),
  )
  const removal = called.metrics?.get('petstore_removal_timestamp_seconds')?.[0]?.value ?? nowSeconds
  const messagesAt = (daysBefore: number, state = called) =>
    takeReadings([state], new Date((removal - daysBefore * 86_400) * 1_000)).problems.map(
      ({ message }) => message,
    )
  expect(messagesAt(91)).toEqual([])
  expect(messagesAt(89)).toContain('getPet in 89 d, 7 calls today')
  expect(messagesAt(89, await scrapeTwice(openServeMetrics(), () => {}))).toEqual([])
})

test.each([
  [
    'memory',
    { process_resident_memory_bytes: 401e6 },
    'A process uses much memory: 127.0.0.1:9091 uses 401 MB',
  ],
  [
    'CPU time',
    { process_cpu_seconds_total: 60.9 },
    'A process uses most of a core: 127.0.0.1:9091: CPU 90 %',
  ],
  [
    'the event loop',
    { nodejs_eventloop_lag_p99_seconds: 0.11 },
    'A process lacks CPU time: 127.0.0.1:9091: event loop lag p99 110 ms',
  ],
])('reports a process at its limit: %s', async (_what, changed: Record<string, number>, problem) => {
  const state = await scrapeTwice(openServeMetrics(), () => {}, { changed })
  const { problems } = takeReadings([state], NOW)
  expect(problems.map(({ title, message }) => `${title}: ${message}`)).toEqual([problem])
})

// `petstore doctor --url`: each condition of a running process, at the limit of its alert, and addresses that return something else.
import type { RequestListener } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { judgeProcesses } from '../../src/cli/doctor/processes.ts'
import { runInProcess } from '../support/in-process.ts'
import { metricsText, openDeliverMetrics, openServeMetrics, scrapeTwice } from '../support/metrics.ts'

const NOW_SECONDS = new Date('2026-11-16T12:00:00Z').getTime() / 1_000

const linesAt = (nowSeconds: number, ...states: Parameters<typeof judgeProcesses>[0][number][]) =>
  judgeProcesses(states, nowSeconds).map(({ state, message }) => `${state}: ${message}`)

async function linesAfter(
  work: (serve: ReturnType<typeof openServeMetrics>) => void,
  changed: Record<string, number> = {},
) {
  const serve = openServeMetrics()
  return linesAt(NOW_SECONDS, await scrapeTwice(serve, () => work(serve), changed))
}

const respond =
  (count: number, status: number, seconds = 0.01) =>
  (serve: ReturnType<typeof openServeMetrics>) => {
    for (let index = 0; index < count; index += 1) serve.observeRequest('listPets', status, seconds)
  }

test('a healthy process has no problem', async () => {
  expect(await linesAfter(respond(100, 200))).toEqual(['ok: 127.0.0.1:9091: no problem'])
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
    'rejected requests',
    (serve) => serve.countError('overloaded'),
    'warning: Too many requests: 1.0/s are rejected: overloaded',
  ],
  [
    'failed background jobs',
    (serve) => serve.jobs.onFailure('sweep expired holds'),
    'warning: Background jobs fail: 127.0.0.1:9091: sweep expired holds',
  ],
])('reports %s', async (_what, work, line) => {
  expect(await linesAfter(work)).toEqual([line])
})

test('reports a database that was not read for 30 s, and then no stalled writes', async () => {
  const serve = openServeMetrics()
  serve.jobs.onSuccess('measure the store')
  const soon = await scrapeTwice(serve)
  const readAt = soon.metrics?.get('petstore_background_last_success_timestamp_seconds')?.[0]?.value ?? 0
  expect(linesAt(readAt + 29, soon)).toEqual(['ok: 127.0.0.1:9091: no problem'])
  const unreachable = ['fault: PostgreSQL is unreachable: 127.0.0.1:9091 has read nothing for 31 seconds']
  expect(linesAt(readAt + 31, soon)).toEqual(unreachable)
  const stalled = await scrapeTwice(serve, () => (serve.connections.unacknowledged = 3))
  expect(linesAt(readAt + 31, stalled)).toEqual(unreachable)
})

test('reports a process that is down before a webhook that is late, with the entry of each in the runbook', async () => {
  const deliver = openDeliverMetrics()
  deliver.state.lagSeconds.set(8n, 301)
  const late = await scrapeTwice(deliver)
  const down = { name: '127.0.0.1:9093', failure: 'no process listens on this port' }
  expect(judgeProcesses([late, down], NOW_SECONDS)).toEqual([
    {
      check: 'processes',
      state: 'fault',
      message: 'An instance is down: 127.0.0.1:9093: no process listens on this port',
      remedy: 'See "An instance is down" in docs/runbook.md.',
    },
    {
      check: 'processes',
      state: 'warning',
      message: 'Events or webhooks are late: webhook 8 is 5 minutes behind',
      remedy: 'See "Events or webhooks are late" in docs/runbook.md.',
    },
  ])
})

test('a job that fails while another one reads is a fault after a minute, and no sign of an unreachable database', async () => {
  const serve = openServeMetrics()
  for (const name of ['measure the store', 'read restore checks']) serve.jobs.onSuccess(name)
  const state = await scrapeTwice(serve)
  const successes = state.metrics?.get('petstore_background_last_success_timestamp_seconds') ?? []
  const readAt = successes[0]?.value ?? 0
  const other = successes.find(({ labels }) => labels['task'] === 'read restore checks')
  if (other) other.value += 3_600
  expect(linesAt(readAt + 59, state)).toEqual(['ok: 127.0.0.1:9091: no problem'])
  expect(linesAt(readAt + 61, state)).toEqual([
    'fault: Background jobs fail: 127.0.0.1:9091: measure the store',
  ])
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
  [
    'lines of the log',
    { petstore_log_lines_dropped_total: 12 },
    'Log lines are lost: 127.0.0.1:9091 drops 12/s',
  ],
])('reports a process at its limit: %s', async (_what, changed: Record<string, number>, message) => {
  expect(await linesAfter(() => {}, changed)).toEqual([`warning: ${message}`])
})

/** An HTTP server that is not a process of Petstore, or a broken one. */
async function serveAt(listener: RequestListener): Promise<string> {
  const { origin, close } = await openLocalServer(listener)
  onTestFinished(close)
  return origin
}

/** Without DATABASE_URL, so that no other check runs. */
async function examineAt(...urls: string[]) {
  const { code, stdout, stderr } = await runInProcess(['doctor', '--json', '--url', ...urls])
  const found = stdout === '' ? [] : (JSON.parse(stdout) as { check: string; message: string }[])
  return { code, stderr, found: found.filter(({ check }) => check === 'processes') }
}

/** A process that responds late on a busy host is not down. */
function waitForProcesses(): void {
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal)
  onTestFinished(() => timeout.mockRestore())
}

test('scrapes each process twice, a second apart, and each address once; works without a database', async () => {
  waitForProcesses()
  const serve = openServeMetrics()
  let requests = 0
  const url = await serveAt((_request, response) => {
    requests += 1
    serve.countError('overloaded')
    void metricsText(serve).then((text) => response.end(text))
  })
  const { code, found } = await examineAt(url, `${url}/`)
  expect({ code, requests }).toEqual({ code: 1, requests: 2 })
  expect(found).toMatchObject([
    {
      state: 'warning',
      message: expect.stringMatching(/^Too many requests: (?:1\.0|0\.\d)\/s are rejected/),
    },
  ])
})

const endless: RequestListener = (_request, response) => {
  const chunk = '# HELP x x\n'.repeat(10_000)
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', write)
  write()
}

test.each<[string, RequestListener, string]>([
  ['a page', (_request, response) => response.end('<html></html>'), 'not a process of Petstore'],
  ['metrics as text', (_request, response) => response.end('up 1\n'), 'not a process of Petstore'],
  [
    'metrics of another program',
    (_request, response) => response.end('[{"name":"up","values":[{"labels":{},"value":1}]}]'),
    'not a process of Petstore',
  ],
  [
    'an error',
    (_request, response) => response.writeHead(404).end('{}'),
    'HTTP 404; use the port of ADMIN_PORT',
  ],
  [
    'a redirect',
    (_request, response) => response.writeHead(302, { location: '/' }).end(),
    'unexpected redirect',
  ],
  ['an endless response', endless, 'the response is too large for metrics'],
  ['no response', () => {}, 'no response within 2 s'],
])('an address that returns %s is down, and the line says why', async (what, listener, reason) => {
  if (what !== 'no response') waitForProcesses()
  const url = await serveAt(listener)
  const { code, found } = await examineAt(url)
  expect(code).toBe(1)
  expect(found).toMatchObject([
    { state: 'fault', message: `An instance is down: ${new URL(url).host}: ${reason}` },
  ])
})

test.each(['ftp://127.0.0.1', 'http://user:secret@127.0.0.1:9090', 'http://127.0.0.1:9090/v1'])(
  'rejects an address that is no origin: %s',
  async (url) => {
    const { code, stderr } = await examineAt(url)
    expect(code).toBe(1)
    expect(stderr).toContain('Use a URL such as')
  },
)

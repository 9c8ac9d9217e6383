// HAProxy with deploy/haproxy.cfg in front of two real instances: what clients see when an instance is replaced, killed
// or frozen, or none is left, and which headers an instance receives.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, expect, test, type TestContext } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { type ErrorCode, errorBody } from '../../src/contract/errors.ts'
import { findFeedState } from '../../src/events/feed/queries.ts'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { issueApiKey } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { openStream } from '../support/event-stream.ts'
import { auditFeed } from '../support/feed-audit.ts'
import {
  type LoadBalancer,
  freePorts,
  HAPROXY_CONFIG,
  type Ports,
  startLoadBalancer,
} from '../support/load-balancer.ts'
import { type Exchange, runClients } from '../support/load.ts'
import { sendBytes } from '../support/raw-http.ts'
import { petstore, type Service, startService } from '../support/service.ts'
import { volume } from '../support/volume.ts'

const SHUTDOWN_GRACE_MS = 3_000
const CLIENTS = 16
/** Responses between two faults. */
const RESPONSES = 200
const RESPONSE_TIMEOUT_IN_HAPROXY_MS = 15_000
/** PostgreSQL has ended a session because of idle_in_transaction_session_timeout. */
const IDLE_IN_TRANSACTION = '25P03'

const DATABASE_URL = await createTestDatabase()
const { stdout } = await petstore(['api-keys', 'create', '--name', 'balanced'], { DATABASE_URL })
const apiKey = stdout.trim()

interface Fixture {
  loadBalancer: LoadBalancer
  instances: Service[]
  /** Starts the instance again on its ports, and waits until HAProxy uses it. */
  restart: (index: number) => Promise<void>
}

/** Both instances and HAProxy, until the test ends. */
async function openFixture(context: TestContext): Promise<Fixture> {
  const ports: [Ports, Ports] = [await freePorts(), await freePorts()]
  const start = ({ port, adminPort }: Ports) =>
    startService({
      DATABASE_URL,
      LOG_LEVEL: 'error',
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      SHUTDOWN_GRACE_MS: String(SHUTDOWN_GRACE_MS),
      TRUST_PROXY: '127.0.0.1',
    })
  const instances = await Promise.all(ports.map(start))
  context.onTestFinished(async () => {
    for (const instance of instances) instance.kill('SIGKILL')
    await Promise.all(instances.map(({ ended }) => ended))
  })
  const loadBalancer = await openLoadBalancer(context, ports)
  await loadBalancer.untilBoth('up')
  return {
    loadBalancer,
    instances,
    restart: async (index) => {
      instances[index] = await start(ports[index] as Ports)
      await loadBalancer.untilBoth('up')
    },
  }
}

async function openLoadBalancer(context: TestContext, ports: [Ports, Ports]): Promise<LoadBalancer> {
  const loadBalancer = await startLoadBalancer(ports)
  context.onTestFinished(loadBalancer.stop)
  context.onTestFailed(() => console.log(loadBalancer.log()))
  return loadBalancer
}

/** Starts readers and writers. Each pet has a unique name, and `creates` has the responses to its create by name. */
function openLoad(origin: string, until: AbortSignal) {
  const reads: Exchange[] = []
  const creates = new Map<string, Exchange[]>()
  let count = 0
  const load = runClients({ origin, apiKey }, CLIENTS, until, async ({ send }, index) => {
    if (index % 2 === 0) {
      reads.push(await send('GET', '/v1/pets?limit=5'))
      return
    }
    count += 1
    // Every other writer sends an Idempotency-Key and retries.
    const name = `${index % 4 === 1 ? 'once' : 'until'} ${origin} ${count}`
    const headers = name.startsWith('until') ? { 'idempotency-key': name } : {}
    const responses: Exchange[] = []
    creates.set(name, responses)
    do {
      responses.push(await send('POST', '/v1/pets', { name, categoryId: 1 }, headers))
      if (responses.at(-1)?.status !== 201) await sleep(100)
    } while (name.startsWith('until') && responses.at(-1)?.status !== 201)
  })
  // A failure is thrown where `load` is awaited, not as an unhandled rejection.
  load.catch(() => {})
  const exchanges = () => [...reads, ...[...creates.values()].flat()]
  const untilMore = async () => {
    const enough = exchanges().length + RESPONSES
    await expect.poll(() => exchanges().length).toBeGreaterThan(enough)
  }
  return { load, reads, creates, exchanges, untilMore }
}

/** Checks that a 5xx has exactly the body of a documented error, and returns its code. */
function codeOf({ status, body }: Exchange): ErrorCode | 'none' {
  if (status < 500) return 'none'
  const { code } = body as { code: ErrorCode }
  expect(body).toEqual(errorBody(code))
  expect(status).toBe(503)
  return code
}

function tally(exchanges: Exchange[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const exchange of exchanges) {
    const key = exchange.status < 500 ? String(exchange.status) : `${exchange.status} ${codeOf(exchange)}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

test('HAProxy accepts deploy/haproxy.cfg, alone and together with the configuration of Debian', () => {
  for (const files of [[HAPROXY_CONFIG], ['/etc/haproxy/haproxy.cfg', HAPROXY_CONFIG]]) {
    // -dW turns warnings into errors.
    execFileSync('haproxy', ['-c', '-dW', ...files.flatMap((file) => ['-f', file])], { stdio: 'pipe' })
  }
})

const REPLACEMENTS = volume(2, 4)

test(`no request fails while instances are replaced ${REPLACEMENTS} times under load`, async (context) => {
  const { loadBalancer, instances, restart } = await openFixture(context)
  const stopping = new AbortController()
  const { load, reads, creates, untilMore } = openLoad(loadBalancer.origin, stopping.signal)
  for (let replacements = 0; replacements < REPLACEMENTS; replacements += 1) {
    await untilMore()
    expect(await instances[replacements % 2]?.stop()).toBe(0)
    await restart(replacements % 2)
  }
  stopping.abort()
  await load
  console.log({ reads: tally(reads), creates: tally([...creates.values()].flat()) })
  expect(Object.keys(tally(reads))).toEqual(['200'])
  expect(Object.keys(tally([...creates.values()].flat()))).toEqual(['201'])
  expect(loadBalancer.log()).toContain('"requestId":"')
  expect(loadBalancer.log()).not.toMatch(/petstore_live_|limit=/)
})

const KILLS_MIN = volume(2, 8)

test('no pet is created twice and every error is documented when instances are killed under load', async (context) => {
  const { loadBalancer, instances, restart } = await openFixture(context)
  const stopping = new AbortController()
  const { load, reads, creates, exchanges, untilMore } = openLoad(loadBalancer.origin, stopping.signal)
  const isInterrupted = () => exchanges().some((exchange) => codeOf(exchange) === 'outcome_unknown')
  // At least one instance must be killed with a create in flight.
  for (let kills = 0; kills < KILLS_MIN || !isInterrupted(); kills += 1) {
    await untilMore()
    instances[kills % 2]?.kill('SIGKILL')
    await instances[kills % 2]?.ended
    await restart(kills % 2)
  }
  stopping.abort()
  await load
  console.log({ reads: tally(reads), creates: tally([...creates.values()].flat()) })

  // Every read succeeded, because HAProxy retries a read without a response on the other instance.
  expect(Object.keys(tally(reads))).toEqual(['200'])
  const rows = await sql<{ name: string; count: string }>(
    DATABASE_URL,
    'select name, count(*) from pets where name like $1 group by name',
    [`% ${loadBalancer.origin} %`],
  )
  const made = new Map(rows.map(({ name, count }) => [name, Number(count)]))
  for (const [name, responses] of creates) {
    const times = made.get(name) ?? 0
    const codes = responses.map(codeOf)
    if (responses.some(({ status }) => status === 201)) expect(times, name).toBe(1)
    else if (codes.includes('outcome_unknown')) expect(times, name).toBeLessThanOrEqual(1)
    else expect(times, `${name}: ${codes.join()}`).toBe(0)
  }
  expect(await auditFeed(DATABASE_URL)).toEqual([])
})

// The next four wait for timeouts of HAProxy and PostgreSQL. Each has instances and a HAProxy of its own.
test.concurrent('with both instances frozen, a read returns unavailable and a change returns outcome_unknown', async (context) => {
  const { loadBalancer, instances } = await openFixture(context)
  const client = openTestClient({ origin: loadBalancer.origin, apiKey })
  expect((await client.get('/pets?limit=1')).status).toBe(200)
  for (const instance of instances) instance.kill('SIGSTOP')
  const [list, create] = await Promise.all([
    client.get('/pets?limit=1'),
    client.post('/pets', { name: 'Still', categoryId: 1 }, { 'x-request-id': 'frozen' }),
  ])
  expect(list).toMatchObject({ status: 503, body: errorBody('unavailable') })
  expect(create).toMatchObject({ status: 503, body: errorBody('outcome_unknown') })
  expect(create.headers.get('x-request-id')).toBe('frozen')
  await loadBalancer.untilBoth('down')
  const next = await client.post('/pets', { name: 'Still', categoryId: 1 })
  expect(next).toMatchObject({ status: 503, body: errorBody('overloaded') })
})

test.concurrent('events get their numbers although a frozen process holds the lock of the sequencer', async (context) => {
  const databaseUrl = await createTestDatabase()
  const db = openTestDatabase(databaseUrl)
  // PostgreSQL cannot tell this session, which is idle in its transaction, from that of a frozen process.
  const frozen = new Client(databaseUrl)
  const ended = once(frozen, 'error')
  // A second error says that the connection was closed.
  frozen.on('error', () => {})
  await frozen.connect()
  await frozen.query(`begin; select pg_advisory_xact_lock(hashtext('petstore sequence events'))`)
  await sql(databaseUrl, `insert into pets (name, category_id) values ('Ada', 1)`)
  const isNumbered = async () => {
    await sequenceEvents(db)
    return (await findFeedState(db)).unnumberedSeconds === null
  }
  await context.expect.poll(isNumbered).toBe(true)
  expect(await ended).toMatchObject([{ code: IDLE_IN_TRANSACTION }])
})

test.concurrent('HAProxy forwards headers over 16 KiB to the service (431), and closes the connection of a malformed request', async (context) => {
  const { loadBalancer } = await openFixture(context)
  const get = (header: string) => `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`
  const [tooLarge] = await sendBytes(loadBalancer.origin, get(`A: ${'a'.repeat(20_000)}`))
  expect(tooLarge?.status).toBe(431)
  expect(JSON.parse(tooLarge?.text ?? '')).toEqual(errorBody('headers_too_large'))
  const unreadable = {
    'not HTTP': 'hello there\r\n\r\n',
    'an invalid method': get('A: b').replace('GET', 'G@T'),
    'an invalid header': get('hello'),
    'two lengths': get('Content-Length: 1\r\nContent-Length: 2'),
    'an unknown transfer encoding': get('Transfer-Encoding: gzip'),
    'headers over the buffer of HAProxy': get(`A: ${'a'.repeat(64_000)}`),
    'headers that never end': 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n',
  }
  for (const [what, bytes] of Object.entries(unreadable)) {
    expect(await sendBytes(loadBalancer.origin, bytes), what).toEqual([])
  }
})

test.concurrent('a stream of events outlives the timeouts of other requests, and continues on the other instance', async (context) => {
  const { expect: expectHere } = context
  const { loadBalancer, instances } = await openFixture(context)
  const { text } = await issueApiKey(openTestDatabase(DATABASE_URL), { scopes: ['events:read'] })
  const open = (lastEventId?: string) =>
    openStream({ origin: loadBalancer.origin, apiKey: text, query: 'after=latest', lastEventId, context })
  const addPet = () => sql(DATABASE_URL, `insert into pets (name, category_id) values ('Ada', 1)`)
  // HAProxy sends them to different instances, because it prefers the one with fewer connections.
  const streams = [await open(), await open()]
  await sleep(RESPONSE_TIMEOUT_IN_HAPROXY_MS + 1_000)
  await addPet()
  for (const { events } of streams) await expectHere.poll(() => events).toHaveLength(1)

  const stopped = instances[0]?.stop()
  const stream = await Promise.race(streams.map((one) => one.ended.then(() => one)))
  expect((await stream.ended).isClean).toBe(true)
  const resumed = await open(stream.lastEventId())
  expect(resumed.status).toBe(200)
  await addPet()
  await expectHere.poll(() => resumed.events).toHaveLength(1)
  expect(await stopped).toBe(0)
})

test('if no instance is running, every request returns overloaded at once', async (context) => {
  const loadBalancer = await openLoadBalancer(context, [await freePorts(), await freePorts()])
  const client = openTestClient({ origin: loadBalancer.origin, apiKey })
  for (const response of [
    await client.get('/pets', { headers: { 'x-request-id': 'no-instance' } }),
    await client.post('/pets', { name: 'Rex', categoryId: 1 }, { 'x-request-id': 'no-instance' }),
  ]) {
    // The test client has already checked Retry-After and the other headers.
    expect(response).toMatchObject({ status: 503, body: errorBody('overloaded') })
    expect(response.headers.get('x-request-id')).toBe('no-instance')
    expect(response.headers.get('link')).toBe('</docs/errors#overloaded>; rel="help"')
  }
})

describe('an instance behind HAProxy', () => {
  test('receives a safe request id, and the address from which the client connected to HAProxy', async (context) => {
    const received: IncomingHttpHeaders[] = []
    // This server replaces both instances, because the service does not return the headers that it receives.
    const { port, close } = await openLocalServer((request, response) => {
      if (request.url !== '/ready') received.push(request.headers)
      response.setHeader('x-request-id', request.headers['x-request-id'] ?? '').end()
    })
    context.onTestFinished(close)
    const ports = { port, adminPort: port }
    const loadBalancer = await openLoadBalancer(context, [ports, ports])
    const forged = {
      forwarded: 'for=1.2.3.4',
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'https',
    }
    const ids = ['mine-1', 'a b', 'x'.repeat(129), 'petstore_LIVE_0123', '']
    for (const id of ids) {
      const response = await fetch(loadBalancer.origin, { headers: { ...forged, 'x-request-id': id } })
      expect(response.headers.get('x-request-id')).toBe(received.at(-1)?.['x-request-id'])
    }
    expect(received.length).toBe(ids.length)
    for (const [index, headers] of received.entries()) {
      expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' })
      expect(headers['forwarded']).toBeUndefined()
      expect(headers['x-forwarded-host']).toBeUndefined()
      expect(headers['x-request-id']).toMatch(index === 0 ? /^mine-1$/ : /^[0-9a-f-]{36}$/)
    }
  })
})

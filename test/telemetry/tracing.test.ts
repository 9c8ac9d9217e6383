// Traces of a real service, exported to a receiver in this process.
import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ATTR_DB_NAMESPACE,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_QUERY_SUMMARY,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
  ATTR_USER_AGENT_ORIGINAL,
  DB_SYSTEM_NAME_VALUE_POSTGRESQL,
} from '@opentelemetry/semantic-conventions'
import { describe, expect, test } from 'vitest'
import { openStream } from '../support/event-stream.ts'
import { numberAllEvents } from '../support/feed-audit.ts'
import { openOtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts'
import { asDelivery } from '../support/roles.ts'
import { startService } from '../support/service.ts'
import { openReceiver } from '../support/webhook-receiver.ts'
import { ancestorsOf, childrenOf, recordProcess, SOON, startTraced } from '../support/tracing-fixture.ts'

const recording = recordProcess()
const traced = await startTraced({
  ...recording.environment,
  EVENT_STREAMS_MAX: '1',
  WEBHOOK_NETWORKS: '127.0.0.1',
  OTEL_RESOURCE_ATTRIBUTES: 'service.namespace=shop',
})
const { client, receiver, service } = traced
const { port: servicePort } = new URL(service.origin)

const REMOTE = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const sampledBy = (traceId: string) => ({ traceparent: `00-${traceId}-${REMOTE.spanId}-01` })
const randomTraceId = () => crypto.randomUUID().replaceAll('-', '')

/** Sends a request with a trace of its own, and waits for the span of the request. */
async function traceOf(send: (headers: Record<string, string>) => Promise<unknown>): Promise<{
  request: ReceivedSpan
  spans: ReceivedSpan[]
}> {
  const traceId = randomTraceId()
  await send(sampledBy(traceId))
  const isRequest = (span: ReceivedSpan) => span.traceId === traceId && span.kind === 'server'
  await receiver.until((spans) => spans.some(isRequest))
  return {
    request: receiver.spans.find(isRequest) as ReceivedSpan,
    spans: receiver.spans.filter((span) => span.traceId === traceId),
  }
}

const named = (spans: ReceivedSpan[], name: string) => spans.filter((span) => span.name === name)

test('a request is a server span with the attributes of the conventions', async () => {
  const { request } = await traceOf((headers) =>
    client.get('/pets?limit=3', {
      headers: { ...headers, 'x-request-id': 'abc-1', 'user-agent': 'probe/1' },
    }),
  )
  expect(request).toMatchObject({ name: 'GET /v1/pets', kind: 'server', status: 'unset', scope: 'petstore' })
  expect(request.attributes).toEqual({
    [ATTR_HTTP_REQUEST_METHOD]: 'GET',
    [ATTR_HTTP_ROUTE]: '/v1/pets',
    [ATTR_URL_PATH]: '/v1/pets',
    [ATTR_URL_SCHEME]: 'http',
    [ATTR_SERVER_ADDRESS]: '127.0.0.1',
    [ATTR_SERVER_PORT]: Number(servicePort),
    [ATTR_USER_AGENT_ORIGINAL]: 'probe/1',
    [ATTR_HTTP_RESPONSE_STATUS_CODE]: 200,
    'petstore.operation': 'listPets',
    'petstore.request_id': 'abc-1',
  })
  expect(request.resource).toMatchObject({
    [ATTR_SERVICE_NAME]: 'petstore',
    [ATTR_SERVICE_VERSION]: expect.stringMatching(/^\d+\.\d+/),
    [ATTR_SERVICE_INSTANCE_ID]: expect.stringContaining(`:${service.pid}`),
    'service.namespace': 'shop',
    'telemetry.sdk.name': 'opentelemetry',
  })
})

describe('the trace of the caller', () => {
  test('is continued', async () => {
    const { request } = await traceOf((headers) =>
      client.get('/store/inventory', { headers: { ...headers, tracestate: 'vendor=1' } }),
    )
    expect(request).toMatchObject({ parentId: REMOTE.spanId, traceState: 'vendor=1' })
  })

  test.each([
    'nonsense',
    `00-${'0'.repeat(32)}-${REMOTE.spanId}-01`,
    `00-${REMOTE.traceId}-${'0'.repeat(16)}-01`,
    `ff-${REMOTE.traceId}-${REMOTE.spanId}-01`,
    `00-${REMOTE.traceId}-${REMOTE.spanId}-01-more`,
    `00-${REMOTE.traceId.toUpperCase()}-${REMOTE.spanId}-01`,
  ])('is ignored if traceparent is invalid: %s', async (traceparent) => {
    const id = crypto.randomUUID()
    const { status } = await client.get('/store/inventory', { headers: { traceparent, 'x-request-id': id } })
    expect(status).toBe(200)
    const isOurs = ({ attributes }: ReceivedSpan) => attributes['petstore.request_id'] === id
    await receiver.until((spans) => spans.some(isOurs))
    const span = receiver.spans.find(isOurs)
    expect(span?.parentId).toBe('')
    expect(span?.traceId).not.toBe(REMOTE.traceId)
  })

  test('is not recorded if the caller has decided so, but its id is in the log', async () => {
    const traceId = randomTraceId()
    await client.get('/store/inventory', { headers: { traceparent: `00-${traceId}-${REMOTE.spanId}-00` } })
    await traceOf((headers) => client.get('/store/inventory', { headers }))
    expect(receiver.spans.filter((span) => span.traceId === traceId)).toEqual([])
    await expect.poll(service.log).toContain(`"traceId":"${traceId}"`)
  })
})

test('a create is a wait for its batch, and the batch with its statement', async () => {
  const { request, spans } = await traceOf((headers) =>
    client.post('/pets', { name: 'Rex', categoryId: 1 }, headers),
  )
  expect(childrenOf(spans, request).map(({ name }) => name)).toContain('wait for batch')
  const [batch] = named(childrenOf(spans, request), 'batch insertPet')
  expect(batch).toMatchObject({
    kind: 'internal',
    status: 'unset',
    attributes: { 'petstore.batch.size': 1 },
    links: [],
  })
  expect(named(childrenOf(spans, batch as ReceivedSpan), 'insert_pets')).toMatchObject([{ kind: 'client' }])
})

test('a create with an Idempotency-Key shows begin, its statements and commit', async () => {
  const { request, spans } = await traceOf((headers) =>
    client.post(
      '/pets',
      { name: 'Rex', categoryId: 1 },
      { ...headers, 'idempotency-key': crypto.randomUUID() },
    ),
  )
  const [batch] = named(childrenOf(spans, request), 'batch insertPetOnce')
  const statements = childrenOf(spans, batch as ReceivedSpan).filter(({ kind }) => kind === 'client')
  const names = statements.toSorted((one, other) => Number(one.start - other.start)).map(({ name }) => name)
  expect([names[0], names.at(-1)]).toEqual(['begin', 'commit'])
  expect(names).toContain('insert_pets')
  const { hostname, port, pathname } = new URL(traced.databaseUrl)
  for (const { attributes, name } of statements) {
    expect(attributes).toMatchObject({
      [ATTR_DB_SYSTEM_NAME]: DB_SYSTEM_NAME_VALUE_POSTGRESQL,
      [ATTR_DB_NAMESPACE]: pathname.slice(1),
      [ATTR_DB_QUERY_SUMMARY]: name,
      [ATTR_SERVER_ADDRESS]: hostname,
      [ATTR_SERVER_PORT]: Number(port),
    })
  }
  expect(statements.find(({ name }) => name === 'commit')?.attributes[ATTR_DB_OPERATION_NAME]).toBe('commit')
})

test('a create whose body arrives later than its headers has the same spans', async () => {
  const { request, spans } = await traceOf(async (headers) => {
    const sending = httpRequest(`${service.origin}/v1/pets`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${traced.apiKey}`, 'content-type': 'application/json' },
    })
    sending.write('{ "name": "Rex",')
    await sleep(100)
    sending.end('"categoryId": 1 }')
    const [response] = (await once(sending, 'response')) as [IncomingMessage]
    expect(response.resume().statusCode).toBe(201)
  })
  expect(named(childrenOf(spans, request), 'batch insertPet').length).toBe(1)
})

test('a list shows the coalesced page and the batch of pages within it', async () => {
  const { request, spans } = await traceOf((headers) => client.get('/pets?status=sold', { headers }))
  const [page] = named(childrenOf(spans, request), 'batch sharePage')
  const [batch] = named(childrenOf(spans, page as ReceivedSpan), 'batch findPage')
  expect(childrenOf(spans, batch as ReceivedSpan).map(({ name }) => name)).toContain(
    'find_pet_pages_by_status',
  )
})

test('a failure of the service has the status error and the code of the error; an error of the client has not', async () => {
  const { apiKey } = traced
  const open = (headers: Record<string, string>) => openStream({ origin: service.origin, apiKey, headers })
  let first: Awaited<ReturnType<typeof openStream>> | undefined
  // The span of a stream ends when the stream begins.
  const stream = await traceOf(async (headers) => (first = await open(headers)))
  expect(stream.request).toMatchObject({ name: 'GET /v1/events/stream', status: 'unset' })
  expect(stream.request.attributes[ATTR_HTTP_RESPONSE_STATUS_CODE]).toBe(200)
  const { request } = await traceOf(async (headers) => {
    expect((await client.get('/events/stream', { headers })).status).toBe(503)
  })
  first?.close()
  expect(request).toMatchObject({ status: 'error', statusMessage: '' })
  expect(request.attributes).toMatchObject({
    [ATTR_ERROR_TYPE]: 'overloaded',
    [ATTR_HTTP_RESPONSE_STATUS_CODE]: 503,
  })
  const messages = () =>
    service
      .log()
      .split('\n')
      .filter((line) => line.includes(request.traceId))
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
  await expect.poll(messages).toEqual(['request failed', 'request'])

  const { request: unknown } = await traceOf((headers) => client.call('GET', '/v1/none', { headers }))
  expect(unknown).toMatchObject({ name: 'GET', status: 'unset' })
  expect(unknown.attributes).not.toHaveProperty(ATTR_ERROR_TYPE)
  expect(unknown.attributes).not.toHaveProperty(ATTR_HTTP_ROUTE)
})

test('no span contains a query string, an API key, a name or a body', async () => {
  const { apiKey } = traced
  await traceOf((headers) => client.post('/pets', { name: 'canary-name', categoryId: 1 }, headers))
  await traceOf((headers) => client.get('/pets?name=canary-name&limit=7', { headers }))
  await traceOf((headers) => client.get(`/pets/${apiKey}`, { headers }))
  await traceOf((headers) => client.get(`/pets/${apiKey.replaceAll('_', '%5F')}`, { headers }))
  const { request } = await traceOf((headers) =>
    client.get('/store/inventory?canary-query', { headers: { ...headers, 'user-agent': `x ${apiKey}` } }),
  )
  expect(request.attributes).not.toHaveProperty(ATTR_USER_AGENT_ORIGINAL)
  const { request: long } = await traceOf((headers) =>
    client.get('/store/inventory', { headers: { ...headers, 'user-agent': 'x'.repeat(1_000) } }),
  )
  expect(long.attributes).not.toHaveProperty(ATTR_USER_AGENT_ORIGINAL)
  const exported = decodeURIComponent(
    JSON.stringify(receiver.spans, (_key, value: unknown) => (typeof value === 'bigint' ? '' : value)),
  )
  expect(exported).toContain('insert_pets')
  expect(exported).not.toMatch(/canary|petstore_live_|limit=/)
})

test('a long value is cut', async () => {
  const { request } = await traceOf((headers) => client.get(`/pets/${'1'.repeat(1_000)}`, { headers }))
  expect(request.attributes[ATTR_URL_PATH]).toBe(`/v1/pets/${'1'.repeat(247)}`)
})

test('deliver: each attempt is a trace, and the receiver of the webhook gets its traceparent', async () => {
  const collector = await openOtlpReceiver()
  const hook = await openReceiver()
  const url = new URL(hook.url)
  url.pathname = '/services/canary'
  url.search = 'token=canary'
  // Otherwise, the webhook would also get the latest changes, which have no number yet.
  await numberAllEvents(traced.db)
  const created = await client.post('/webhooks', { url: url.href, types: ['pet.created'] })
  expect(created.status, created.text).toBe(201)
  let failures = 1
  hook.respond(() => (failures-- > 0 ? 500 : 204))
  const deliver = await startService(
    {
      DATABASE_URL: asDelivery(traced.databaseUrl),
      WEBHOOK_NETWORKS: '127.0.0.1',
      WEBHOOK_RETRY_SECONDS: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      ...SOON,
    },
    { args: ['deliver'] },
  )
  await client.post('/pets', { name: 'Rex', categoryId: 1 })
  await hook.until((received) => received.length === 2)
  await collector.until((spans) => spans.length === 2)
  expect(await deliver.stop()).toBe(0)
  // The path of a receiver can be a secret.
  const target = {
    'server.address': '127.0.0.1',
    'server.port': Number(url.port),
    'url.full': `${url.origin}/REDACTED`,
  }
  const attempt = {
    'http.request.method': 'POST',
    ...target,
    'petstore.webhook_id': expect.stringMatching(/^\d+$/),
  }
  expect(collector.spans).toMatchObject([
    { name: 'POST', kind: 'client', parentId: '', status: 'error' },
    { name: 'POST', kind: 'client', parentId: '', status: 'unset' },
  ])
  expect(collector.spans.map(({ attributes }) => attributes)).toEqual([
    { ...attempt, 'http.response.status_code': 500, 'error.type': '500' },
    { ...attempt, 'http.response.status_code': 204, 'http.request.resend_count': 1 },
  ])
  expect(hook.received.map(({ headers }) => headers['traceparent'])).toEqual(
    collector.spans.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
  )
})

test('with tracing, the service connects to PostgreSQL and to the endpoint only', async () => {
  const connected = (lines: string[]) => lines.filter((line) => line.startsWith('connected')).toSorted()
  const { port } = new URL(traced.databaseUrl)
  expect(recording.recorded()).toContain('loaded @opentelemetry/sdk-trace')
  expect(connected(recording.recorded())).toEqual(
    [`connected 127.0.0.1:${port}`, `connected 127.0.0.1:${receiver.port}`].toSorted(),
  )
})

test('every span belongs to the trace of one request, and background jobs have none', async () => {
  const { spans } = receiver
  for (const span of spans.filter(({ kind }) => kind !== 'server')) {
    expect(ancestorsOf(spans, span).at(-1), `${span.name} belongs to no request`).toMatchObject({
      kind: 'server',
    })
  }
  const names = new Set(spans.map(({ name }) => name))
  expect([...names].filter((name) => /find_feed_state|number_events|fold/.test(name))).toEqual([])
})

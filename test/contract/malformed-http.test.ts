// Malformed HTTP, and HTTP that fetch cannot send: the service returns one response with the right status and a documented
// error.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert, expect, inject, test } from 'vitest'
import { parseExactly } from '../support/client.ts'
import { sendBytes, sendRequest } from '../support/raw-http.ts'
import { checkResponse } from '../support/responses.ts'
import { RAW_CASES } from './malformed-http-cases.ts'

const { origin, apiKey } = inject('contract')
const AUTHORIZATION = `Authorization: Bearer ${apiKey}`
const CODES: Record<number, string> = {
  400: 'malformed_request',
  401: 'missing_api_key',
  404: 'route_not_found',
  408: 'request_timeout',
  431: 'headers_too_large',
}
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\n\r\n`

test.concurrent.each(RAW_CASES)(
  'returns one response to $name ($status)',
  async ({ bytes, status, code = CODES[status], later }) => {
    const sent = bytes.replace('Bearer K', `Bearer ${apiKey}`)
    const responses = await sendBytes(origin, sent, { later })
    const texts = responses.map(({ text }) => text).join('\n')
    assert.deepEqual(
      responses.map((response) => response.status),
      [status],
      texts,
    )
    if (status < 400) return
    for (const response of responses) {
      const body = parseExactly(response.text)
      assert.equal((body as { code: string }).code, code, texts)
      checkResponse({ ...response, body, method: 'GET', path: '/v1/nothing' })
    }
  },
)

test('rejects headers over 16 KiB (431)', async () => {
  const response = await sendRequest(origin, { headers: [AUTHORIZATION, `X-Large: ${'x'.repeat(20_000)}`] })
  expect(response).toMatchObject({ status: 431, body: { code: 'headers_too_large' } })
})

test('never returns the Host or X-Forwarded-Host of the request', async () => {
  const body = '{"name": "Rex", "categoryId": 5}'
  const headers = [
    AUTHORIZATION,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'X-Forwarded-Host: evil.test',
  ]
  const created = await sendRequest(origin, { method: 'POST', host: 'evil.test', headers, body })
  expect(created.status).toBe(201)
  const { pathname } = new URL(created.headers.get('location') ?? '', origin)
  const read = (path: string) =>
    sendRequest(origin, { path, host: 'evil.test', headers: [AUTHORIZATION, 'X-Forwarded-Host: evil.test'] })
  for (const response of [created, await read(pathname), await read('/v1/pets?limit=1')]) {
    expect([...response.headers.values()].join()).not.toContain('evil.test')
  }
})

test('responds to a request before it rejects the malformed bytes after it', async () => {
  const responses = await sendBytes(origin, `${get('/v1/pets?limit=1')}garbage\r\n\r\n`, { count: 2 })
  expect(responses.map(({ status }) => status)).toEqual([200, 400])
})

test('responds to pipelined requests in the order of the requests', async () => {
  const bytes = get('/v1/pets?limit=1') + get('/v1/nothing') + get('/v1/pets?limit=0')
  const responses = await sendBytes(origin, bytes, { count: 3 })
  expect(responses.map(({ status }) => status)).toEqual([200, 404, 400])
})

const LARGE = 20 * 1024 * 1024
/** The service discards the rest of a body for 10 seconds at most. */
const DISCARD_MS = 10_000

/** Sends the whole body before reading. Returns undefined if the service closes the connection first. */
async function upload(): Promise<{ status: number | undefined; ms: number }> {
  const startedAt = performance.now()
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname).pause()
  const closed = new Promise((resolve) => void socket.once('close', resolve))
  socket.on('error', () => {})
  const lines = ['Host: x', AUTHORIZATION, 'Content-Type: application/json', `Content-Length: ${LARGE}`]
  socket.write(['POST /v1/pets HTTP/1.1', ...lines, '\r\n'].join('\r\n'))
  const sent = new Promise((resolve) => void socket.write(Buffer.alloc(LARGE, 'a'), resolve))
  await Promise.race([sent, closed])
  let text = ''
  socket
    .setEncoding('latin1')
    .on('data', (chunk: string) => (text += chunk))
    .resume()
  while (!socket.closed && !text.includes('\r\n\r\n')) await sleep(5)
  socket.destroy()
  const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1]
  return { status: status === undefined ? undefined : Number(status), ms: performance.now() - startedAt }
}

test('lets a client send 20 MiB and then read the response (413)', async () => {
  let outcome = await upload()
  // On a busy host the upload may take longer than the service discards. Try again then.
  while (outcome.status === undefined && outcome.ms > DISCARD_MS) outcome = await upload()
  expect(outcome.status).toBe(413)
})

test('continues to serve requests after the tests above', async () => {
  const responses = await sendBytes(origin, get('/v1/pets?limit=1'))
  expect(responses.map(({ status }) => status)).toEqual([200])
})

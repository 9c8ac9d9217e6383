// Sending webhooks to receivers that respond, and to slow, broken and hostile ones.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../src/data/demo/cluster.ts'
import { RESPONSE_BODY_MAX_BYTES, RESPONSE_HEADERS_MAX_BYTES } from '../../src/events/delivery/sender.ts'
import { until } from '../support/until.ts'
import { deliveryTo, openTestSender, startRawReceiver, startReceiver } from '../support/receivers.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const failure = (reason: string) => ({ kind: 'failure', reason, durationMs: expect.any(Number) })
const response = (status: number) => ({ kind: 'response', status, durationMs: expect.any(Number) })
/** For timeouts that must be reached. */
const SHORT_MS = 300

async function sendToRaw(respond: (socket: Socket, earlier: number) => unknown, timeoutMs?: number) {
  const receiver = await startRawReceiver(respond)
  const delivery = deliveryTo(receiver, timeoutMs === undefined ? {} : { timeoutMs })
  const outcome = await openTestSender().send(delivery)
  return { receiver, outcome }
}

test('sends a POST request with the headers and the body, and nothing that it was not given', async () => {
  let received: Partial<IncomingMessage> = {}
  let body = ''
  const receiver = await startReceiver((request, reply) => {
    received = request
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => reply.writeHead(202, { 'content-type': 'text/plain' }).end('thanks'))
  })
  expect(await openTestSender().send(deliveryTo(receiver))).toEqual(response(202))
  expect(received).toMatchObject({ method: 'POST', url: '/hook?shop=1' })
  expect(body).toBe('{"type":"pet.created"}')
  expect(received.headers).toEqual({
    host: `127.0.0.1:${receiver.port}`,
    connection: 'keep-alive',
    'content-length': '22',
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
  })
})

test.each([200, 204, 304, 400, 404, 410, 429, 500, 503])('returns the status %i', async (status) => {
  const receiver = await startReceiver((_request, reply) => reply.writeHead(status).end())
  expect(await openTestSender().send(deliveryTo(receiver))).toEqual(response(status))
})

test.each([301, 302, 303, 307, 308])('does not follow the redirect %i', async (status) => {
  const target = await startReceiver((_request, reply) => reply.end())
  const receiver = await startReceiver((_request, reply) => {
    reply.writeHead(status, { location: `http://127.0.0.1:${target.port}/` }).end()
  })
  expect(await openTestSender().send(deliveryTo(receiver))).toEqual(response(status))
  expect(target.connections).toBe(0)
})

test('keeps no cookies', async () => {
  const cookies: unknown[] = []
  const receiver = await startReceiver((request, reply) => {
    cookies.push(request.headers.cookie)
    reply.writeHead(200, { 'set-cookie': 'a=b' }).end()
  })
  const sender = openTestSender()
  for (let sent = 0; sent < 2; sent += 1) await sender.send(deliveryTo(receiver))
  expect(cookies).toEqual([undefined, undefined])
})

test('a small compressed body is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(500_000))
  expect(bomb.length).toBeLessThan(RESPONSE_BODY_MAX_BYTES)
  const receiver = await startReceiver((_request, reply) => {
    reply.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  })
  const sender = openTestSender()
  for (let sent = 0; sent < 3; sent += 1)
    expect(await sender.send(deliveryTo(receiver))).toEqual(response(200))
  expect(receiver.connections).toBe(1)
})

test('a receiver that sends no response causes a timeout, and its connection is closed', async () => {
  const { receiver, outcome } = await sendToRaw(() => {}, SHORT_MS)
  expect(outcome).toEqual(failure('timeout'))
  expect(outcome.durationMs).toBeGreaterThanOrEqual(SHORT_MS - 2)
  await expect.poll(() => receiver.open.size).toBe(0)
})

test('a receiver that sends its headers slowly causes a timeout', async () => {
  const { outcome } = await sendToRaw(async (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    while (!socket.destroyed) {
      socket.write('x-slow: 1\r\n')
      await sleep(20)
    }
  }, SHORT_MS)
  expect(outcome).toEqual(failure('timeout'))
})

test('a receiver that sends its body slowly has responded, and loses its connection', async () => {
  const { receiver, outcome } = await sendToRaw(async (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
    while (!socket.destroyed) {
      socket.write('.')
      await sleep(200)
    }
  }, 600_000)
  expect(outcome).toEqual(response(200))
  await expect.poll(() => receiver.open.size).toBe(0)
})

test('a timeout during a slow body does not change the outcome', async () => {
  const receiver = await startRawReceiver((socket) =>
    socket.write('HTTP/1.1 503 Unavailable\r\ncontent-length: 10\r\n\r\n'),
  )
  const sender = openTestSender()
  // Connections do not use these functions.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const sending = sender.send(deliveryTo(receiver, { timeoutMs: SHORT_MS }))
  // The timeout of the request, and that of the body, which begins with the status.
  await until(() => vi.getTimerCount() === 2)
  vi.advanceTimersByTime(SHORT_MS)
  expect(await sending).toEqual(response(503))
})

test('the connection of an endless body is closed after 1 KiB', async () => {
  let sentBytes = 0
  const { receiver, outcome } = await sendToRaw(async (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    while (!socket.destroyed) {
      sentBytes += 1_024
      if (!socket.write(`400\r\n${'.'.repeat(1_024)}\r\n`))
        await Promise.race([once(socket, 'drain'), once(socket, 'close')])
      await sleep(1)
    }
  })
  expect(outcome).toEqual(response(200))
  await expect.poll(() => receiver.open.size).toBe(0)
  expect(sentBytes).toBeLessThan(10_000_000)
})

test('a connection is reused after a body of 1 KiB, and closed after a much longer one', async () => {
  const sizes = [RESPONSE_BODY_MAX_BYTES, RESPONSE_BODY_MAX_BYTES, 1_000_000, 1]
  const connectionsAfter: number[] = []
  const receiver = await startReceiver((_request, reply) => {
    reply.end('.'.repeat(sizes[connectionsAfter.length] ?? 0))
  })
  const sender = openTestSender()
  while (connectionsAfter.length < sizes.length) {
    expect(await sender.send(deliveryTo(receiver))).toEqual(response(200))
    connectionsAfter.push(receiver.connections)
  }
  expect(connectionsAfter).toEqual([1, 1, 1, 2])
})

test('a body that ends too early does not change the outcome', async () => {
  const { outcome } = await sendToRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n.'))
  expect(outcome).toEqual(response(200))
})

test('accepts headers of almost 16 KiB, and rejects larger ones', async () => {
  const respondWith = (bytes: number) => (socket: Socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-large: ${'a'.repeat(bytes)}\r\n\r\n`)
  expect((await sendToRaw(respondWith(RESPONSE_HEADERS_MAX_BYTES - 200))).outcome).toEqual(response(200))
  const { receiver, outcome } = await sendToRaw(respondWith(RESPONSE_HEADERS_MAX_BYTES))
  expect(outcome).toEqual(failure('malformed_response'))
  await expect.poll(() => receiver.open.size).toBe(0)
})

test.each([
  'SSH-2.0-OpenSSH_9.2\r\n',
  '220 mail.example ESMTP\r\n',
  'HTTP/1.1 banana\r\n\r\n',
  'HTTP/1.1 200 OK\r\nno colon\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
  'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
  '\u0000\u0001\u0002\u0003',
])('rejects the malformed response %j', async (text) => {
  const { receiver, outcome } = await sendToRaw((socket) => socket.write(text))
  expect(outcome).toEqual(failure('malformed_response'))
  await expect.poll(() => receiver.open.size).toBe(0)
})

test('ignores a few 1xx responses, and rejects an endless number of them', async () => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
  const { outcome } = await sendToRaw((socket) =>
    socket.write(`HTTP/1.1 100 Continue\r\n\r\n${hint.repeat(3)}${OK}`),
  )
  expect(outcome).toEqual(response(200))
  const endless = await sendToRaw(async (socket) => {
    while (!socket.destroyed) {
      socket.write(hint)
      await sleep(1)
    }
  })
  expect(endless.outcome).toEqual(failure('malformed_response'))
  await expect.poll(() => endless.receiver.open.size).toBe(0)
})

test('a connection that is closed or reset before the response is lost, and not retried', async () => {
  const closed = await sendToRaw((socket) => socket.end())
  expect(closed.outcome).toEqual(failure('connection_lost'))
  const reset = await sendToRaw((socket) => socket.resetAndDestroy())
  expect(reset.outcome).toEqual(failure('connection_lost'))
  const partial = await sendToRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-'))
  expect(partial.outcome).toEqual(failure('connection_lost'))
  expect([closed, reset, partial].map(({ receiver }) => receiver.connections)).toEqual([1, 1, 1])
})

test('nothing listens on the port: connection_refused', async () => {
  expect(await openTestSender().send(deliveryTo({ port: await freePort() }))).toEqual(
    failure('connection_refused'),
  )
})

test.each([
  ['0', 0],
  ['120', 120],
  ['3600', 3_600],
  ['3601', 3_600],
  ['99999999999999999999999999', 3_600],
  ['Fri, 31 Dec 1999 23:59:59 GMT', 0],
  ['Thu, 01 Jan 2099 00:00:00 GMT', 3_600],
])('reads Retry-After: %s', async (text, retryAfterSeconds) => {
  const receiver = await startReceiver((_request, reply) =>
    reply.writeHead(503, { 'retry-after': text }).end(),
  )
  expect(await openTestSender().send(deliveryTo(receiver))).toEqual({ ...response(503), retryAfterSeconds })
})

test('reads a date in Retry-After as seconds from now', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T00:00:00Z') })
  onTestFinished(() => void vi.useRealTimers())
  const receiver = await startReceiver((_request, reply) => {
    reply.writeHead(429, { 'retry-after': 'Thu, 01 Jan 2026 00:10:00 GMT' }).end()
  })
  expect(await openTestSender().send(deliveryTo(receiver))).toEqual({
    ...response(429),
    retryAfterSeconds: 600,
  })
})

test.each([
  '',
  'soon',
  '-5',
  '1.5',
  '1e9',
  '0x10',
  '5 minutes',
  'Thu, 99 Foo 2099 00:00:00 GMT',
  '2099-01-01T00:00:00Z',
])('ignores Retry-After: %j', async (text) => {
  // As bytes, because the server of Node would not send some of them.
  const { outcome } = await sendToRaw((socket) =>
    socket.write(`HTTP/1.1 503 Unavailable\r\ncontent-length: 0\r\nretry-after: ${text}\r\n\r\n`),
  )
  expect(outcome).toEqual(response(503))
})

test.each([
  '',
  'hook',
  'ftp://127.0.0.1/',
  'http://sam:secret@127.0.0.1/',
  'http://sam@127.0.0.1/',
  'file:///etc/passwd',
  'http://',
])('never throws: the URL %j is an invalid request', async (url) => {
  expect(await openTestSender().send(deliveryTo({ port: 0 }, { url }))).toEqual(failure('invalid_request'))
})

test('never throws: a header with a line break is an invalid request', async () => {
  const receiver = await startReceiver((_request, reply) => reply.end())
  const delivery = deliveryTo(receiver, { headers: { 'x-name': 'a\r\nhost: other' } })
  expect(await openTestSender().send(delivery)).toEqual(failure('invalid_request'))
  expect(receiver.connections).toBe(0)
})

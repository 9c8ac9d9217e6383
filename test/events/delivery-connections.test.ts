// The connections of the sender: reuse, limits, TLS, and their end.
import { execFile } from 'node:child_process'
import type { RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { getCACertificates, connect as connectTls, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCertificate } from '../../lab/parts/certificate.ts'
import { checkPeer, ConnectionFault, IDLE_CONNECTIONS_MAX } from '../../src/events/delivery/connections.ts'
import { addressRule } from '../../src/events/webhooks/addresses.ts'
import {
  deliveryTo,
  openTestSender,
  startRawReceiver,
  startReceiver,
  startTlsReceiver,
} from '../support/receivers.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const failure = (reason: string) => ({ kind: 'failure', reason, durationMs: expect.any(Number) })
const response = (status: number) => ({ kind: 'response', status, durationMs: expect.any(Number) })
const thank: RequestListener = (_request, reply) => void reply.end('thanks')
const SHORT_MS = 300

const trusted = makeCertificate(['DNS:shop.example', 'IP:127.0.0.1'])
const unknown = makeCertificate(['DNS:shop.example', 'IP:127.0.0.1'])
const certificatesBefore = getCACertificates('default')
beforeAll(() => setDefaultCACertificates([...certificatesBefore, trusted.cert]))
afterAll(() => setDefaultCACertificates(certificatesBefore))
/** All names are those of 127.0.0.1. */
const lookup = async () => ['127.0.0.1']

test('requests to one host and port use one connection, one after the other', async () => {
  const [plain, encrypted] = [await startReceiver(thank), await startTlsReceiver(thank, trusted)]
  const sender = openTestSender({ lookup })
  for (let sent = 0; sent < 10; sent += 1) {
    expect(await sender.send(deliveryTo(plain))).toEqual(response(200))
    const url = `https://shop.example:${encrypted.port}/`
    expect(await sender.send(deliveryTo(encrypted, { url }))).toEqual(response(200))
  }
  expect([plain.connections, encrypted.connections]).toEqual([1, 1])
})

test('connections to one host are limited, and further requests wait', async () => {
  const receiver = await startReceiver((_request, reply) => void setTimeout(() => reply.end(), 20))
  const sender = openTestSender({ connectionsPerHostMax: 3 })
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => sender.send(deliveryTo(receiver))))
  expect(outcomes).toEqual(Array(20).fill(response(200)))
  expect(receiver.openMax).toBe(3)
})

test('a request that waits for a connection has a timeout too; other hosts are not affected', async () => {
  const stalled = await startReceiver(() => {})
  const other = await startReceiver(thank)
  const sender = openTestSender({ connectionsPerHostMax: 2 })
  const inFlight = Array.from({ length: 2 }, () => sender.send(deliveryTo(stalled)))
  await expect.poll(() => stalled.connections).toBe(2)
  const waiting = Array.from({ length: 3 }, () => sender.send(deliveryTo(stalled, { timeoutMs: SHORT_MS })))
  expect(await sender.send(deliveryTo(other))).toEqual(response(200))
  expect(await Promise.all(waiting)).toEqual(Array(3).fill(failure('timeout')))
  expect(stalled.connections).toBe(2)
  await sender.close()
  expect(await Promise.all(inFlight)).toEqual(Array(2).fill(failure('aborted')))
})

test('idle connections to all hosts together are limited', async () => {
  const receiver = await startReceiver(thank)
  const sender = openTestSender({ lookup })
  for (let host = 0; host < IDLE_CONNECTIONS_MAX + 10; host += 1) {
    const url = `http://host-${host}.example:${receiver.port}/`
    expect(await sender.send(deliveryTo(receiver, { url }))).toEqual(response(200))
  }
  await expect.poll(() => receiver.open.size).toBe(IDLE_CONNECTIONS_MAX)
})

test('a request on an idle connection that the receiver resets is sent once more, on a new connection', async () => {
  const receiver = await startRawReceiver((socket, earlier) => {
    if (earlier === 1) socket.resetAndDestroy()
    else socket.write(OK)
  })
  const sender = openTestSender()
  expect(await sender.send(deliveryTo(receiver))).toEqual(response(200))
  expect(await sender.send(deliveryTo(receiver))).toEqual(response(200))
  expect(receiver.connections).toBe(2)
})

test('a TLS receiver that closes an idle connection when a request arrives gets it once more', async () => {
  let requests = 0
  const receiver = await startTlsReceiver((request, reply) => {
    requests += 1
    if (requests === 2) request.socket.end()
    else reply.end()
  }, trusted)
  const sender = openTestSender()
  const delivery = deliveryTo(receiver, { url: `https://127.0.0.1:${receiver.port}/` })
  expect(await sender.send(delivery)).toEqual(response(200))
  expect(await sender.send(delivery)).toEqual(response(200))
  expect([requests, receiver.connections]).toEqual([3, 2])
})

test('a request is not sent a third time', async () => {
  let requests = 0
  const receiver = await startRawReceiver((socket, earlier) => {
    requests += 1
    if (earlier === 0) socket.write(OK)
    else socket.resetAndDestroy()
  })
  const sender = openTestSender()
  expect(await sender.send(deliveryTo(receiver))).toEqual(response(200))
  expect(await sender.send(deliveryTo(receiver))).toEqual(failure('connection_lost'))
  expect(requests).toBe(3)
})

test('a request is not sent again if a part of the response has arrived', async () => {
  const receiver = await startRawReceiver((socket, earlier) => {
    if (earlier === 0) socket.write(OK)
    else socket.end('HTTP/1.1 200 OK\r\n')
  })
  const sender = openTestSender()
  expect(await sender.send(deliveryTo(receiver))).toEqual(response(200))
  expect(await sender.send(deliveryTo(receiver))).toEqual(failure('connection_lost'))
  expect(receiver.connections).toBe(1)
})

test('verifies the certificate: known issuer and name of the host', async () => {
  const sender = openTestSender({ lookup })
  const send = (host: string, { port }: { port: number }) =>
    sender.send(deliveryTo({ port }, { url: `https://${host}:${port}/` }))
  const receiver = await startTlsReceiver(thank, trusted)
  expect(await send('shop.example', receiver)).toEqual(response(200))
  expect(await send('127.0.0.1', receiver)).toEqual(response(200))
  expect(await send('other.example', receiver)).toEqual(failure('tls_failed'))
  expect(await send('shop.example', await startTlsReceiver(thank, unknown))).toEqual(failure('tls_failed'))
  expect(await send('shop.example', await startReceiver(thank))).toEqual(failure('tls_failed'))
})

test('a receiver that never finishes the TLS handshake causes a timeout', async () => {
  const receiver = await startRawReceiver(() => {})
  const url = `https://127.0.0.1:${receiver.port}/`
  const outcome = await openTestSender().send(deliveryTo(receiver, { url, timeoutMs: SHORT_MS }))
  expect(outcome).toEqual(failure('timeout'))
  await expect.poll(() => receiver.open.size).toBe(0)
})

test('a signal cancels a request, also one that has not started', async () => {
  const receiver = await startReceiver(() => {})
  const sender = openTestSender()
  const stop = new AbortController()
  const sending = sender.send(deliveryTo(receiver, { signal: stop.signal }))
  await expect.poll(() => receiver.open.size).toBe(1)
  stop.abort()
  expect(await sending).toEqual(failure('aborted'))
  await expect.poll(() => receiver.open.size).toBe(0)
  expect(await sender.send(deliveryTo(receiver, { signal: stop.signal }))).toEqual(failure('aborted'))
  expect(receiver.connections).toBe(1)
})

test('close() cancels requests in flight and waiting, and closes all connections', async () => {
  const [stalled, idle] = [await startReceiver(() => {}), await startReceiver(thank)]
  const sender = openTestSender({ connectionsPerHostMax: 1 })
  expect(await sender.send(deliveryTo(idle))).toEqual(response(200))
  const sending = [sender.send(deliveryTo(stalled)), sender.send(deliveryTo(stalled))]
  await expect.poll(() => stalled.open.size).toBe(1)
  await sender.close()
  expect(await Promise.all(sending)).toEqual([failure('aborted'), failure('aborted')])
  // The idle timeout of the connections is much longer.
  await expect.poll(() => idle.open.size + stalled.open.size).toBe(0)
  expect(await sender.send(deliveryTo(idle))).toEqual(failure('aborted'))
  await sender.close()
})

test('a peer with a blocked address receives no byte, neither of the request nor of the TLS handshake', async () => {
  const received: Buffer[] = []
  const receiver = await startRawReceiver(() => received.push(Buffer.from('.')))
  const to = { port: receiver.port, host: '127.0.0.1' }
  const open: (() => Socket)[] = [() => connect(to), () => connectTls(to)]
  for (const [index, connectPeer] of open.entries()) {
    const socket = connectPeer()
    checkPeer(socket, addressRule([]), 'https:')
    socket.write('secret')
    const error = await new Promise((resolve) => socket.on('error', resolve))
    expect(error).toEqual(new ConnectionFault('address_blocked'))
    await expect.poll(() => [receiver.connections, receiver.open.size]).toEqual([index + 1, 0])
  }
  expect(received).toEqual([])
})

test('ignores the proxy variables of the environment', async () => {
  const [proxy, receiver] = [await startReceiver(thank), await startReceiver(thank)]
  const program = `
    import { openSender } from ${JSON.stringify(join(import.meta.dirname, '../../src/events/delivery/sender.ts'))}
    const sender = openSender({ allowedNetworks: ['127.0.0.1'], connectionsPerHostMax: 1 })
    const outcome = await sender.send(${JSON.stringify(deliveryTo(receiver))})
    console.log(outcome.status)
    await sender.close()`
  const proxyUrl = `http://127.0.0.1:${proxy.port}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env: { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl, http_proxy: proxyUrl },
    timeout: 120_000,
  })
  expect(stdout.trim()).toBe('200')
  expect([proxy.connections, receiver.connections]).toEqual([0, 1])
})

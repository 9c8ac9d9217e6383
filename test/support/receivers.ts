// Receivers of webhooks on loopback: well-behaved ones, and ones that send any bytes.
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { afterAll, onTestFinished } from 'vitest'
import type { Certificate } from '../../lab/parts/certificate.ts'
import {
  type SendRequest,
  openSender,
  type Sender,
  type SenderOptions,
} from '../../src/events/delivery/sender.ts'

export interface Receiver {
  port: number
  /** Connections so far. */
  connections: number
  /** Connections that are open now, and the max at any time. */
  open: Set<Socket>
  openMax: number
}

async function listen(server: Server, host: string, port: number): Promise<Receiver> {
  const receiver: Receiver = { port: 0, connections: 0, open: new Set(), openMax: 0 }
  server.on('connection', (socket: Socket) => {
    receiver.connections += 1
    receiver.open.add(socket)
    receiver.openMax = Math.max(receiver.openMax, receiver.open.size)
    socket.on('error', () => {})
    socket.on('close', () => receiver.open.delete(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  receiver.port = (server.address() as AddressInfo).port
  afterAll(() => {
    for (const socket of receiver.open) socket.destroy()
    server.close()
  })
  return receiver
}

/** Receivers and senders keep idle connections longer than any test takes. */
const IDLE_TIMEOUT_MS = 600_000
/** Longer than any test takes: tests of the timeout choose a shorter one. */
const SEND_TIMEOUT_MS = 120_000

export function startReceiver(
  respond: RequestListener,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<Receiver> {
  return listen(createHttpServer({ keepAliveTimeout: IDLE_TIMEOUT_MS }, respond), host, port)
}

export function startTlsReceiver(respond: RequestListener, certificate: Certificate): Promise<Receiver> {
  return listen(
    createHttpsServer({ keepAliveTimeout: IDLE_TIMEOUT_MS, ...certificate }, respond),
    '127.0.0.1',
    0,
  )
}

/** `respond` is called with the number of earlier requests, once for each chunk that arrives. Requests here have one chunk. */
export async function startRawReceiver(
  respond: (socket: Socket, earlier: number) => unknown,
): Promise<Receiver> {
  let requests = 0
  const server = createTcpServer((socket) => {
    socket.on('data', () => {
      requests += 1
      respond(socket, requests - 1)
    })
  })
  return listen(server, '127.0.0.1', 0)
}

/** A sender that can reach 127.0.0.1, and is closed after the test. */
export function openTestSender(options: Partial<SenderOptions> = {}): Sender {
  const sender = openSender({
    allowedNetworks: ['127.0.0.1'],
    connectionsPerHostMax: 4,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    ...options,
  })
  onTestFinished(() => sender.close())
  return sender
}

export function deliveryTo({ port }: { port: number }, changes: Partial<SendRequest> = {}): SendRequest {
  return {
    url: `http://127.0.0.1:${port}/hook?shop=1`,
    headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
    body: '{"type":"pet.created"}',
    timeoutMs: SEND_TIMEOUT_MS,
    ...changes,
  }
}

// Shutdown of a process: clients that have just connected still get their responses.
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { Metrics } from '../../src/telemetry/metrics.ts'
import { openServer } from '../../src/http/server.ts'
import { stopListening } from '../../src/http/stop-listening.ts'

const GET = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

async function listen(): Promise<{ server: Server; port: number }> {
  const server = openServer((_request, response) => void response.end('ok'), {
    inFlightMax: 100,
    connectionsMax: 100,
    stalledAfterMs: 10_000,
    corsOrigins: [],
    publicUrl: '',
    metrics: {} as Metrics,
    isDraining: () => true,
    http: {},
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

/** The first line of the response, or the code of the error, once the connection has ended. */
async function outcomeOf(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    text = code ?? ''
  })
  await new Promise((resolve) => socket.once('close', resolve))
  return text.split('\r\n')[0] ?? ''
}

test('a connection whose first request has not arrived yet gets its response', async () => {
  const { server, port } = await listen()
  const socket = connect(port, '127.0.0.1')
  const outcome = outcomeOf(socket)
  await once(server, 'connection')
  const stopped = stopListening(server)
  socket.write(GET)
  await stopped
  server.close()
  expect(await outcome).toBe('HTTP/1.1 200 OK')
})

test('connections that wait to be accepted get their responses; later connections get ECONNREFUSED', async () => {
  const { server, port } = await listen()
  const sockets = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) socket.write(GET)
  const outcomes = sockets.map(outcomeOf)
  await once(sockets.at(-1) as Socket, 'connect')
  await stopListening(server)
  server.close()
  expect(await outcomeOf(connect(port, '127.0.0.1'))).toBe('ECONNREFUSED')
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['HTTP/1.1 200 OK']))
})

test('a connection that sends no request is closed, and does not delay the shutdown', async () => {
  const { server, port } = await listen()
  const outcome = outcomeOf(connect(port, '127.0.0.1'))
  await once(server, 'connection')
  await stopListening(server)
  server.close()
  expect(await outcome).toBe('')
})

// The service resets the connection of a client that does not read its response. A slow client keeps its connection.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { acceptedBytes, resetStalledConnections } from '../../src/http/stalled-responses.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { until } from '../support/until.ts'

const STALLED_AFTER_MS = 500
/** Slightly less than the time after which a connection is reset. */
const ALMOST_STALLED_MS = STALLED_AFTER_MS * 0.9
/** More than the kernel buffers for client and server. */
const BYTES = 16 * 1_048_576

function open(origin: string, request: string): Socket {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname.replaceAll(/[[\]]/g, ''))
  onTestFinished(() => void socket.destroy())
  return socket.setEncoding('latin1').once('connect', () => socket.write(request))
}

/** Writes until an error, because a client that does not read notices a reset only when it writes. */
async function reset(socket: Socket): Promise<string> {
  const writing = setInterval(() => socket.write('\r\n'), 50)
  const [{ code }] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  clearInterval(writing)
  return code ?? ''
}

async function startServer(respond: RequestListener): Promise<string> {
  const server = createServer(respond)
  resetStalledConnections(server, STALLED_AFTER_MS)
  onTestFinished(() => {
    server.close().closeAllConnections()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Stops the timer that checks the connections of a server that starts later. */
function stopChecks(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

test('the service resets the connection of a client that reads nothing', async () => {
  const databaseUrl = await createTestDatabase()
  await sql(
    databaseUrl,
    `insert into pets (name, category_id) select repeat('🐶', 490), 1 from generate_series(1, 100)`,
  )
  const db = openTestDatabase(databaseUrl)
  const petstore = await startApp(db, { stalledAfterMs: STALLED_AFTER_MS })
  const { text: apiKey } = await issueApiKey(db)
  const list = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`
  const pages = Math.ceil(BYTES / 200_000)
  expect(await reset(open(petstore.origin, list.repeat(pages)).pause())).toMatch(/ECONNRESET|EPIPE/)
})

test('a client that reads slowly gets the whole response', async () => {
  stopChecks()
  let accepted = () => 0
  const origin = await startServer(({ socket }, response) => {
    accepted = () => (socket.writableLength === 0 ? Number.POSITIVE_INFINITY : acceptedBytes(socket))
    response.end(Buffer.alloc(BYTES))
  })
  let [length, before, pauses] = [0, 0, 0]
  for await (const chunk of open(origin, GET)) {
    length += (chunk as string).length
    if (accepted() === before) continue
    before = accepted()
    vi.advanceTimersByTime(ALMOST_STALLED_MS)
    pauses += 1
  }
  expect(length).toBeGreaterThan(BYTES)
  expect(pauses).toBeGreaterThan(2)
})

test('the service resets the connection of a client that reads nothing while the response still grows', async () => {
  const origin = await startServer((_request, response) => {
    response.write(Buffer.alloc(BYTES))
    const keepAlive = setInterval(() => response.write(':\n'), STALLED_AFTER_MS / 20)
    response.on('close', () => clearInterval(keepAlive))
  })
  expect(await reset(open(origin, GET).pause())).toMatch(/ECONNRESET|EPIPE/)
})

test('a stream with nothing to send stays open', async () => {
  stopChecks()
  let write = (_text: string) => {}
  const origin = await startServer((_request, response) => {
    write = (text) => void response.write(text)
    write('first')
  })
  let received = ''
  open(origin, GET).on('data', (text: string) => {
    received += text
  })
  await until(() => received.includes('first'))
  vi.advanceTimersByTime(3 * STALLED_AFTER_MS)
  write('last')
  await expect.poll(() => received).toContain('last')
})

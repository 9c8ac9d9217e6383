// A CONNECT request takes a connection only until its response is sent, also if the client keeps its side open.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

const CONNECT = 'CONNECT petstore.test:443 HTTP/1.1\r\nHost: petstore.test:443\r\n\r\n'
const { origin } = await startApp(openTestDatabase(await createTestDatabase()))

/** The client keeps its side of the connection open when the service has closed the other side. */
function open(): Socket {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  return socket.once('connect', () => socket.write(CONNECT))
}

/** Everything that the service sends until it closes its side. */
async function readAll(socket: Socket): Promise<string> {
  let received = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk
  })
  await once(socket, 'end')
  return received
}

test('the service closes the connection, also if the client does not', async () => {
  const socket = open()
  expect(await readAll(socket)).toMatch(/^HTTP\/1.1 400 /)
  // A write to a connection that is closed completely gets a reset.
  const writing = setInterval(() => socket.write('more'), 100)
  onTestFinished(() => clearInterval(writing))
  const [{ code }] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  expect(['ECONNRESET', 'EPIPE']).toContain(code)
})

test('a client that sends more after its request gets the response', async () => {
  const socket = open()
  socket.write('x'.repeat(100_000))
  expect(await readAll(socket)).toContain('"code":"malformed_request"')
})

// Sends exact bytes on keep-alive connections, for requests that no HTTP client would send. Each gets one response.
import { connect, type Socket } from 'node:net'
import { type TestResponse, parseExactly } from '../../support/client.ts'

const TIMEOUT_MS = 300_000

export interface Request {
  method: string
  /** The request target as sent, one byte per character. */
  target: string
  /** Without the key. */
  headers: [name: string, value: string][]
  /** The whole value of each Authorization header. */
  authorization: string[]
  body: Buffer | undefined
}

export interface Connection {
  send: (request: Request) => Promise<TestResponse>
  close: () => void
}

export function openConnection(origin: string): Connection {
  const { hostname, port, host } = new URL(origin)
  let open: { socket: Socket; receive: (method: string) => Promise<Omit<TestResponse, 'body'>> } | undefined

  async function send(request: Request): Promise<TestResponse> {
    if (open === undefined || open.socket.destroyed) {
      const socket = connect({ port: Number(port), host: hostname, noDelay: true })
      open = { socket, receive: responsesOf(socket) }
    }
    const { socket, receive } = open
    socket.write(toBytes(request, host))
    const { status, headers, text } = await receive(request.method)
    if (headers.get('connection') === 'close') socket.destroy()
    return { status, headers, text, body: parseExactly(text) }
  }

  return { send, close: () => open?.socket.destroy() }
}

function toBytes({ method, target, headers, authorization, body }: Request, host: string): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    ...authorization.map((value) => `Authorization: ${value}`),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${body.length}`]),
    '\r\n',
  ]
  const head = Buffer.from(lines.join('\r\n'), 'latin1')
  return body === undefined ? head : Buffer.concat([head, body])
}

/** Reads the responses of a socket one by one. */
function responsesOf(socket: Socket): (method: string) => Promise<Omit<TestResponse, 'body'>> {
  let received: Buffer = Buffer.alloc(0)
  let waiting:
    | {
        method: string
        resolve: (response: Omit<TestResponse, 'body'>) => void
        reject: (error: Error) => void
      }
    | undefined

  function settle(): void {
    if (waiting === undefined) return
    const read = readResponse(received, waiting.method)
    if (read === undefined) return
    received = received.subarray(read.length)
    const { resolve } = waiting
    waiting = undefined
    resolve(read.response)
  }
  function fail(error: Error): void {
    socket.destroy()
    waiting?.reject(error)
    waiting = undefined
  }
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    settle()
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the service closed the connection without a response')))
  socket.setTimeout(TIMEOUT_MS, () => fail(new Error('the service did not respond in time')))

  return (method) => {
    if (received.length > 0) throw new Error(`unexpected bytes: ${received.toString('latin1')}`)
    const { promise, resolve, reject } = Promise.withResolvers<Omit<TestResponse, 'body'>>()
    waiting = { method, resolve, reject }
    return promise
  }
}

function readResponse(
  bytes: Buffer,
  method: string,
): { response: Omit<TestResponse, 'body'>; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const hasBody = method !== 'HEAD' && status !== 204
  const length = end + 4 + (hasBody ? Number(headers.get('content-length')) : 0)
  if (bytes.length < length) return undefined
  return { response: { status, headers, text: bytes.toString('utf8', end + 4, length) }, length }
}

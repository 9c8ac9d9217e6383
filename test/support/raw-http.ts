// Sends raw bytes over TCP, for requests that fetch cannot send, and parses the HTTP responses.
import { connect } from 'node:net'
import { assert } from 'vitest'
import { parseExactly, type TestResponse } from './client.ts'
import { isBusy, retryWhileBusy } from './load.ts'
import { checkResponse } from './responses.ts'

/** The id of a request that ends a connection. Its response comes after all others, also unexpected ones. */
const LAST_REQUEST_ID = 'last-request-of-the-connection'
/** Closes a connection that receives nothing for this long. */
const TIMEOUT_MS = 120_000

export interface RawResponse {
  status: number
  headers: Headers
  text: string
}

interface SendOptions {
  method?: string
  /** Sent when the response starts to arrive. */
  later?: string | undefined
  /** The number of responses to wait for. */
  count?: number
}

/**
 * Sends the bytes and returns every response, including those beyond the expected `count`. Sends them again if the service
 * rejects a request because the host is busy.
 */
export async function sendBytes(
  origin: string,
  bytes: string | Uint8Array,
  options: SendOptions = {},
): Promise<RawResponse[]> {
  const send = async () => {
    const responses = await sendOnce(origin, bytes, options)
    const parsed = responses.map(({ status, text }) => ({ status, body: parseExactly(text) }))
    return { responses, ...(parsed.find(isBusy) ?? { status: 0, body: undefined }) }
  }
  return (await retryWhileBusy(send)).responses
}

async function sendOnce(
  origin: string,
  bytes: string | Uint8Array,
  { method = 'GET', later, count = 1 }: SendOptions,
): Promise<RawResponse[]> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  let event = Promise.withResolvers<void>()
  const notify = () => {
    event.resolve()
    event = Promise.withResolvers()
  }
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    notify()
  })
  socket.on('close', notify)
  socket.on('error', () => {})
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy())
  const until = async (isDone: () => boolean) => {
    while (!socket.closed && !isDone()) await event.promise
  }
  socket.write(bytes)
  if (later !== undefined) {
    await until(() => chunks.length > 0)
    socket.write(later)
  }
  await until(() => completeResponses(Buffer.concat(chunks), method).length >= count)
  if (!socket.closed) socket.write(lastRequest(method))
  await until(() => false)
  return parseResponses(Buffer.concat(chunks), method).filter(
    ({ headers }) => headers.get('x-request-id') !== LAST_REQUEST_ID,
  )
}

function lastRequest(method: string): string {
  return `${method} / HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${LAST_REQUEST_ID}\r\nConnection: close\r\n\r\n`
}

export interface RawRequest {
  method?: string
  path?: string
  version?: string
  /** Header lines as sent; a header may occur twice. */
  headers?: string[]
  body?: string | Uint8Array
  /** The default is the host of the origin; null omits the header. */
  host?: string | null
}

/** Sends a request with `Host`, `Connection: close` and these headers only, and checks the response against openapi.json. */
export async function sendRequest(origin: string, request: RawRequest): Promise<TestResponse> {
  const { method = 'GET', path = '/v1/pets', version = '1.1', headers = [], body = '', host } = request
  const lines = [
    `${method} ${path} HTTP/${version}`,
    ...(host === null ? [] : [`Host: ${host ?? new URL(origin).host}`]),
    'Connection: close',
    ...headers,
    '\r\n',
  ]
  const bytes = Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), Buffer.from(body)])
  const responses = await sendBytes(origin, bytes, { method })
  assert.lengthOf(responses, 1, 'a request has one response')
  const [response] = responses as [RawResponse]
  const parsed = { ...response, body: parseExactly(response.text) }
  checkResponse({ method, path, ...parsed })
  return parsed
}

/** Parses the responses. Returns none while the last response is incomplete. */
function completeResponses(bytes: Buffer, method: string): RawResponse[] {
  try {
    return parseResponses(bytes, method)
  } catch {
    return []
  }
}

function parseResponses(bytes: Buffer, method: string): RawResponse[] {
  const responses: RawResponse[] = []
  let rest = bytes
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`not an HTTP response: ${rest.toString('latin1')}`)
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    if (Number.isNaN(status)) throw new Error(`not a status line: ${statusLine}`)
    const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
    const length = method === 'HEAD' ? 0 : Number(headers.get('content-length') ?? 0)
    const start = end + 4
    if (rest.length < start + length) throw new Error(`incomplete response: ${statusLine}`)
    // 100 Continue is an interim response.
    if (status >= 200)
      responses.push({ status, headers, text: rest.subarray(start, start + length).toString() })
    rest = rest.subarray(status < 200 ? start : start + length)
  }
  return responses
}

// Requests that fetch refuses to send: bytes on a socket, one answer back, checked like every other.
import { assert } from 'vitest'
import { checkResponse } from '../support/responses.ts'
import { type TestResponse, parseExactly } from '../support/client.ts'
import { sendBytes as send, type RawResponse } from '../support/wire.ts'

export interface RawRequest {
  method?: string
  path?: string
  version?: string
  /** Lines as they stand on the wire, so that a header can be there twice. */
  headers?: string[]
  body?: string | Uint8Array
  /** Without it `Host` is the origin's; null leaves it out. */
  host?: string | null
}

/** Sends a request line, these headers and nothing that was not asked for but Host and Connection. */
export function sendRequest(origin: string, request: RawRequest): Promise<TestResponse> {
  const { method = 'GET', path = '/v1/pets', version = '1.1', headers = [], body = '', host } = request
  const lines = [
    `${method} ${path} HTTP/${version}`,
    ...(host === null ? [] : [`Host: ${host ?? new URL(origin).host}`]),
    'Connection: close',
    ...headers,
    '\r\n',
  ]
  return sendBytes(origin, Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), Buffer.from(body)]), {
    method,
    path,
  })
}

/** Sends bytes; `about` says which request the answer is judged as. */
export async function sendBytes(
  origin: string,
  bytes: string | Uint8Array,
  about: { method: string; path: string },
): Promise<TestResponse> {
  const responses = await send(origin, bytes, about)
  assert.lengthOf(responses, 1, 'one request has one answer')
  const [{ status, headers, text }] = responses as [RawResponse]
  const response = { status, headers, text, body: parseExactly(text) }
  checkResponse({ ...about, ...response })
  return response
}

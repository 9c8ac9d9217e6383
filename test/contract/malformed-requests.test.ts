// Bytes that are no request, requests that are too large, and those that never end.
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { sendBytes, sendRequest } from './raw.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey })
const AUTHORIZATION = `Authorization: Bearer ${apiKey}`
const JSON_TYPE = 'Content-Type: application/json'
/** There is no request, so the answer is judged as that to any address. */
const NO_REQUEST = { method: 'GET', path: '/' }

test.each([
  { what: 'words', bytes: 'hello there\r\n\r\n' },
  { what: 'a TLS greeting', bytes: Buffer.from('16030100c8010000c40303', 'hex') },
  { what: 'an unknown method', bytes: 'EAT /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n' },
  { what: 'a space in the address', bytes: 'GET /v1/pets HTTP/1.1 x\r\nHost: x\r\n\r\n' },
  { what: 'another protocol', bytes: 'GET /v1/pets SMTP/1.1\r\nHost: x\r\n\r\n' },
  { what: 'a header without a colon', bytes: 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nhello\r\n\r\n' },
  { what: 'NUL in a header', bytes: 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n' },
  { what: 'a length that is none', bytes: 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n' },
  {
    what: 'two lengths',
    bytes: 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
  },
  {
    what: 'a length and chunks',
    bytes:
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  },
])('$what is answered 400 as an Error, once', async ({ bytes }) => {
  const response = await sendBytes(origin, bytes, NO_REQUEST)
  expect(response).toMatchObject({ status: 400, body: { code: 'malformed_request' } })
  expect((await petstore.get('/pets?limit=1')).status).toBe(200)
})

describe('Host', () => {
  test('missing is 400, as HTTP wants it', async () => {
    for (const headers of [[AUTHORIZATION], []]) {
      const response = await sendRequest(origin, { host: null, headers })
      expect(response).toMatchObject({ status: 400, body: { code: 'malformed_request' } })
    }
  })

  test('missing is well in HTTP/1.0', async () => {
    const headers = [AUTHORIZATION]
    expect((await sendRequest(origin, { version: '1.0', host: null, headers })).status).toBe(200)
  })

  test('never finds its way into an answer', async () => {
    const body = '{"name": "Rex", "categoryId": 5}'
    const headers = [
      AUTHORIZATION,
      JSON_TYPE,
      `Content-Length: ${body.length}`,
      'X-Forwarded-Host: evil.test',
    ]
    const created = await sendRequest(origin, { method: 'POST', host: 'evil.test', headers, body })
    expect(created.status).toBe(201)
    const path = new URL(created.headers.get('location') ?? '', origin).pathname
    const read = await sendRequest(origin, { path, host: 'evil.test', headers: [AUTHORIZATION] })
    const list = await sendRequest(origin, {
      path: '/v1/pets?limit=1',
      host: 'evil.test',
      headers: [AUTHORIZATION],
    })
    for (const response of [created, read, list]) {
      expect([...response.headers.values()].join()).not.toContain('evil.test')
    }
  })
})

test('headers of more than 16 KiB are 431', async () => {
  const response = await sendRequest(origin, { headers: [AUTHORIZATION, `X-Large: ${'x'.repeat(20_000)}`] })
  expect(response).toMatchObject({ status: 431, body: { code: 'headers_too_large' } })
})

describe('a request that does not arrive in time is 408', () => {
  const about = { method: 'POST', path: '/v1/pets' }
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\n`

  test.concurrent.each([
    { what: 'its headers', bytes: head },
    { what: 'its body', bytes: `${head}${JSON_TYPE}\r\nContent-Length: 100\r\n\r\n{"name":` },
  ])('when $what stop halfway', async ({ bytes }) => {
    const response = await sendBytes(origin, bytes, about)
    expect(response).toMatchObject({ status: 408, body: { code: 'request_timeout' } })
  })
})

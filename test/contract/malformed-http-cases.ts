// Raw requests, each with the one status that the service must return. `K` stands for the API key.

export interface RawCase {
  name: string
  bytes: string
  status: number
  /** Default: the usual code of the status. */
  code?: string
  /** Sent when the response starts to arrive. */
  later?: string
}

const HOST = 'Host: petstore.test'
const AUTH = 'Authorization: Bearer K'
const JSON_TYPE = 'Content-Type: application/json'
const CHUNKED = 'Transfer-Encoding: chunked'
const PET = '{"name":"Rex","categoryId":1}'
const LENGTH = `Content-Length: ${PET.length}`
const CHUNKED_PET = `1d\r\n${PET}\r\n0\r\n\r\n`

function request(method: string, target: string, lines: readonly string[] = [], body = ''): string {
  return [`${method} ${target} HTTP/1.1`, HOST, AUTH, ...lines, '', body].join('\r\n')
}

const timeouts: RawCase[] = (
  [
    ['headers that stop halfway', `POST /v1/pets HTTP/1.1\r\n${HOST}\r\n${AUTH}\r\n`],
    [
      'a body that stops halfway',
      request('POST', '/v1/pets', [JSON_TYPE, 'Content-Length: 100'], '{"name":'),
    ],
  ] as const
).map(([name, bytes]) => ({ name, bytes, status: 408 }))

const requestLines: RawCase[] = (
  [
    ['plain text', 'hello\r\n\r\n', 400],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['an SSH banner', 'SSH-2.0-OpenSSH_9.2\r\n', 400],
    ['HTTP/0.9', 'GET /v1/pets\r\n\r\n', 400],
    ['HTTP/3.0', 'GET /v1/pets HTTP/3.0\r\nHost: x\r\n\r\n', 400],
    ['HTTP/1.12', 'GET /v1/pets HTTP/1.12\r\nHost: x\r\n\r\n', 400],
    ['no HTTP version', 'GET /v1/pets HTTP/\r\nHost: x\r\n\r\n', 400],
    ['text after the HTTP version', 'GET /v1/pets HTTP/1.1 x\r\nHost: x\r\n\r\n', 400],
    ['lower-case http', 'GET /v1/pets http/1.1\r\nHost: x\r\n\r\n', 400],
    ['another protocol', 'GET /v1/pets SMTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a lower-case method', 'get /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['an unknown method', 'FETCH /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a space before the method', ' GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['NUL bytes', '\0\0\0\0\r\n\r\n', 400],
    ['a space in the target', 'GET /v1/pe ts HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a target without a slash', 'GET v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['NUL in the target', 'GET /v1/\0 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['CONNECT', 'CONNECT petstore.test:443 HTTP/1.1\r\nHost: petstore.test:443\r\n\r\n', 400],
    ['no Host', `GET /v1/pets HTTP/1.1\r\n${AUTH}\r\n\r\n`, 400],
    ['no Host and no API key', 'GET /v1/pets HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', `GET /v1/pets HTTP/1.1\r\n${HOST}\r\nHost: other.test\r\n${AUTH}\r\n\r\n`, 400],
    ['HTTP/1.0 without Host', `GET /v1/pets HTTP/1.0\r\n${AUTH}\r\n\r\n`, 200],
  ] as const
).map(([name, bytes, status]) => ({ name, bytes, status }))

const targets: RawCase[] = (
  [
    ['an encoded v1', '/%76%31/pets', 200],
    ['a path of 12,000 characters', `/v1/${'a/'.repeat(6_000)}`, 404],
    ['a path of 20,000 characters', `/v1/${'a'.repeat(20_000)}`, 431],
    ['a query of 10,000 characters', `/v1/pets?x=${'a'.repeat(10_000)}`, 400, 'unknown_parameter'],
    ['a query of 20,000 characters', `/v1/pets?x=${'a'.repeat(20_000)}`, 431],
    ['1,000 parameters', `/v1/pets?${'a=1&'.repeat(1_000)}`, 400, 'unknown_parameter'],
    ['a fragment', '/v1/pets#x', 400, 'unknown_parameter'],
    ['an empty query', '/v1/pets?', 200],
    ['a query of ampersands', '/v1/pets?&&&', 200],
    ['an asterisk', '*', 404],
  ] as const
).map(([name, target, status, code]) => ({
  name: `target: ${name}`,
  bytes: request('GET', target),
  status,
  ...(code && { code }),
}))

const headers: RawCase[] = (
  [
    ['a folded header', ['X-Note: one', ' two'], 400],
    ['a folded Authorization', ['X-A: b', '\tAuthorization: x'], 400],
    ['a space before the colon', ['X-Note : one'], 400],
    ['no colon', ['X-Note'], 400],
    ['an empty name', [': one'], 400],
    ['NUL in a value', ['X-Note: a\0b'], 400],
    ['a carriage return in a value', ['X-Note: a\rb'], 400],
    ['a bare line feed', ['X-Note: a\nX-Other: b'], 400],
    ['a control character in a name', ['X-\x01: a'], 400],
    ['a space in a name', ['X Note: a'], 400],
    ['an empty value', ['X-Note:'], 200],
    ['a tab in a value', ['X-Note: a\tb'], 200],
    ['a value in UTF-8', ['X-Note: Zoë'], 200],
    ['50 headers', Array.from({ length: 50 }, (_, index) => `X-${index}: a`), 200],
    ['one header of 8 KiB', [`X-Long: ${'a'.repeat(8_192)}`], 200],
    ['one header of 17 KiB', [`X-Long: ${'a'.repeat(17_408)}`], 431],
    ['800 headers, 20 KiB in total', Array.from({ length: 800 }, (_, i) => `X-${i}: ${'a'.repeat(18)}`), 431],
    ['Upgrade to WebSocket', ['Connection: Upgrade', 'Upgrade: websocket'], 200],
    [
      'Upgrade to HTTP/2',
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
      200,
    ],
    ['an unknown Expect', ['Expect: a-miracle'], 200],
    ['Expect: 100-continue on a GET', ['Expect: 100-continue'], 200],
    ['Range', ['Range: bytes=0-1'], 200],
    ['X-HTTP-Method-Override', ['X-HTTP-Method-Override: DELETE'], 200],
    ['X-Original-URL', ['X-Original-URL: /metrics'], 200],
    ['X-Forwarded-For', ['X-Forwarded-For: 127.0.0.1'], 200],
    ['a body on a GET', ['Content-Length: 5'], 200, 'hello'],
  ] as const
).map(([name, lines, status, body]) => ({
  name: `headers: ${name}`,
  bytes: request('GET', '/v1/pets?limit=1', lines, body),
  status,
}))

const bodies: RawCase[] = (
  [
    ['a Content-Length', [LENGTH], PET, 201],
    ['chunks', [CHUNKED], CHUNKED_PET, 201],
    ['chunks with extensions', [CHUNKED], CHUNKED_PET.replace('1d', '1d;a=b'), 201],
    ['chunks and a trailer', [CHUNKED], CHUNKED_PET.replace('0\r\n', '0\r\nX-A: b\r\n'), 201],
    ['Expect: 100-continue', ['Expect: 100-continue', LENGTH], PET, 201],
    ['two equal lengths', [LENGTH, LENGTH], PET, 400],
    ['two different lengths', [LENGTH, 'Content-Length: 5'], PET, 400],
    ['a list of lengths', ['Content-Length: 29, 29'], PET, 400],
    ['a length of letters', ['Content-Length: x'], '', 400],
    ['a negative length', ['Content-Length: -1'], PET, 400],
    ['a length with a sign', ['Content-Length: +29'], PET, 400],
    ['a hexadecimal length', ['Content-Length: 0x1d'], PET, 400],
    ['a length over 64 bits', ['Content-Length: 99999999999999999999'], '', 400],
    ['an empty length', ['Content-Length:'], PET, 400],
    ['a length before Transfer-Encoding', [LENGTH, CHUNKED], CHUNKED_PET, 400],
    ['a length after Transfer-Encoding', [CHUNKED, 'Content-Length: 0'], CHUNKED_PET, 400],
    ['an unknown transfer encoding', ['Transfer-Encoding: gzip'], PET, 400],
    ['chunked not as the last encoding', ['Transfer-Encoding: chunked, gzip'], CHUNKED_PET, 400],
    ['two Transfer-Encoding headers', [CHUNKED, CHUNKED], CHUNKED_PET, 400],
    ['xchunked', ['Transfer-Encoding: xchunked'], PET, 400],
    ['a chunk size of letters', [CHUNKED], CHUNKED_PET.replace('1d', 'zz'), 400],
    ['a chunk size with 0x', [CHUNKED], CHUNKED_PET.replace('1d', '0x1d'), 400],
    ['a negative chunk size', [CHUNKED], CHUNKED_PET.replace('1d', '-1'), 400],
    ['a chunk size over 64 bits', [CHUNKED], `fffffffffffffffff\r\n${PET}\r\n`, 400],
    ['a chunk longer than its size', [CHUNKED], CHUNKED_PET.replace('1d', '5'), 400],
    ['chunks that end in bare line feeds', [CHUNKED], `1d\n${PET}\n0\n\n`, 400],
  ] as const
).map(([name, lines, body, status]) => ({
  name: `body: ${name}`,
  bytes: request('POST', '/v1/pets', [JSON_TYPE, ...lines], body),
  status,
}))

const afterTheResponse: RawCase[] = (
  [
    ['an invalid chunk', CHUNKED, 'zz\r\nhello\r\n0\r\n\r\n'],
    ['an invalid second chunk', CHUNKED, '5\r\nhello\r\nzz\r\n\r\n'],
    ['an incomplete body', 'Content-Length: 1000', 'hello'],
  ] as const
).map(([name, line, body]) => ({
  name: `${name} after the response 401`,
  bytes: request('POST', '/v1/pets', [JSON_TYPE, line]).replace(`${AUTH}\r\n`, ''),
  later: body,
  status: 401,
}))

export const RAW_CASES: RawCase[] = [
  // These take ten seconds. They come first, so that the others run at the same time.
  ...timeouts,
  ...requestLines,
  ...targets,
  ...headers,
  ...bodies,
  ...afterTheResponse,
]

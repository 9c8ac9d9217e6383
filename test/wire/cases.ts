// What arrives on the wire, and the one status that answers it. `K` stands for the API key.

export interface RawCase {
  name: string
  bytes: string
  /** 0 where the connection ends without an answer. */
  status: number
  method?: string
  /** Sent a moment later, when the answer to the rest is on its way. */
  later?: string
}

const HOST = 'Host: petstore.test'
const AUTH = 'Authorization: Bearer K'
const JSON_TYPE = 'Content-Type: application/json'
const PET = '{"name":"Rex","categoryId":1}'

/** A request of the given lines; Host and key come along. */
function request(method: string, target: string, lines: string[] = [], body = ''): string {
  return [`${method} ${target} HTTP/1.1`, HOST, AUTH, ...lines, '', body].join('\r\n')
}

function post(lines: string[], body = PET): string {
  return request('POST', '/v1/pets', lines, body)
}

function sized(body: string): string {
  return `Content-Length: ${Buffer.byteLength(body)}`
}

const ALLOWED: Record<string, string[]> = {
  '/v1/pets': ['GET', 'HEAD', 'POST'],
  '/v1/pets/999999999': ['DELETE', 'GET', 'HEAD', 'PATCH'],
  '/openapi.json': ['GET', 'HEAD'],
}
const PATHS = [
  ...Object.keys(ALLOWED),
  '/v1',
  '/v1/',
  '/v1/nothing',
  '/v1/pets/1/2',
  '/v1/pets/',
  '/',
  '/nothing',
  '/V1/pets',
  '//v1/pets',
]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']

function statusOf(method: string, path: string): number {
  if (path === '/v1/pets/') return ALLOWED['/v1/pets/999999999']?.includes(method) ? 404 : 405
  const allowed = ALLOWED[path]
  if (allowed === undefined) return 404
  if (!allowed.includes(method)) return 405
  if (method === 'POST' || method === 'PATCH') return 400
  return path.includes('999') ? 404 : 200
}

const methods: RawCase[] = METHODS.flatMap((method) =>
  PATHS.map((path) => ({
    name: `${method} ${path}`,
    bytes: request(method, path, ['Content-Length: 0']),
    status: statusOf(method, path),
    method,
  })),
)

const withoutKey: RawCase[] = METHODS.flatMap((method) =>
  PATHS.filter((path) => path.startsWith('/v1')).map((path) => ({
    name: `${method} ${path} without a key`,
    bytes: [`${method} ${path} HTTP/1.1`, HOST, 'Content-Length: 0', '', ''].join('\r\n'),
    status: 401,
    method,
  })),
)

const wrongPlaces: RawCase[] = ['text/plain', 'application/json', ''].flatMap((type) =>
  ['POST', 'PUT', 'DELETE'].map((method) => ({
    name: `${method} /v1/nothing with a body of type "${type}"`,
    bytes: request(method, '/v1/nothing', [`Content-Type: ${type}`, 'Content-Length: 5'], 'hello'),
    status: 404,
  })),
)

const credentials: RawCase[] = (
  [
    ['no scheme', 'Authorization: K', 401],
    ['Basic', 'Authorization: Basic K', 401],
    ['Bearer alone', 'Authorization: Bearer', 401],
    ['Bearer and a space', 'Authorization: Bearer ', 401],
    ['lower case scheme', 'Authorization: bearer K', 200],
    ['upper case scheme', 'AUTHORIZATION: BEARER K', 200],
    ['two spaces', 'Authorization: Bearer  K', 200],
    ['a tab after the scheme', 'Authorization: Bearer\tK', 401],
    ['white space around', 'Authorization:   Bearer K  ', 200],
    ['quoted', 'Authorization: Bearer "K"', 401],
    ['two keys in one header', 'Authorization: Bearer K, Bearer K', 401],
    ['a second word', 'Authorization: Bearer K x', 401],
    ['two headers, the same key', `${AUTH}\r\n${AUTH}`, 401],
    ['two headers, the second wrong', `${AUTH}\r\nAuthorization: Bearer x`, 401],
    ['two headers, the first empty', `Authorization:\r\n${AUTH}`, 401],
    ['an empty header', 'Authorization:', 401],
    ['in another header', 'X-Api-Key: K', 401],
    ['in a cookie', 'Cookie: api_key=K; authorization=Bearer K', 401],
    ['in Proxy-Authorization', 'Proxy-Authorization: Bearer K', 401],
    ['cut by one', 'Authorization: Bearer K!', 401],
    ['in latin-1', 'Authorization: Bearer \u00e9K', 401],
  ] as const
).map(([name, lines, status]) => ({
  name: `credential: ${name}`,
  bytes: ['GET /v1/pets?limit=1 HTTP/1.1', HOST, lines, '', ''].join('\r\n'),
  status,
}))

const disguised: RawCase[] = ['/%76%31/pets', '/v1/%70ets', 'http://petstore.test/v1/pets'].map((target) => ({
  name: `${target} without a key`,
  bytes: [`GET ${target} HTTP/1.1`, HOST, '', ''].join('\r\n'),
  status: 401,
}))

const inUrl: RawCase[] = ['api_key=K', 'key=K', 'access_token=K', 'authorization=Bearer%20K'].map(
  (query) => ({
    name: `credential in the address: ${query.split('=')[0]}`,
    bytes: [`GET /v1/pets?${query} HTTP/1.1`, HOST, '', ''].join('\r\n'),
    status: 401,
  }),
)

const noHttp: RawCase[] = (
  [
    ['words', 'hello\r\n\r\n', 400],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['an SSH banner', 'SSH-2.0-OpenSSH_9.2\r\n', 400],
    ['HTTP/0.9', 'GET /v1/pets\r\n\r\n', 400],
    ['HTTP/3.0', 'GET /v1/pets HTTP/3.0\r\nHost: x\r\n\r\n', 400],
    ['HTTP/1.12', 'GET /v1/pets HTTP/1.12\r\nHost: x\r\n\r\n', 400],
    ['no version', 'GET /v1/pets HTTP/\r\nHost: x\r\n\r\n', 400],
    ['lower-case http', 'GET /v1/pets http/1.1\r\nHost: x\r\n\r\n', 400],
    ['a lower-case method', 'get /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['an unknown method', 'FETCH /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a method with a space before', ' GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['NUL bytes', '\0\0\0\0\r\n\r\n', 400],
    ['a space in the target', 'GET /v1/pe ts HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a target without a slash', 'GET v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a NUL in the target', 'GET /v1/\0 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['CONNECT', 'CONNECT petstore.test:443 HTTP/1.1\r\nHost: petstore.test:443\r\n\r\n', 400],
    ['no Host', `GET /v1/pets HTTP/1.1\r\n${AUTH}\r\n\r\n`, 400],
    ['no Host and no key', 'GET /v1/pets HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', `GET /v1/pets HTTP/1.1\r\n${HOST}\r\nHost: other.test\r\n${AUTH}\r\n\r\n`, 400],
    ['no Host in HTTP/1.0', `GET /v1/pets HTTP/1.0\r\n${AUTH}\r\n\r\n`, 200],
  ] as const
).map(([name, bytes, status]) => ({ name: `not quite HTTP: ${name}`, bytes, status }))

const headers: RawCase[] = (
  [
    ['a folded header', [`X-Note: one`, ' two'], 400],
    ['a folded credential', ['X-A: b', '\tAuthorization: x'], 400],
    ['a space before the colon', ['X-Note : one'], 400],
    ['no colon', ['X-Note'], 400],
    ['an empty name', [': one'], 400],
    ['a NUL in a value', ['X-Note: a\0b'], 400],
    ['a carriage return in a value', ['X-Note: a\rb'], 400],
    ['a bare line feed', ['X-Note: a\nX-Other: b'], 400],
    ['a control character in a name', ['X-\x01: a'], 400],
    ['a space in a name', ['X Note: a'], 400],
    ['an empty value', ['X-Note:'], 200],
    ['a tab in a value', ['X-Note: a\tb'], 200],
    ['a value in UTF-8', ['X-Note: Zoë'], 200],
    ['fifty headers', Array.from({ length: 50 }, (_, index) => `X-${index}: a`), 200],
    ['one of 8 KiB', [`X-Long: ${'a'.repeat(8_192)}`], 200],
    ['one of 17 KiB', [`X-Long: ${'a'.repeat(17_408)}`], 431],
    [
      'many small ones of 20 KiB together',
      Array.from({ length: 800 }, (_, index) => `X-${index}: aaaaaaaaaaaaaaaaaa`),
      431,
    ],
    ['an Accept of another kind', ['Accept: text/html'], 200],
    ['an Accept that refuses JSON', ['Accept: application/json;q=0'], 200],
    ['Connection: upgrade', ['Connection: Upgrade', 'Upgrade: websocket'], 200],
    [
      'Upgrade to HTTP/2',
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
      200,
    ],
    ['an unknown expectation', ['Expect: a-miracle'], 200],
    ['Expect: 100-continue on a GET', ['Expect: 100-continue'], 200],
    ['a Range', ['Range: bytes=0-1'], 200],
    ['X-HTTP-Method-Override', ['X-HTTP-Method-Override: DELETE'], 200],
    ['X-Original-URL', ['X-Original-URL: /metrics'], 200],
    ['X-Forwarded-For', ['X-Forwarded-For: 127.0.0.1'], 200],
    ['an unsafe request id', ['X-Request-Id: a b"<script>'], 200],
    ['two request ids', ['X-Request-Id: a', 'X-Request-Id: b'], 200],
    ['a body on a GET', ['Content-Length: 5'], 200],
  ] as const
).map(([name, lines, status]) => ({
  name: `header: ${name}`,
  bytes: request('GET', '/v1/pets?limit=1', [...lines], name === 'a body on a GET' ? 'hello' : ''),
  status,
}))

const NO_KEY = 'POST /v1/pets HTTP/1.1\r\nHost: petstore.test\r\nContent-Type: application/json'
const afterTheResponse: RawCase[] = (
  [
    ['a bad chunk', 'Transfer-Encoding: chunked', 'zz\r\nhello\r\n0\r\n\r\n'],
    ['a bad chunk after a good one', 'Transfer-Encoding: chunked', '5\r\nhello\r\nzz\r\n\r\n'],
    ['a body that never ends', 'Content-Length: 1000', 'hello'],
  ] as const
).map(([name, line, body]) => ({
  name: `one answer to a request without a key and ${name}`,
  bytes: `${NO_KEY}\r\n${line}\r\n\r\n`,
  later: body,
  status: 401,
}))

const targets: RawCase[] = (
  [
    ['%zz as id', '/v1/pets/%zz', 404],
    ['% as id', '/v1/pets/%', 404],
    ['half of a UTF-8 sequence', '/v1/pets/%c3', 404],
    ['%00 as id', '/v1/pets/%00', 404],
    ['%0d%0a as id', '/v1/pets/%0d%0aSet-Cookie:%20a=b', 404],
    ['an encoded slash', '/v1/pets/1%2f2', 404],
    ['dots', '/v1/pets/../../etc/passwd', 404],
    ['encoded dots', '/v1/%2e%2e/%2e%2e/etc/passwd', 404],
    ['an encoded v1', '/%76%31/pets', 200],
    ['a backslash', '/v1\\pets', 404],
    ['an id of 200 digits', `/v1/pets/${'9'.repeat(200)}`, 404],
    ['an id of 5,000 digits', `/v1/pets/${'9'.repeat(5_000)}`, 404],
    ['a path of 12,000 characters', `/v1/${'a/'.repeat(6_000)}`, 404],
    ['a path of 20,000 characters', `/v1/${'a'.repeat(20_000)}`, 431],
    ['a query of 20,000 characters', `/v1/pets?x=${'a'.repeat(20_000)}`, 431],
    ['a query of 10,000 characters', `/v1/pets?x=${'a'.repeat(10_000)}`, 200],
    ['a thousand parameters', `/v1/pets?${'a=1&'.repeat(1_000)}`, 200],
    ['a fragment', '/v1/pets#x', 200],
    ['a broken query encoding', '/v1/pets?status=%zz', 400],
    ['__proto__ as a parameter', '/v1/pets?__proto__=1&constructor=2', 200],
    ['an empty query', '/v1/pets?', 200],
    ['only ampersands', '/v1/pets?&&&', 200],
    ['an absolute address', 'http://petstore.test/v1/pets', 200],
    ['an asterisk', '*', 404],
    ['a semicolon', '/v1/pets;a=b', 404],
    ['upper case', '/v1/PETS', 404],
    ['a trailing dot', '/v1/pets.', 404],
    ['a suffix', '/v1/pets.json', 404],
    ['an emoji', '/v1/pets/%F0%9F%90%B6', 404],
    ['minus one', '/v1/pets/-1', 404],
    ['plus one', '/v1/pets/+1', 404],
    ['one and a space', '/v1/pets/1%20', 404],
    ['braces', '/v1/pets/{}', 404],
  ] as const
).map(([name, target, status]) => ({ name: `target: ${name}`, bytes: request('GET', target), status }))

const bodies: RawCase[] = (
  [
    ['a good one', [JSON_TYPE, sized(PET)], PET, 201],
    ['a good one in chunks', [JSON_TYPE, 'Transfer-Encoding: chunked'], `1d\r\n${PET}\r\n0\r\n\r\n`, 201],
    [
      'in chunks with extensions',
      [JSON_TYPE, 'Transfer-Encoding: chunked'],
      `1d;a=b\r\n${PET}\r\n0\r\n\r\n`,
      201,
    ],
    [
      'in chunks with a trailer',
      [JSON_TYPE, 'Transfer-Encoding: chunked'],
      `1d\r\n${PET}\r\n0\r\nX-A: b\r\n\r\n`,
      201,
    ],
    ['Expect: 100-continue', [JSON_TYPE, 'Expect: 100-continue', sized(PET)], PET, 201],
    ['no type', [sized(PET)], PET, 415],
    ['text/plain', ['Content-Type: text/plain', sized(PET)], PET, 415],
    ['a form', ['Content-Type: application/x-www-form-urlencoded', sized(PET)], PET, 415],
    ['another JSON type', ['Content-Type: application/vnd.api+json', sized(PET)], PET, 415],
    ['a longer type', ['Content-Type: application/jsonx', sized(PET)], PET, 415],
    ['an empty type', ['Content-Type:', sized(PET)], PET, 415],
    ['a broken type', ['Content-Type: ;;;', sized(PET)], PET, 415],
    ['a type in upper case', ['CONTENT-TYPE: APPLICATION/JSON', sized(PET)], PET, 201],
    ['a tab before the semicolon', ['Content-Type: application/json\t; charset=utf-8', sized(PET)], PET, 201],
    ['charset=UTF-8', ['Content-Type: application/json; charset=UTF-8', sized(PET)], PET, 201],
    ['charset="utf-8"', ['Content-Type: application/json; charset="utf-8"', sized(PET)], PET, 201],
    ['charset=utf-16', ['Content-Type: application/json; charset=utf-16', sized(PET)], PET, 415],
    ['charset=latin1', ['Content-Type: application/json;charset=latin1', sized(PET)], PET, 415],
    ['gzip', [JSON_TYPE, 'Content-Encoding: gzip', sized(PET)], PET, 415],
    ['identity', [JSON_TYPE, 'Content-Encoding: identity', sized(PET)], PET, 201],
    ['none at all', [JSON_TYPE], '', 400],
    ['none, Content-Length 0', [JSON_TYPE, 'Content-Length: 0'], '', 400],
    ['none, and no type', [], '', 400],
    ['none, in chunks', [JSON_TYPE, 'Transfer-Encoding: chunked'], '0\r\n\r\n', 400],
    ['not JSON', [JSON_TYPE, 'Content-Length: 5'], 'hello', 400],
    ['a byte order mark', [JSON_TYPE, sized(`\ufeff${PET}`)], `\ufeff${PET}`, 400],
    ['10,000 brackets', [JSON_TYPE, 'Content-Length: 20000'], '['.repeat(10_000) + ']'.repeat(10_000), 400],
    [
      '100,000 deep objects',
      [JSON_TYPE, 'Content-Length: 600000'],
      '{"a":'.repeat(100_000) + ']'.repeat(100_000),
      400,
    ],
    [
      '__proto__',
      [JSON_TYPE, sized('{"__proto__":{"status":"sold"}}')],
      '{"__proto__":{"status":"sold"}}',
      400,
    ],
    ['over 1 MiB by its length', [JSON_TYPE, 'Content-Length: 1048577'], '', 413],
    ['a terabyte by its length', [JSON_TYPE, 'Content-Length: 1099511627776'], '', 413],
    ['two lengths, the same', [JSON_TYPE, sized(PET), sized(PET)], PET, 400],
    ['two lengths, different', [JSON_TYPE, sized(PET), 'Content-Length: 5'], PET, 400],
    ['a list of lengths', [JSON_TYPE, 'Content-Length: 29, 29'], PET, 400],
    ['a negative length', [JSON_TYPE, 'Content-Length: -1'], PET, 400],
    ['a length with a sign', [JSON_TYPE, 'Content-Length: +29'], PET, 400],
    ['a length in hex', [JSON_TYPE, 'Content-Length: 0x1d'], PET, 400],
    ['a length beyond 64 bits', [JSON_TYPE, 'Content-Length: 99999999999999999999'], '', 400],
    ['an empty length', [JSON_TYPE, 'Content-Length:'], PET, 400],
    [
      'both length headers',
      [JSON_TYPE, sized(PET), 'Transfer-Encoding: chunked'],
      `1d\r\n${PET}\r\n0\r\n\r\n`,
      400,
    ],
    [
      'both, the other way',
      [JSON_TYPE, 'Transfer-Encoding: chunked', 'Content-Length: 0'],
      `1d\r\n${PET}\r\n0\r\n\r\n`,
      400,
    ],
    ['an unknown transfer encoding', [JSON_TYPE, 'Transfer-Encoding: gzip'], PET, 400],
    ['chunked not last', [JSON_TYPE, 'Transfer-Encoding: chunked, gzip'], `1d\r\n${PET}\r\n0\r\n\r\n`, 400],
    [
      'chunked twice',
      [JSON_TYPE, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
      `1d\r\n${PET}\r\n0\r\n\r\n`,
      400,
    ],
    ['xchunked', [JSON_TYPE, 'Transfer-Encoding: xchunked'], PET, 400],
    [
      'a chunk size of no digits',
      [JSON_TYPE, 'Transfer-Encoding: chunked'],
      `zz\r\n${PET}\r\n0\r\n\r\n`,
      400,
    ],
    ['a chunk size with 0x', [JSON_TYPE, 'Transfer-Encoding: chunked'], `0x1d\r\n${PET}\r\n0\r\n\r\n`, 400],
    ['a negative chunk size', [JSON_TYPE, 'Transfer-Encoding: chunked'], `-1\r\n${PET}\r\n0\r\n\r\n`, 400],
    [
      'a chunk size beyond 64 bits',
      [JSON_TYPE, 'Transfer-Encoding: chunked'],
      `fffffffffffffffff\r\n${PET}\r\n`,
      400,
    ],
    ['a chunk longer than said', [JSON_TYPE, 'Transfer-Encoding: chunked'], `5\r\n${PET}\r\n0\r\n\r\n`, 400],
    [
      'a chunk ended by a bare line feed',
      [JSON_TYPE, 'Transfer-Encoding: chunked'],
      `1d\n${PET}\n0\n\n`,
      400,
    ],
  ] as const
).map(([name, lines, body, status]) => ({ name: `body: ${name}`, bytes: post([...lines], body), status }))

export const WIRE_CASES: RawCase[] = [
  ...methods,
  ...withoutKey,
  ...wrongPlaces,
  ...credentials,
  ...disguised,
  ...inUrl,
  ...noHttp,
  ...headers,
  ...afterTheResponse,
  ...targets,
  ...bodies,
]

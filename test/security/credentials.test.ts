// Every way to send no API key or an invalid one, and every path and method under /v1. The 401 depends only on the form of
// the request: it does not reveal whether a key exists, is expired or was revoked, or whether the path exists.
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { apiKeyVerifier, createApiKey, revokeApiKey } from '../../src/access/api-keys/api-keys.ts'
import { makeApiKeyText } from '../../src/access/api-keys/format.ts'
import { DEFAULT_SCOPES, SCOPES } from '../../src/contract/scopes.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { countStatements, createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { sendBytes } from '../support/raw-http.ts'
import { operations } from './operations.ts'

const databaseUrl = await createTestDatabase()
const { db, count } = countStatements(openTestDatabase(databaseUrl))
const { origin } = await startApp(db, { verifyApiKey: apiKeyVerifier(db, 'production') })

const apiKey = (await issueApiKey(db, { scopes: SCOPES })).text
const revoked = await issueApiKey(db, { scopes: SCOPES })
await revokeApiKey(db, revoked.id)
const expired = await issueApiKey(db, { scopes: SCOPES, expiresInSeconds: 1_000 })
await sql(databaseUrl, 'update api_keys set expires_at = now() where id = $1', [expired.id])
const staging = await createApiKey(db, 'staging', {
  name: 'staging',
  scopes: DEFAULT_SCOPES,
  rateLimit: undefined,
  expiresInSeconds: undefined,
})

const CHECKSUM_LENGTH = 6

/** The text and its CRC-32 in base62, computed independently of the service. */
function withChecksum(text: string): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let checksum = ''
  for (let rest = crc32(text); rest > 0; rest = Math.floor(rest / 62)) checksum = digits[rest % 62] + checksum
  return text + checksum.padStart(CHECKSUM_LENGTH, '0')
}

/** The API key with one character replaced. */
function changedAt(index: number): string {
  return apiKey.slice(0, index) + (apiKey[index] === 'A' ? 'B' : 'A') + apiKey.slice(index + 1)
}

interface Attempt {
  what: string
  /** One Authorization header for each value. */
  authorization?: string[]
  query?: string
  headers?: string[]
}

/** The Authorization header is missing or empty. */
const MISSING: Attempt[] = [
  { what: 'no header' },
  { what: 'an empty header', authorization: [''] },
  { what: 'a header of spaces', authorization: ['   '] },
  {
    what: 'the key in the query',
    query: `api_key=${apiKey}&key=${apiKey}&access_token=${apiKey}&authorization=Bearer%20${apiKey}`,
  },
  {
    what: 'the key in another header',
    headers: ['X-Api-Key', apiKey, 'Proxy-Authorization', `Bearer ${apiKey}`],
  },
  { what: 'the key in a cookie', headers: ['Cookie', `authorization=Bearer ${apiKey}; api_key=${apiKey}`] },
]

/** Values that are not "Bearer" and one word, so the service rejects them without a query. */
const OTHER_FORMS: Attempt[] = Object.entries({
  'the key without a scheme': apiKey,
  'a scheme without a key': 'Bearer',
  'a scheme and a space': 'Bearer ',
  Basic: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`,
  'Basic with the plain key': `Basic ${apiKey}`,
  Digest: `Digest username="${apiKey}"`,
  Token: `Token ${apiKey}`,
  'two schemes': `Basic abc, Bearer ${apiKey}`,
  'no space after the scheme': `Bearer${apiKey}`,
  'an equals sign after the scheme': `Bearer=${apiKey}`,
  'a colon after the scheme': `Bearer: ${apiKey}`,
  'a tab before the key': `Bearer\t${apiKey}`,
  'a no-break space before the key': `Bearer\u00a0${apiKey}`,
  'the key and a second word': `Bearer ${apiKey} x`,
  'the key twice, each with a scheme': `Bearer ${apiKey}, Bearer ${apiKey}`,
  'a space within the key': `Bearer ${apiKey.slice(0, 20)} ${apiKey.slice(20)}`,
}).map(([what, value]) => ({ what, authorization: [value] }))

const toBearer = ([what, key]: [string, string]): Attempt => ({ what, authorization: [`Bearer ${key}`] })

/** Texts with the prefix of the other environment. */
const OTHER_ENVIRONMENT: Attempt[] = Object.entries({
  'a staging key': staging.text,
  'the key with the staging prefix': `petstore_test_${apiKey.slice(14)}`,
  'the staging prefix alone': 'petstore_test_',
}).map(toBearer)

/** Texts that cannot be keys, so the service rejects them without a query. */
const MALFORMED: Attempt[] = Object.entries({
  'the key without its last character': apiKey.slice(0, -1),
  'half of the key': apiKey.slice(0, 30),
  'the prefix alone': 'petstore_live_',
  'the prefix and a wrong checksum': `petstore_live_${'A'.repeat(49)}`,
  'the key and a digit': `${apiKey}0`,
  'the key and an exclamation mark': `${apiKey}!`,
  'the key and a comma': `${apiKey},`,
  'the key and an encoded line break': `${apiKey}%0d%0a`,
  'the key twice, separated by a comma': `${apiKey},${apiKey}`,
  'the key in quotes': `"${apiKey}"`,
  'the key after a non-ASCII letter': `\u00e9${apiKey}`,
  'a changed character in the secret': changedAt(20),
  'a changed character in the checksum': changedAt(apiKey.length - 1),
  'the prefix in upper case': `PETSTORE_LIVE_${apiKey.slice(14)}`,
  'the key in lower case': apiKey.toLowerCase(),
  'the key in upper case': apiKey.toUpperCase(),
  'a tab before the key, after a space': `\t${apiKey}`,
  'a tab within the key': `${apiKey.slice(0, 20)}\t${apiKey.slice(20)}`,
  'a word': 'secret',
  'a JSON Web Token': 'eyJhbGciOiJub25lIn0.e30.',
  SQL: "'or'1'='1",
  'letters beyond ASCII': 'petstore_live_é',
  '10,000 characters': 'A'.repeat(10_000),
}).map(toBearer)

/** Two Authorization headers, in both orders. */
const REPEATED: Attempt[] = Object.entries({
  'the same key': `Bearer ${apiKey}`,
  'a wrong key': 'Bearer x',
  'an unknown key': `Bearer ${makeApiKeyText('production')}`,
  Basic: 'Basic abc',
  'an empty value': '',
}).flatMap(([what, other]) => [
  { what: `the key before a header with ${what}`, authorization: [`Bearer ${apiKey}`, other] },
  { what: `the key after a header with ${what}`, authorization: [other, `Bearer ${apiKey}`] },
])

/** Well-formed keys that only a query can reject. */
const WELL_FORMED: Attempt[] = Object.entries({
  'an unknown key': makeApiKeyText('production'),
  'a changed key with a valid checksum': withChecksum(changedAt(20).slice(0, -CHECKSUM_LENGTH)),
  'a revoked key': revoked.text,
  'an expired key': expired.text,
}).map(toBearer)

interface Target {
  method: string
  path: string
  body?: object | undefined
}

const TARGETS: Target[] = [
  ...operations,
  ...operations.filter(({ method }) => method === 'GET').map(({ path }) => ({ method: 'HEAD', path })),
  { method: 'GET', path: '/v1' },
  { method: 'GET', path: '/v1/nothing' },
  { method: 'POST', path: '/v1/nothing', body: {} },
  { method: 'GET', path: '/v1/%zz' },
  { method: 'GET', path: '/%76%31/pets' },
  { method: 'GET', path: '/v1/%70ets' },
  { method: 'PUT', path: '/v1/pets', body: {} },
  { method: 'DELETE', path: '/v1/store/inventory' },
  { method: 'PATCH', path: '/v1/api-keys/1', body: {} },
  { method: 'OPTIONS', path: '/v1/pets' },
  { method: 'TRACE', path: '/v1/pets' },
  { method: 'PROPFIND', path: '/v1/api-keys' },
]

const agent = new Agent({ keepAlive: true, maxSockets: 20 })
afterAll(() => agent.destroy())

/** Returns the response without its request id and date. */
async function present({ authorization = [], query, headers = [] }: Attempt, { method, path, body }: Target) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sending = httpRequest(origin + (query === undefined ? path : `${path}?${query}`), {
    method,
    agent,
    headers: [
      'Host',
      new URL(origin).host,
      ...authorization.flatMap((value) => ['Authorization', value]),
      ...headers,
      ...(body
        ? ['Content-Type', 'application/json', 'Content-Length', String(JSON.stringify(body).length)]
        : []),
    ],
  })
  sending
    .on('response', resolve)
    .on('error', reject)
    .end(body && JSON.stringify(body))
  const response = await promise
  const { 'x-request-id': _id, date: _date, ...comparable } = response.headers
  return { status: response.statusCode, headers: comparable, text: await readText(response) }
}

function expected401(method: string, code: string, message: string, challenge: string) {
  const text = JSON.stringify({ code, message, status: 401 })
  return {
    status: 401,
    text: method === 'HEAD' ? '' : text,
    headers: {
      'www-authenticate': challenge,
      link: `</docs/errors#${code}>; rel="help"`,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(text.length),
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      connection: 'keep-alive',
      'keep-alive': 'timeout=65',
    },
  }
}

const missing = (method: string) =>
  expected401(
    method,
    'missing_api_key',
    'The API key is missing; send "Authorization: Bearer <API_KEY>".',
    'Bearer realm="petstore"',
  )
const invalidBecause = (message: string) => (method: string) =>
  expected401(method, 'invalid_api_key', message, 'Bearer realm="petstore", error="invalid_token"')
const invalid = invalidBecause('The API key is not valid.')
const otherForm = invalidBecause(
  'The Authorization header must be "Bearer <API_KEY>"; other schemes, such as Basic, are not supported.',
)
const severalHeaders = invalidBecause('The request has several Authorization headers; send one.')
const otherEnvironment = invalidBecause(
  'The API key is for staging, but this service is production; use a key that starts with petstore_live_.',
)

/**
 * Gives each attempt `GET /v1/pets`, which accepts a valid key, and its share of all paths and methods. The attempts of
 * a group get the same response, so that together they prove it for all of them: pairs of each attempt with each path
 * would be 4,000 requests.
 */
function shareTargets<Each>(group: readonly Each[]): (Each & { targets: Target[] })[] {
  const pets: Target = { method: 'GET', path: '/v1/pets' }
  return group.map((each, index) => ({
    ...each,
    targets: [pets, ...TARGETS.filter((_, at) => at % group.length === index)],
  }))
}

async function expectAt(targets: Target[], attempt: Attempt, expected: typeof missing): Promise<void> {
  const responses = await Promise.all(
    targets.map(async (target) => ({ target, response: await present(attempt, target) })),
  )
  for (const { target, response } of responses) {
    expect(response, `${target.method} ${target.path}`).toEqual(expected(target.method))
  }
}

test.each([
  'Authorization: Bearer K',
  'Authorization: bearer K',
  'Authorization: bEaReR K',
  'AUTHORIZATION: BEARER K',
  'Authorization: Bearer   K',
  'Authorization:   Bearer K  ',
])('accepts the key K in "%s"', async (line) => {
  const headers = line.replace('K', apiKey).split(':')
  expect((await present({ what: '', headers }, { method: 'GET', path: '/v1/pets' })).status).toBe(200)
})

test('the checksum of a key is the CRC-32 of the rest, in base62', () => {
  expect(withChecksum(apiKey.slice(0, -CHECKSUM_LENGTH))).toBe(apiKey)
})

test('a staging service names production as the other environment', async () => {
  const atStaging = await startApp(db, {
    verifyApiKey: apiKeyVerifier(db, 'staging'),
    environment: 'staging',
  })
  expect((await atStaging.get('/pets', { apiKey: staging.text })).status).toBe(200)
  expect((await atStaging.get('/pets', { apiKey })).body).toMatchObject({
    code: 'invalid_api_key',
    message:
      'The API key is for production, but this service is staging; use a key that starts with petstore_test_.',
  })
})

describe(`on ${TARGETS.length} paths and methods, existing or not:`, () => {
  test.each(shareTargets(MISSING))(
    'returns 401 missing_api_key without querying the database: $what',
    async ({ targets, ...attempt }) => {
      const before = count()
      await expectAt(targets, attempt, missing)
      expect(count()).toBe(before)
    },
  )

  test.each([
    ...shareTargets(MALFORMED).map((attempt) => ({ ...attempt, expected: invalid })),
    ...shareTargets(OTHER_FORMS).map((attempt) => ({ ...attempt, expected: otherForm })),
    ...shareTargets(OTHER_ENVIRONMENT).map((attempt) => ({ ...attempt, expected: otherEnvironment })),
    ...shareTargets(REPEATED).map((attempt) => ({ ...attempt, expected: severalHeaders })),
  ])(
    'returns 401 invalid_api_key without querying the database: $what',
    async ({ targets, expected, ...attempt }) => {
      const before = count()
      await expectAt(targets, attempt, expected)
      expect(count()).toBe(before)
    },
  )

  // Each of them on all paths, because a difference would reveal which keys exist.
  test.each(WELL_FORMED)('returns the same 401 invalid_api_key to $what', async (attempt) => {
    await expectAt(TARGETS, attempt, invalid)
  })

  const MALFORMED_LINES = [
    { what: 'a line break before the key', bytes: `Authorization: Bearer\r\n ${apiKey}` },
    {
      what: 'a line break within the key',
      bytes: `Authorization: Bearer ${apiKey.slice(0, 20)}\r\n\t${apiKey.slice(20)}`,
    },
    { what: 'a bare line feed before the key', bytes: `Authorization: Bearer\n ${apiKey}` },
    { what: 'NUL after the key', bytes: `Authorization: Bearer ${apiKey}\0` },
    { what: 'a space before the colon', bytes: `Authorization : Bearer ${apiKey}` },
  ]

  test.each(shareTargets(MALFORMED_LINES))(
    'returns 400 malformed_request without querying the database: $what',
    async ({ bytes, targets }) => {
      const before = count()
      await Promise.all(
        targets.map(async ({ method, path }) => {
          const responses = await sendBytes(
            origin,
            `${method} ${path} HTTP/1.1\r\nHost: x\r\n${bytes}\r\n\r\n`,
          )
          const seen = responses.map(({ status, text }) => ({ status, text }))
          expect(seen, `${method} ${path}`).toEqual([
            {
              status: 400,
              text: '{"code":"malformed_request","message":"The request is not valid HTTP.","status":400}',
            },
          ])
        }),
      )
      expect(count()).toBe(before)
    },
  )
})

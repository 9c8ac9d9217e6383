// Every way to present no key or a wrong one, on every address and method under /v1: always the same 401, in
// which nothing tells how near the guess was, nor whether there is anything at that address.
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { apiKeyVerifier, createApiKey } from '../../src/api-keys/api-keys.ts'
import { makeApiKeyText } from '../../src/api-keys/format.ts'
import { revokeApiKey } from '../../src/api-keys/api-keys.ts'
import { DEFAULT_SCOPES, SCOPES } from '../../src/scopes.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { countStatements, createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { sendBytes } from '../support/raw-http.ts'
import { operations } from './operations.ts'

const databaseUrl = await createTestDatabase()
const { db, count } = countStatements(openTestDatabase(databaseUrl))
const { origin } = await startApp(db, { verifyApiKey: apiKeyVerifier(db, 'production') })

const ours = (await issueApiKey(db, { scopes: SCOPES })).text
const revoked = await issueApiKey(db, { scopes: SCOPES })
await revokeApiKey(db, revoked.id)
const expired = await issueApiKey(db, { scopes: SCOPES, expiresInSeconds: 1_000 })
await sql(databaseUrl, 'update api_keys set expires_at = now() where id = $1', [expired.id])
const ofStaging = await createApiKey(db, 'staging', {
  name: 'staging',
  scopes: DEFAULT_SCOPES,
  rateLimit: undefined,
  expiresInSeconds: undefined,
})

/** The text with one character another one. */
function changedAt(index: number): string {
  return ours.slice(0, index) + (ours[index] === 'A' ? 'B' : 'A') + ours.slice(index + 1)
}

interface Attempt {
  what: string
  /** One Authorization header for each. */
  authorization?: string[]
  query?: string
  headers?: string[]
}

/** Nothing in the Authorization header: the client may simply not know. */
const MISSING: Attempt[] = [
  { what: 'no header' },
  { what: 'an empty header', authorization: [''] },
  { what: 'a header of spaces', authorization: ['   '] },
  {
    what: 'the key in the query',
    query: `api_key=${ours}&access_token=${ours}&authorization=Bearer%20${ours}`,
  },
  {
    what: 'the key in another header',
    headers: ['X-Api-Key', ours, 'Proxy-Authorization', `Bearer ${ours}`],
  },
  { what: 'the key in a cookie', headers: ['Cookie', `authorization=Bearer ${ours}; api_key=${ours}`] },
]

/** Cannot be a key of this environment, so nobody is asked whether it is. */
const IMPOSSIBLE: Attempt[] = [
  { what: 'the key alone', authorization: [ours] },
  { what: 'a scheme alone', authorization: ['Bearer'] },
  { what: 'Basic', authorization: [`Basic ${Buffer.from(`${ours}:`).toString('base64')}`] },
  { what: 'another scheme', authorization: [`Token ${ours}`] },
  { what: 'the key cut short by one', authorization: [`Bearer ${ours.slice(0, -1)}`] },
  { what: 'the key cut in half', authorization: [`Bearer ${ours.slice(0, 30)}`] },
  { what: 'the prefix alone', authorization: ['Bearer petstore_live_'] },
  { what: 'one character more', authorization: [`Bearer ${ours}0`] },
  { what: 'a character of the secret changed', authorization: [`Bearer ${changedAt(20)}`] },
  { what: 'a character of the checksum changed', authorization: [`Bearer ${changedAt(ours.length - 1)}`] },
  { what: 'the prefix in capitals', authorization: [`Bearer PETSTORE_LIVE_${ours.slice(14)}`] },
  { what: 'all in small letters', authorization: [`Bearer ${ours.toLowerCase()}`] },
  { what: 'all in capitals', authorization: [`Bearer ${ours.toUpperCase()}`] },
  { what: 'a key of the other environment', authorization: [`Bearer ${ofStaging.text}`] },
  {
    what: 'the key by the name of the other environment',
    authorization: [`Bearer petstore_test_${ours.slice(14)}`],
  },
  { what: 'the key twice in one header', authorization: [`Bearer ${ours}, Bearer ${ours}`] },
  { what: 'the key in two headers', authorization: [`Bearer ${ours}`, `Bearer ${ours}`] },
  { what: 'the key behind another one', authorization: ['Bearer x', `Bearer ${ours}`] },
  { what: 'the key before an empty header', authorization: [`Bearer ${ours}`, ''] },
  { what: 'a tab before the key', authorization: [`Bearer\t${ours}`] },
  { what: 'a tab and a space before the key', authorization: [`Bearer \t${ours}`] },
  { what: 'a space within the key', authorization: [`Bearer ${ours.slice(0, 20)} ${ours.slice(20)}`] },
  { what: 'a tab within the key', authorization: [`Bearer ${ours.slice(0, 20)}\t${ours.slice(20)}`] },
  { what: 'a no-break space before the key', authorization: [`Bearer\u00a0${ours}`] },
  { what: 'an encoded line break behind the key', authorization: [`Bearer ${ours}%0d%0a`] },
  { what: 'a comma behind the key', authorization: [`Bearer ${ours},`] },
]

/** Well-formed, so that the database has to be asked. */
const REFUSED: Attempt[] = [
  { what: 'a right checksum but nobody has it', authorization: [`Bearer ${makeApiKeyText('production')}`] },
  { what: 'a revoked key', authorization: [`Bearer ${revoked.text}`] },
  { what: 'an expired key', authorization: [`Bearer ${expired.text}`] },
]

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
  { method: 'PUT', path: '/v1/pets', body: {} },
  { method: 'DELETE', path: '/v1/store/inventory' },
  { method: 'PATCH', path: '/v1/api-keys/1', body: {} },
  { method: 'OPTIONS', path: '/v1/pets' },
  { method: 'TRACE', path: '/v1/pets' },
  { method: 'PROPFIND', path: '/v1/api-keys' },
]

const agent = new Agent({ keepAlive: true, maxSockets: 20 })
afterAll(() => agent.destroy())

/** With headers as they are given, twice where they are given twice; answers all that is the same each time. */
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
  const { 'x-request-id': _id, date: _date, ...kept } = response.headers
  return { status: response.statusCode, headers: kept, text: await readText(response) }
}

function documented401(method: string, code: string, message: string, challenge: string) {
  const text = JSON.stringify({ code, message, status: 401 })
  return {
    status: 401,
    text: method === 'HEAD' ? '' : text,
    headers: {
      'www-authenticate': challenge,
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
  documented401(
    method,
    'missing_api_key',
    'The API key is missing; send "Authorization: Bearer <API_KEY>".',
    'Bearer realm="petstore"',
  )
const invalid = (method: string) =>
  documented401(
    method,
    'invalid_api_key',
    'The API key is not valid.',
    'Bearer realm="petstore", error="invalid_token"',
  )

async function expectEverywhere(attempt: Attempt, expected: typeof missing): Promise<void> {
  const responses = await Promise.all(
    TARGETS.map(async (target) => ({ target, response: await present(attempt, target) })),
  )
  for (const { target, response } of responses) {
    expect(response, `${target.method} ${target.path}`).toEqual(expected(target.method))
  }
}

test('the key itself is let in, so that what follows is no accident', async () => {
  const response = await present(
    { what: '', authorization: [`Bearer ${ours}`] },
    { method: 'GET', path: '/v1/pets' },
  )
  expect(response.status).toBe(200)
})

describe(`on all ${TARGETS.length} addresses and methods, also where there is nothing,`, () => {
  test.each(MISSING)('$what is a missing key, and costs no query', async (attempt) => {
    const before = count()
    await expectEverywhere(attempt, missing)
    expect(count()).toBe(before)
  })

  test.each(IMPOSSIBLE)('$what is an invalid key, and costs no query', async (attempt) => {
    const before = count()
    await expectEverywhere(attempt, invalid)
    expect(count()).toBe(before)
  })

  test.each(REFUSED)('$what is an invalid key in the same words', async (attempt) => {
    await expectEverywhere(attempt, invalid)
  })

  test.each([
    { what: 'a line break before the key', bytes: `Authorization: Bearer\r\n ${ours}` },
    {
      what: 'a line break within the key',
      bytes: `Authorization: Bearer ${ours.slice(0, 20)}\r\n\t${ours.slice(20)}`,
    },
    { what: 'a bare line feed before the key', bytes: `Authorization: Bearer\n ${ours}` },
    { what: 'a NUL behind the key', bytes: `Authorization: Bearer ${ours}\0` },
    { what: 'a space before the colon', bytes: `Authorization : Bearer ${ours}` },
  ])('$what is no HTTP: 400, and nothing is done', async ({ bytes }) => {
    const before = count()
    await Promise.all(
      TARGETS.map(async ({ method, path }) => {
        const responses = await sendBytes(origin, `${method} ${path} HTTP/1.1\r\nHost: x\r\n${bytes}\r\n\r\n`)
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
  })
})

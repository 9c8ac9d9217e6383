// An identity provider that is unavailable, slow or broken, and too many sign-ins. People get an understandable error, and
// the API is not affected.
import type { RequestListener } from 'node:http'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import {
  PROVIDER_RESPONSE_MAX_BYTES,
  PROVIDER_TIMEOUT_MS,
} from '../../src/access/sign-in/provider-requests.ts'
import { EXCHANGE_TIMEOUT_MS, type ProviderSettings } from '../../src/access/sign-in/provider.ts'
import { IN_FLIGHT_MAX, REQUESTS_PER_MINUTE_MAX } from '../../src/access/sign-in/routes.ts'
import { issueApiKey } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import {
  fetchKey,
  finishAt,
  openBrowser,
  openSignInFixture,
  returnAddress,
  type SignInFixture,
  signIn,
} from '../support/sign-in.ts'

const UNAVAILABLE = '/sign-in?error=provider_unavailable'
const PROVIDER_ERROR = '/sign-in?error=provider_error'

async function start(fixture: SignInFixture): Promise<string | null> {
  const response = await fetch(`${fixture.origin}/auth/start`, { redirect: 'manual' })
  expect(response.status).toBe(303)
  return response.headers.get('location')
}

/** A service whose provider is this server. */
async function openWith(
  respond: RequestListener,
  settings: Partial<ProviderSettings> = {},
): Promise<SignInFixture> {
  const { origin: issuer, close } = await openLocalServer(respond)
  afterAll(close)
  return openSignInFixture({ isProviderRunning: false, settings: { issuer, ...settings } })
}

test('the service works without its provider, and people can sign in as soon as the provider runs', async () => {
  const fixture = await openSignInFixture({ isProviderRunning: false })
  expect(await start(fixture)).toBe(UNAVAILABLE)
  const { text: apiKey } = await issueApiKey(fixture.db)
  expect((await openTestClient({ origin: fixture.origin, apiKey }).get('/pets')).status).toBe(200)
  await fixture.startProvider()
  expect((await signIn(fixture, 'sam')).name).toBe('Sam Staff')
})

test('a provider that stops between the start and the return leads to an error, and later sign-ins succeed', async () => {
  const fixture = await openSignInFixture()
  const browser = openBrowser()
  const address = await returnAddress(fixture, browser, 'sam')
  await fixture.stopProvider()
  expect(await finishAt(fixture, browser, address)).toBe(UNAVAILABLE)
  expect((await fetchKey(fixture, browser)).status).toBe(410)
  await fixture.startProvider()
  expect((await signIn(fixture, 'sam')).name).toBe('Sam Staff')
})

test('a provider that does not respond leads to an error after a timeout; meanwhile the API responds', async () => {
  const fixture = await openWith(() => {}, { requestTimeoutMs: PROVIDER_TIMEOUT_MS })
  const waiting = start(fixture)
  const { text: apiKey } = await issueApiKey(fixture.db)
  expect((await openTestClient({ origin: fixture.origin, apiKey }).get('/pets')).status).toBe(200)
  expect(await waiting).toBe(UNAVAILABLE)
  expect(PROVIDER_TIMEOUT_MS).toBeLessThan(EXCHANGE_TIMEOUT_MS)
})

test('while the provider does not respond, the service waits for it once, with a limited number of people', async () => {
  let requests = 0
  let connection: Socket | undefined
  const fixture = await openWith(({ socket }) => {
    requests += 1
    connection = socket
  })
  const starts = Array.from({ length: IN_FLIGHT_MAX + 1 }, () => start(fixture))
  expect(await Promise.race(starts)).toBe('/sign-in?error=overloaded')
  await expect.poll(() => requests).toBe(1)
  connection?.destroy()
  const pages = await Promise.all(starts)
  expect(pages.filter((page) => page === UNAVAILABLE)).toHaveLength(IN_FLIGHT_MAX)
  expect(requests).toBe(1)
})

test.each<[string, RequestListener, string]>([
  ['500', (_request, response) => response.writeHead(500).end(), UNAVAILABLE],
  ['404', (_request, response) => response.writeHead(404).end(), PROVIDER_ERROR],
  ['text', (_request, response) => response.end('hello'), PROVIDER_ERROR],
  [
    'the documents of another issuer',
    (_request, response) =>
      response.setHeader('content-type', 'application/json').end('{"issuer":"https://evil.example"}'),
    PROVIDER_ERROR,
  ],
  [
    'a redirect',
    (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    PROVIDER_ERROR,
  ],
  [
    'an endless document',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '.repeat(PROVIDER_RESPONSE_MAX_BYTES / 4)), 5)
      response.once('close', () => clearInterval(timer))
    },
    PROVIDER_ERROR,
  ],
  ['a closed connection', (request) => request.socket.destroy(), UNAVAILABLE],
])('a provider that returns %s leads to an error', async (_what, respond, page) => {
  expect(await start(await openWith(respond))).toBe(page)
})

test('a fault of the database leads to an error', async () => {
  const fixture = await openSignInFixture()
  const browser = openBrowser()
  const address = await returnAddress(fixture, browser, 'sam')
  await fixture.sql('alter table finished_sign_ins rename to other')
  expect(await finishAt(fixture, browser, address)).toBe('/sign-in?error=unavailable')
})

test('a start stores nothing, so that started sign-ins cannot keep other people from signing in', async () => {
  const fixture = await openSignInFixture()
  expect(await start(fixture)).toContain(fixture.issuer)
  const rows = await fixture.sql('select count(*)::int from finished_sign_ins')
  expect(rows).toEqual([{ count: 0 }])
})

test('clients that do not complete their request for a key do not keep others from signing in', async () => {
  const fixture = await openSignInFixture()
  const { hostname, port } = new URL(fixture.origin)
  const head =
    'POST /auth/key HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n'
  const sockets = Array.from({ length: IN_FLIGHT_MAX }, () => connect(Number(port), hostname))
  afterAll(() => sockets.forEach((socket) => socket.destroy()))
  await Promise.all(
    sockets.map(async (socket) => {
      socket.write(head)
      // The service responds with 100 when it accepts the request, and then waits for the body.
      const [bytes] = (await once(socket, 'data')) as [Buffer]
      expect(bytes.toString()).toContain('100 Continue')
    }),
  )
  expect(await start(fixture)).toContain(fixture.issuer)
})

test('an address with too many requests gets rate_limited until the next minute; others are not affected', async () => {
  const fixture = await openSignInFixture({ app: { trustProxy: ['loopback'] } })
  // The clock and the timers of the limiter.
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const from = async (address: string) => {
    const response = await fetch(`${fixture.origin}/auth/callback`, {
      redirect: 'manual',
      headers: { 'x-forwarded-for': address },
    })
    return response.headers.get('location')
  }
  const EXPIRED = '/sign-in?error=sign_in_expired'
  for (let count = 0; count < REQUESTS_PER_MINUTE_MAX; count += 1)
    expect(await from('192.0.2.1')).toBe(EXPIRED)
  expect(await from('192.0.2.1')).toBe('/sign-in?error=rate_limited')
  const key = await fetch(`${fixture.origin}/auth/key`, {
    method: 'POST',
    headers: { 'x-forwarded-for': '192.0.2.1' },
  })
  expect(key.status).toBe(429)
  expect(key.headers.get('retry-after')).toBe('60')
  expect(await from('192.0.2.2')).toBe(EXPIRED)
  vi.advanceTimersByTime(60_000)
  expect(await from('192.0.2.1')).toBe(EXPIRED)
})

// The client address: when X-Forwarded-For is trusted, when it is logged, and how it limits unauthenticated requests.
import { expect, onTestFinished, test, vi } from 'vitest'
import { makeApiKeyText } from '../../src/access/api-keys/format.ts'
import { ADDRESSES_MAX, addressLimiter } from '../../src/http/rate-limit.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { countStatements, createTestDatabase, openTestDatabase } from '../support/database.ts'

const { db, count } = countStatements(openTestDatabase(await createTestDatabase()))

const LIMITED = { unauthenticatedLimitPerSecond: 2 }
const TRUSTING = { trustProxy: ['loopback'] }

const forwarded = (address: string) => ({ 'x-forwarded-for': address })

/** Stops the clock and the timers of the limiter, unless the test moves them. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Sends requests without a key, one after the other, and returns their statuses. */
async function statusesFor(petstore: Awaited<ReturnType<typeof startApp>>, addresses: string[]) {
  const statuses = []
  for (const address of addresses) {
    const { status } = await petstore.get('/pets', { apiKey: null, headers: forwarded(address) })
    statuses.push(status)
  }
  return statuses
}

test('does not limit requests without a valid key by default (401)', async () => {
  const petstore = await startApp(db)
  expect(await statusesFor(petstore, Array<string>(50).fill('203.0.113.1'))).toEqual(Array(50).fill(401))
})

test('limits requests without a key or with an invalid one (429) until the next second', async () => {
  stopClock()
  const petstore = await startApp(db, LIMITED)
  expect((await petstore.get('/pets', { apiKey: null })).status).toBe(401)
  expect((await petstore.get('/nothing', { apiKey: 'wrong' })).status).toBe(401)
  const { status, body, headers } = await petstore.get('/pets', { apiKey: null })
  expect(status).toBe(429)
  expect(body).toMatchObject({ code: 'rate_limited' })
  expect(headers.get('retry-after')).toBe('1')
  expect(headers.get('ratelimit-policy')).toBe('"unauthenticated";q=2;w=1')
  vi.advanceTimersByTime(999)
  expect((await petstore.get('/pets', { apiKey: null })).status).toBe(429)
  vi.advanceTimersByTime(1)
  expect((await petstore.get('/pets', { apiKey: null })).status).toBe(401)
})

test('accepts a valid key beyond the limit, and rejects an unknown one without a look-up', async () => {
  stopClock()
  const petstore = await startApp(db, LIMITED)
  expect((await petstore.get('/pets')).status).toBe(200)
  const before = count()
  const statuses = []
  for (let sent = 0; sent < 6; sent += 1) {
    statuses.push((await petstore.get('/pets', { apiKey: makeApiKeyText('production') })).status)
  }
  expect(statuses).toEqual([401, 401, 429, 429, 429, 429])
  expect(count() - before).toBe(2)
  expect((await petstore.get('/pets')).status).toBe(200)
})

test('a forged X-Forwarded-For does not bypass the limit without TRUST_PROXY', async () => {
  stopClock()
  const petstore = await startApp(db, LIMITED)
  expect(await statusesFor(petstore, ['203.0.113.1', '203.0.113.2', '203.0.113.3'])).toEqual([401, 401, 429])
})

test('each client behind a trusted proxy has its own limit and cannot forge another address', async () => {
  stopClock()
  const petstore = await startApp(db, { ...LIMITED, ...TRUSTING })
  const other = (await issueApiKey(db)).text
  const mine = ['198.51.100.1, 203.0.113.1', '198.51.100.2, 203.0.113.1', '198.51.100.3,203.0.113.1']
  expect(await statusesFor(petstore, mine)).toEqual([401, 401, 429])
  expect(await statusesFor(petstore, ['203.0.113.2'])).toEqual([401])
  const authenticated = await petstore.get('/pets', { apiKey: other, headers: forwarded('203.0.113.2') })
  expect(authenticated.status).toBe(200)
})

/** A limit of one request, and whether an address has reached it. */
function openLimiter() {
  stopClock()
  const limiter = addressLimiter(1)
  const isOver = (address: string) =>
    limiter.requireUnder(address).then(
      () => false,
      () => true,
    )
  return { count: limiter.count, isOver }
}

test('limits an IPv6 client by its /64, in every notation', async () => {
  const { count: countRequest, isOver } = openLimiter()
  await countRequest('2001:db8::1')
  for (const same of [
    '2001:db8::1',
    '2001:db8:0:0:ffff::2',
    '2001:0DB8::',
    '2001:db8::1.2.3.4',
    '2001:db8::3%br-lan',
  ]) {
    expect(await isOver(same), same).toBe(true)
  }
  for (const other of ['2001:db8:0:1::1', '2001:db8:1::', '::1', '1::', '10.0.0.1']) {
    expect(await isOver(other), other).toBe(false)
  }
})

test('addresses beyond ADDRESSES_MAX have one common limit', async () => {
  const { count: countRequest, isOver } = openLimiter()
  const addresses = Array.from({ length: ADDRESSES_MAX }, (_, index) => `10.0.${index >> 8}.${index & 255}`)
  for (const address of addresses) await countRequest(address)
  expect(await isOver('192.0.2.2')).toBe(false)
  await countRequest('192.0.2.1')
  expect(await isOver('192.0.2.2')).toBe(true)
  expect(await isOver(addresses[0] ?? '')).toBe(true)
  vi.advanceTimersByTime(1_000)
  expect(await isOver('192.0.2.2')).toBe(false)
  await countRequest('192.0.2.1')
  expect(await isOver('192.0.2.2')).toBe(false)
})

async function loggedAddress(choices: object, address: string): Promise<unknown> {
  const lines: string[] = []
  const log = Object.assign(openLog('silent'), {
    isLevelEnabled: () => true,
    writeLine: (json: string) => lines.push(json),
  })
  const petstore = await startApp(db, { ...choices, log })
  await petstore.get('/pets', { headers: forwarded(address) })
  await expect.poll(() => lines.length).toBe(1)
  return (JSON.parse(lines[0] ?? '') as { clientAddress?: unknown }).clientAddress
}

const LOOPBACK = expect.stringMatching(/^(127\.0\.0\.1|::1)$/)

test.each([
  { what: 'no client address by default', choices: TRUSTING, forwardedFor: '203.0.113.1', logged: undefined },
  {
    what: 'the address of the connection',
    choices: { logClientAddress: true },
    forwardedFor: '203.0.113.1',
    logged: LOOPBACK,
  },
  {
    what: 'the address that a trusted proxy forwards',
    choices: { ...TRUSTING, logClientAddress: true },
    forwardedFor: '198.51.100.1, 203.0.113.1',
    logged: '203.0.113.1',
  },
  {
    what: 'the address of the proxy if it forwards no valid address',
    choices: { ...TRUSTING, logClientAddress: true },
    forwardedFor: 'x","level":60,"y":"',
    logged: LOOPBACK,
  },
])('logs $what', async ({ choices, forwardedFor, logged }) => {
  expect(await loggedAddress(choices, forwardedFor)).toEqual(logged)
})

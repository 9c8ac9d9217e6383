// How pages and their assets are served: compressed, cacheable, and with limits that keep them from blocking the API.
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { startApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { retryWhileBusy } from '../support/load.ts'

const db = openTestDatabase(await createTestDatabase())
const petstore = await startApp(db)
const version = manifest.dependencies['@scalar/fastify-api-reference']
const SCALAR = `/docs/assets/scalar-${version}.js`
/** Longer than any test, and the time of no other timer. */
const NEVER_MS = 654_321
const PAGES = ['/docs', '/docs/errors', '/docs/deprecations/get-pet', '/openapi.json']
const page = await petstore.call('GET', '/docs')
const ASSETS = [...page.text.matchAll(/"(\/docs\/assets\/[^"]+)"/g)].map(([, url = '']) => url)

const open = (path: string, headers: Record<string, string> = {}) =>
  petstore.call('GET', path, { apiKey: null, headers })

test('the reference page loads the pinned Scalar, and our own icon, stylesheet and start script', () => {
  expect(ASSETS.map((url) => url.replace(/-[\w-]{16}\./, '-HASH.'))).toEqual([
    '/docs/assets/icon-HASH.svg',
    '/docs/assets/pages-HASH.css',
    '/docs/assets/start-scalar-HASH.js',
    SCALAR,
  ])
})

test('an asset is cached for a year without revalidation, because its URL changes with its content', async () => {
  for (const path of ASSETS) {
    const { status, headers } = await open(path)
    expect([path, status, headers.get('cache-control')]).toEqual([
      path,
      200,
      'public, max-age=31536000, immutable',
    ])
  }
})

test('a page is revalidated on every request, so that a new version is visible at once', async () => {
  for (const path of PAGES) expect((await open(path)).headers.get('cache-control')).toBe('no-cache')
})

test.each([...PAGES, ...ASSETS])('%s returns 304 if If-None-Match has its ETag', async (path) => {
  const first = await open(path)
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^W\/"[\w-]+"$/)
  for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
    const revalidated = await open(path, { 'if-none-match': known })
    expect([known, revalidated.status, revalidated.text]).toEqual([known, 304, ''])
    expect(revalidated.headers.get('etag')).toBe(etag)
    expect(revalidated.headers.get('cache-control')).toBe(first.headers.get('cache-control'))
  }
  const changed = await open(path, { 'if-none-match': '"other", W/"another"' })
  expect([changed.status, changed.text === first.text]).toEqual([200, true])
})

test.each([...PAGES, ...ASSETS])('%s has the same content compressed and uncompressed', async (path) => {
  const compressed = await open(path, { 'accept-encoding': 'br, gzip;q=0.8' })
  expect(compressed.headers.get('content-encoding')).toBe('gzip')
  expect(compressed.headers.get('vary')).toBe('Accept-Encoding')
  for (const encodings of ['identity', 'gzip;q=0', 'br', 'xgzip']) {
    const plain = await open(path, { 'accept-encoding': encodings })
    expect([encodings, plain.headers.get('content-encoding')]).toEqual([encodings, null])
    expect(plain.headers.get('vary')).toBe('Accept-Encoding')
    // A comparison of the texts would print megabytes on failure.
    expect(plain.text === compressed.text).toBe(true)
    expect(Number(plain.headers.get('content-length'))).toBe(Buffer.byteLength(plain.text))
  }
})

test('the Scalar script is complete and compressed to less than a third', async () => {
  const { headers, text } = await open(SCALAR, { 'accept-encoding': 'gzip' })
  expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(text).toContain('createApiReference')
  expect(text).not.toContain('sourceMappingURL')
  expect(Number(headers.get('content-length'))).toBeLessThan(Buffer.byteLength(text) / 3)
})

test('a page keeps the Vary value that CORS has set', async () => {
  const withOrigins = await startApp(db, { corsOrigins: ['https://shop.example'] })
  const { headers } = await withOrigins.call('GET', '/docs', { headers: { origin: 'https://shop.example' } })
  expect(headers.get('vary')).toBe('Origin, Accept-Encoding')
})

test('clients that do not read a page do not block the API', async () => {
  const timers = timersOfPages()
  const busy = await startApp(db, { pageLimits: { inFlightMax: 3, takenWithinMs: NEVER_MS } })
  const clients = Array.from({ length: 3 }, () => requestWithoutReading(busy))
  await expect.poll(timers).toHaveLength(3)
  for (const path of ['/docs/errors', SCALAR]) {
    expect(await busy.call('GET', path)).toMatchObject({ status: 503, body: { code: 'overloaded' } })
  }
  expect((await retryWhileBusy(() => busy.get('/pets'))).status).toBe(200)
  for (const client of clients) client.destroy()
})

test('a client that does not read a page is disconnected after takenWithinMs', async () => {
  const timers = timersOfPages()
  const busy = await startApp(db, { pageLimits: { inFlightMax: 1, takenWithinMs: NEVER_MS } })
  const client = requestWithoutReading(busy)
  await expect.poll(timers).toHaveLength(1)
  expect(await statusOf(busy, '/docs')).toBe(503)
  // The time has passed. The client still reads nothing, so the service must close its connection, before it handles the
  // next request. A poll would also end when the service closes connections on which nothing moves.
  timers()[0]?.()
  expect(await statusOf(busy, '/docs')).toBe(200)
  client.destroy()
})

test('a client that disconnects frees its slot at once', async () => {
  const timers = timersOfPages()
  const busy = await startApp(db, { pageLimits: { inFlightMax: 1, takenWithinMs: NEVER_MS } })
  const client = requestWithoutReading(busy)
  await expect.poll(timers).toHaveLength(1)
  expect(await statusOf(busy, '/docs')).toBe(503)
  client.destroy()
  await expect.poll(() => statusOf(busy, '/docs')).toBe(200)
})

/** What the timers of pages in flight do after NEVER_MS. A page that was rejected has no timer. */
function timersOfPages(): () => (() => void)[] {
  const started = vi.spyOn(globalThis, 'setTimeout')
  onTestFinished(() => started.mockRestore())
  return () => started.mock.calls.filter(([, ms]) => ms === NEVER_MS).map(([onTimeout]) => onTimeout)
}

/** Requests the largest file uncompressed, which exceeds the socket buffers, and reads nothing. */
function requestWithoutReading({ origin }: TestClient): Socket {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname).pause()
  socket.on('error', () => {})
  socket.write(`GET ${SCALAR} HTTP/1.1\r\nHost: petstore.test\r\nAccept-Encoding: identity\r\n\r\n`)
  return socket
}

async function statusOf({ call }: TestClient, path: string): Promise<number> {
  return (await call('GET', path)).status
}

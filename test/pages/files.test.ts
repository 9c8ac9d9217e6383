// How pages and their assets are served: compressed, cacheable, and with limits that keep them from blocking the API.
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { clientPage, readClientPackage } from '../../src/pages/client-package.ts'
import { referencePage } from '../../src/pages/reference-page.ts'
import { readScalar } from '../../src/pages/scalar.ts'
import { VERSION } from '../../src/values/version.ts'
import { startApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { retryWhileBusy } from '../support/load.ts'

const db = openTestDatabase(await createTestDatabase())
const petstore = await startApp(db)
/** Longer than any test, and the time of no other timer. */
const NEVER_MS = 654_321
const PAGES = ['/docs', '/docs/client', '/docs/errors', '/docs/deprecations/get-pet', '/openapi.json']
const page = await petstore.call('GET', '/docs')
const ASSETS = [...page.text.matchAll(/"(\/docs\/assets\/[^"]+)"/g)].map(([, url = '']) => url)
const SCALAR = ASSETS.find((url) => url.includes('/scalar-')) ?? ''

const open = (path: string, headers: Record<string, string> = {}) =>
  petstore.call('GET', path, { apiKey: null, headers })

test('the reference page loads our own icon, stylesheet and start script, and the Scalar of the build', () => {
  expect(ASSETS.map((url) => url.replace(/-[\w-]{16}\./, '-HASH.'))).toEqual([
    '/docs/assets/icon-HASH.svg',
    '/docs/assets/pages-HASH.css',
    '/docs/assets/start-scalar-HASH.js',
    '/docs/assets/scalar-HASH.js',
  ])
})

test('the package of the client is sent as it is, with an ETag and the integrity that its page names', async () => {
  const headers = { 'accept-encoding': 'gzip' }
  const response = await fetch(`${petstore.origin}/client.tgz`, { headers })
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/gzip',
    'cache-control': 'no-cache',
    'content-disposition': `attachment; filename="petstore-client-${VERSION}.tgz"`,
    'x-content-type-options': 'nosniff',
    etag: expect.stringMatching(/^"[\w-]{16}"$/),
  })
  expect(response.headers.has('content-encoding')).toBe(false)
  const integrity = `sha512-${hash('sha512', Buffer.from(await response.arrayBuffer()), 'base64')}`
  expect((await open('/docs/client')).text).toContain(integrity)
  const etag = response.headers.get('etag') ?? ''
  expect((await open('/client.tgz', { 'if-none-match': etag })).status).toBe(304)
  expect((await petstore.call('POST', '/client.tgz')).status).toBe(405)
})

test('without a build, the page of the client says how to build it', () => {
  expect(readClientPackage('/missing')).toBeUndefined()
  expect(clientPage(undefined)).toContain('npm run build')
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

test('without a build, the reference page says how to build it', () => {
  expect(referencePage(readScalar('/nonexistent'))).toContain('npm run build')
})

test('a page keeps the Vary value that CORS has set', async () => {
  const withOrigins = await startApp(db, { corsOrigins: ['https://shop.example'] })
  const { headers } = await withOrigins.call('GET', '/docs', { headers: { origin: 'https://shop.example' } })
  expect(headers.get('vary')).toBe('Origin, Accept-Encoding')
})

test('clients that do not read a page block neither the API nor other pages', async () => {
  const timers = timersOfPages()
  const busy = await startApp(db, { pageLimits: { inFlightMax: 3, takenWithinMs: NEVER_MS } })
  const clients: Socket[] = []
  for (let count = 1; count <= 3; count += 1) {
    clients.push(requestWithoutReading(busy))
    await expect.poll(timers).toHaveLength(count)
  }
  for (const path of ['/', '/sign-in', '/docs/errors', SCALAR]) {
    expect([path, await statusOf(busy, path)]).toEqual([path, 200])
  }
  expect((await retryWhileBusy(() => busy.get('/pets'))).status).toBe(200)
  // The first of the pages has ended the oldest download. Then there was room for the others.
  expect(await Promise.all(clients.map(isComplete))).toEqual([false, true, true])
})

test('a client with many downloads ends its own oldest one, not that of another client', async () => {
  const timers = timersOfPages()
  const busy = await startApp(db, {
    pageLimits: { inFlightMax: 3, takenWithinMs: NEVER_MS },
    trustProxy: ['loopback'],
  })
  const clients: Socket[] = []
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.2']) {
    clients.push(requestWithoutReading(busy, address))
    await expect.poll(timers).toHaveLength(clients.length)
  }
  expect(await Promise.all(clients.map(isComplete))).toEqual([true, false, true, true])
})

test('a client that does not read a page is disconnected after takenWithinMs', async () => {
  const timers = timersOfPages()
  const busy = await startApp(db, { pageLimits: { inFlightMax: 1, takenWithinMs: NEVER_MS } })
  const client = requestWithoutReading(busy)
  await expect.poll(timers).toHaveLength(1)
  timers()[0]?.()
  expect(await isComplete(client)).toBe(false)
})

test('a client that disconnects frees its slot at once', async () => {
  const timers = timersOfPages()
  const cleared = vi.spyOn(globalThis, 'clearTimeout')
  onTestFinished(() => cleared.mockRestore())
  const busy = await startApp(db, { pageLimits: { inFlightMax: 2, takenWithinMs: NEVER_MS } })
  const first = requestWithoutReading(busy)
  await expect.poll(timers).toHaveLength(1)
  const second = requestWithoutReading(busy)
  await expect.poll(timers).toHaveLength(2)
  const timerOfSecond = timers.started().at(-1)
  second.destroy()
  await expect.poll(() => cleared.mock.calls.some(([timer]) => timer === timerOfSecond)).toBe(true)
  expect(await statusOf(busy, '/docs')).toBe(200)
  expect(await isComplete(first)).toBe(true)
})

/** What the timers of the pages do after NEVER_MS, and the timers themselves. */
function timersOfPages(): (() => (() => void)[]) & { started: () => unknown[] } {
  const spy = vi.spyOn(globalThis, 'setTimeout')
  onTestFinished(() => spy.mockRestore())
  const isOfPage = ([, ms]: unknown[]) => ms === NEVER_MS
  return Object.assign(() => spy.mock.calls.filter(isOfPage).map(([onTimeout]) => onTimeout as () => void), {
    started: () =>
      spy.mock.results.filter((_, index) => isOfPage(spy.mock.calls[index] ?? [])).map(({ value }) => value),
  })
}

/** Requests the largest file uncompressed, which exceeds the socket buffers, and reads nothing. */
function requestWithoutReading({ origin }: TestClient, address = '192.0.2.9'): Socket {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname).pause()
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.write(
    `GET ${SCALAR} HTTP/1.1\r\nHost: petstore.test\r\nX-Forwarded-For: ${address}\r\nConnection: close\r\n\r\n`,
  )
  return socket
}

/** Reads the response, and returns whether the service has sent all of it. */
async function isComplete(socket: Socket): Promise<boolean> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume()
  if (!socket.closed) await once(socket, 'close')
  const response = Buffer.concat(chunks)
  const headSize = response.indexOf('\r\n\r\n') + 4
  const size = Number(/content-length: (\d+)/i.exec(response.toString('latin1', 0, headSize))?.[1])
  return response.length === headSize + size
}

async function statusOf({ call }: TestClient, path: string): Promise<number> {
  return (await call('GET', path)).status
}

// How pages and their files travel: compressed, once, and never in the way of whoever asks for data.
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { startApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

const db = openTestDatabase(await createTestDatabase())
const petstore = await startApp(db)
const version = manifest.dependencies['@scalar/fastify-api-reference']
const SCALAR = `/docs/assets/scalar-${version}.js`
const PAGES = ['/docs', '/docs/errors', '/docs/deprecations/get-pet', '/openapi.json']
const page = await petstore.call('GET', '/docs')
const ASSETS = [...page.text.matchAll(/"(\/docs\/assets\/[^"]+)"/g)].map(([, address = '']) => address)

const open = (path: string, headers: Record<string, string> = {}) =>
  petstore.call('GET', path, { apiKey: null, headers })

test('the reference page loads the pinned Scalar, an icon, a style and a start of our own', () => {
  expect(ASSETS.map((address) => address.replace(/-[\w-]{16}\./, '-HASH.'))).toEqual([
    '/docs/assets/icon-HASH.svg',
    '/docs/assets/pages-HASH.css',
    '/docs/assets/start-scalar-HASH.js',
    SCALAR,
  ])
})

test('a file whose address changes with its content is kept for a year, and not asked for again', async () => {
  for (const path of ASSETS) {
    const { status, headers } = await open(path)
    expect([path, status, headers.get('cache-control')]).toEqual([
      path,
      200,
      'public, max-age=31536000, immutable',
    ])
  }
})

test('a page is kept and asked about, so that a new version is seen at once', async () => {
  for (const path of PAGES) expect((await open(path)).headers.get('cache-control')).toBe('no-cache')
})

test.each([...PAGES, ...ASSETS])('%s is not sent again to whoever has it', async (path) => {
  const first = await open(path)
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^W\/"[\w-]+"$/)
  for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
    const again = await open(path, { 'if-none-match': known })
    expect([known, again.status, again.text]).toEqual([known, 304, ''])
    expect(again.headers.get('etag')).toBe(etag)
    expect(again.headers.get('cache-control')).toBe(first.headers.get('cache-control'))
  }
  const changed = await open(path, { 'if-none-match': '"other", W/"another"' })
  expect([changed.status, changed.text === first.text]).toEqual([200, true])
})

test.each([...PAGES, ...ASSETS])('%s is the same compressed and plain', async (path) => {
  const compressed = await open(path, { 'accept-encoding': 'br, gzip;q=0.8' })
  expect(compressed.headers.get('content-encoding')).toBe('gzip')
  expect(compressed.headers.get('vary')).toBe('Accept-Encoding')
  for (const encodings of ['identity', 'gzip;q=0', 'br', 'xgzip']) {
    const plain = await open(path, { 'accept-encoding': encodings })
    expect([encodings, plain.headers.get('content-encoding')]).toEqual([encodings, null])
    expect(plain.headers.get('vary')).toBe('Accept-Encoding')
    // Not by a difference of megabytes.
    expect(plain.text === compressed.text).toBe(true)
    expect(Number(plain.headers.get('content-length'))).toBe(Buffer.byteLength(plain.text))
  }
})

test('the script of Scalar is whole and travels at a third of its size', async () => {
  const { headers, text } = await open(SCALAR, { 'accept-encoding': 'gzip' })
  expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(text).toContain('createApiReference')
  expect(text).not.toContain('sourceMappingURL')
  expect(Number(headers.get('content-length'))).toBeLessThan(Buffer.byteLength(text) / 3)
})

test('Vary keeps what CORS said', async () => {
  const withOrigins = await startApp(db, { corsOrigins: ['https://shop.example'] })
  const { headers } = await withOrigins.call('GET', '/docs', { headers: { origin: 'https://shop.example' } })
  expect(headers.get('vary')).toBe('Origin, Accept-Encoding')
})

test('readers who take nothing leave room for whoever asks for data, and are sent away in time', async () => {
  const takenWithinMs = 4_000
  const busy = await startApp(db, { pageLimits: { inFlightMax: 3, takenWithinMs } })
  const readers = Array.from({ length: 3 }, () => askAndTakeNothing(busy))
  await until(async () => (await busy.call('GET', '/docs/errors')).status === 503)
  expect(await busy.call('GET', SCALAR)).toMatchObject({ status: 503, body: { code: 'overloaded' } })
  expect((await busy.get('/pets')).status).toBe(200)
  // Without a word: nothing is read any more, so only the service can have ended it.
  await until(async () => (await busy.call('GET', '/docs/errors')).status === 200)
  for (const reader of readers) reader.destroy()
})

test('a reader who goes away makes room at once', async () => {
  const busy = await startApp(db, { pageLimits: { inFlightMax: 1, takenWithinMs: 600_000 } })
  const reader = askAndTakeNothing(busy)
  await until(async () => (await busy.call('GET', '/docs')).status === 503)
  reader.destroy()
  await until(async () => (await busy.call('GET', '/docs')).status === 200)
})

/** Asks for the largest file, uncompressed: more than the buffers between us hold. */
function askAndTakeNothing({ origin }: TestClient): Socket {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname).pause()
  socket.on('error', () => {})
  socket.write(`GET ${SCALAR} HTTP/1.1\r\nHost: petstore.test\r\nAccept-Encoding: identity\r\n\r\n`)
  return socket
}

async function until(isSo: () => Promise<boolean>, withinMs = 120_000): Promise<void> {
  const giveUpAt = Date.now() + withinMs
  while (!(await isSo())) {
    if (Date.now() > giveUpAt) throw new Error('it did not become so')
    await sleep(50)
  }
}

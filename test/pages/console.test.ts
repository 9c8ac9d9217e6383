// The page of the console and its files, as the service serves them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { CONSOLE_PAGES } from '../../src/http/page-addresses.ts'
import { consoleFiles } from '../../src/pages/console.ts'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { shopIn } from '../support/settings.ts'

const db = openTestDatabase(await createTestDatabase())
const petstore = await startApp(db)
const SHOP = { currency: 'EUR', timeZone: 'Europe/Berlin' }

test.each(CONSOLE_PAGES)('%s returns the page without an API key, and it cannot be framed', async (path) => {
  const { status, headers, text } = await petstore.call('GET', path.replace(':petId', '5'), { apiKey: null })
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-cache')
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
      "img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  expect(text).toMatch(/^<!doctype html>/)
})

test.each(['/pets', '/pets/5/edit', '/console', '/console/..%2findex.html', '/index.html'])(
  '%s returns 404',
  async (path) => {
    const response = await petstore.call('GET', path, { apiKey: null })
    expect(response).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
  },
)

test('the page contains the currency of the shop, its decimal places and the time zone', async () => {
  const inYen = await startApp(db, { settings: shopIn('JPY', 'Asia/Tokyo') })
  const { text } = await inYen.call('GET', '/', { apiKey: null })
  expect(text).toContain(
    '<meta name="petstore-shop" content="JPY" data-decimals="0" data-time-zone="Asia/Tokyo">',
  )
})

test('without a build, the page says how to build the console', () => {
  const { page, assets } = consoleFiles('/nonexistent')
  expect(Buffer.from(page(SHOP).bytes).toString()).toContain('npm run build')
  expect(assets).toEqual([])
})

test('sends scripts and style sheets with Brotli to clients that accept it, otherwise with gzip', async () => {
  const { text } = await petstore.call('GET', '/', { apiKey: null })
  const paths = [...text.matchAll(/"(\/console\/[^"]+\.(?:js|css))"/g)].map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(1)
  for (const path of paths) {
    const sent = (encodings: string) =>
      petstore.call('GET', path, { apiKey: null, headers: { 'accept-encoding': encodings } })
    const [brotli, gzip] = [await sent('gzip, deflate, br'), await sent('gzip')]
    expect(brotli.headers.get('content-encoding')).toBe('br')
    expect(gzip.headers.get('content-encoding')).toBe('gzip')
    expect([brotli, gzip].map(({ headers }) => headers.get('vary'))).toEqual(Array(2).fill('Accept-Encoding'))
    expect(brotli.headers.get('etag')).toBe(gzip.headers.get('etag'))
    // A comparison of the texts would print megabytes on failure.
    expect(brotli.text === gzip.text).toBe(true)
  }
})

test('serves every file of a build with its type', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-console-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'console'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Petstore</title>')
  for (const name of ['a.js', 'a.js.br', 'b.css', 'c.svg']) writeFileSync(join(folder, 'console', name), name)
  const { page, assets } = consoleFiles(folder)
  expect(Buffer.from(page(SHOP).bytes).toString()).toContain('<title>Petstore</title>')
  expect(Object.fromEntries(assets.map(({ address, file }) => [address, file.type]))).toEqual({
    '/console/a.js': 'text/javascript; charset=utf-8',
    '/console/b.css': 'text/css; charset=utf-8',
    '/console/c.svg': 'image/svg+xml',
  })
})

// The pages outside /v1: their content, their links and their Content-Security-Policy.
import { expect, test } from 'vitest'
import { DETAIL_CODES, ERRORS } from '../../src/contract/errors.ts'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

const petstore = await startApp(openTestDatabase(await createTestDatabase()))
const PAGES = ['/docs', '/docs/client', '/docs/errors', '/docs/deprecations/get-pet']
const OWN_PAGES = PAGES.slice(1)

const open = (path: string) => petstore.call('GET', path, { apiKey: null })
/** Every URL that a page loads or links to. */
const urlsIn = (html: string) => [...html.matchAll(/\b(?:href|src)="([^"]+)"/g)].map(([, to = '']) => to)

function policyOf(headers: Headers): Record<string, string> {
  const directives = headers.get('content-security-policy')?.split('; ') ?? []
  return Object.fromEntries(directives.map((directive) => directive.split(/ (.*)/s).slice(0, 2)))
}

test.each(PAGES)('%s needs no API key and cannot be framed', async (path) => {
  const { status, headers, text } = await open(path)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
  expect(text).toMatch(/<title>[^<]*Petstore[^<]*<\/title>/)
})

test('the reference page can only use its own host, except for inline styles and data: images', async () => {
  expect(policyOf((await open('/docs')).headers)).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'connect-src': "'self'",
    'style-src': "'self' 'unsafe-inline'",
    'img-src': "'self' data:",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  })
})

test.each([...OWN_PAGES, '/openapi.json'])(
  '%s can load its stylesheet and icon, and no scripts',
  async (path) => {
    expect(policyOf((await open(path)).headers)).toEqual({
      'default-src': "'none'",
      'style-src': "'self'",
      'img-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    })
  },
)

test.each(PAGES)('%s and its assets, except Scalar, name no other host', async (path) => {
  const { text } = await open(path)
  const files = urlsIn(text).filter((to) => to.startsWith('/docs/assets/') && !to.includes('/scalar-'))
  expect(files.length).toBeGreaterThanOrEqual(2)
  const texts = await Promise.all(files.map(async (file) => (await open(file)).text))
  for (const content of [text, ...texts]) {
    // Ignore the SVG namespace, which is not loaded.
    const hosts = content
      .replaceAll('http://www.w3.org/2000/svg', '')
      .match(/(?:https?:)?\/\/[\w-]+(\.[\w-]+)+/g)
    expect(hosts).toBeNull()
  }
})

test.each(PAGES)('everything that %s links to or loads exists', async (path) => {
  const { text } = await open(path)
  const urls = urlsIn(text)
  expect(urls.length).toBeGreaterThan(3)
  for (const url of new Set(urls)) expect(await exists(path, url), url).toBe(true)
})

test('every page that openapi.json links to exists', async () => {
  const { text } = await open('/openapi.json')
  const links = new Set([...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, to = '']) => to))
  expect(links).toContain('/docs/errors')
  expect(links).toContain('/docs/deprecations/get-pet')
  for (const link of links) expect(await exists('/', link), link).toBe(true)
})

async function exists(from: string, url: string): Promise<boolean> {
  const { pathname, hash } = new URL(url, `http://petstore.test${from}`)
  const { status, text } = await open(pathname)
  return status === 200 && (hash === '' || text.includes(`id="${hash.slice(1)}"`))
}

test('the error page has every error code with its status, message and fix', async () => {
  const { text } = await open('/docs/errors')
  const sections = text.split('<section ').slice(1)
  for (const [code, { status, message, fix }] of Object.entries(ERRORS)) {
    const section = sections.find((html) => html.includes(`id="status-${status}"`)) ?? ''
    const [, entry = ''] =
      new RegExp(`<article class="code" id="${code}">(.*?)</article>`, 's').exec(section) ?? []
    const entryText = readable(entry)
    expect(entryText).toContain(code)
    expect(entryText).toContain(message)
    expect(entryText).toContain(`What to do ${fix.replaceAll('`', '')}`)
  }
})

test('the error page has every code of details', async () => {
  const { text } = await open('/docs/errors')
  const [, section = ''] = text.split('<h2 id="details">')
  for (const [code, meaning] of Object.entries(DETAIL_CODES)) {
    expect(readable(section)).toContain(`${code}: ${meaning.replaceAll('`', '')}`)
  }
})

/** The visible text of HTML. */
function readable(html: string): string {
  const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' }
  return html.replaceAll(/<[^>]+>/g, '').replaceAll(/&\w+;/g, (entity) => entities[entity] ?? entity)
}

test('the deprecation page of getPet has the removal date and the replacement', async () => {
  const pageText = readable((await open('/docs/deprecations/get-pet')).text)
  expect(pageText).toContain('works until 5 December 2030, 00:00 UTC')
  expect(pageText).toContain('GET /v1/pets?id=42&id=43')
})

test.each([...PAGES, '/docs/assets/SCALAR'])('%s accepts only GET and HEAD', async (named) => {
  const scalar = urlsIn((await open('/docs')).text).find((to) => to.includes('/scalar-')) ?? ''
  const path = named.replace('/docs/assets/SCALAR', scalar)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const response = await petstore.call(method, path, { apiKey: null })
    expect(response).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
    expect(response.headers.get('allow')).toBe('GET, HEAD')
  }
  const [get, head] = [await open(path), await petstore.call('HEAD', path, { apiKey: null })]
  expect(head).toMatchObject({ status: 200, text: '' })
  for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'content-security-policy']) {
    expect(head.headers.get(name), name).toBe(get.headers.get(name))
  }
})

test.each([
  '/docs/',
  '/docs/assets',
  '/docs/assets/nothing.js',
  '/docs/assets/..%2f..%2fpackage.json',
  '/docs/errors/',
])('%s returns 404', async (path) => {
  expect(await open(path)).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
})

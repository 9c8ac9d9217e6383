// Every page of the console in Chromium: accessible, within its size, without other hosts, and visible soon. lab/bench/console.ts
// measures it at 5 million pets.
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { build, type Rolldown } from 'vite'
import { afterAll, expect, test } from 'vitest'
import { addDemoPets } from '../support/demo-pets.ts'
import { accessibilityFaults, visit } from '../support/browser.ts'
import { enterKey, startConsole } from '../support/console.ts'
import { CHECKS_FIGURES } from '../support/figures.ts'
import { IS_FULL } from '../support/volume.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const FIRST_LOAD_BYTES_MAX = 250_000
const FIRST_LIST_MS_MAX = 1_000
/** About 20 characters. */
const NAME_WIDTH_MIN = 150

const shop = await startConsole(addDemoPets)
const emptyShop = await startConsole(async () => {})
const { service, browser, issueKey, signIn } = shop
afterAll(() => Promise.all([shop, emptyShop].map((started) => started.service.stop())))

const PAGES = [
  '/',
  '/pets/500',
  '/holds',
  '/sales',
  '/overview',
  '/api-keys',
  '/import',
  '/webhooks',
  '/?add=true',
  '/pets/123456789',
]
const LOOKS = [
  { width: 1440, scheme: 'light' as const },
  { width: 390, scheme: 'dark' as const },
  ...(IS_FULL
    ? [
        { width: 1440, scheme: 'dark' as const },
        { width: 390, scheme: 'light' as const },
      ]
    : []),
]

async function checkPage(page: Page, width: number): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  expect(await accessibilityFaults(page)).toEqual([])
}

test.each(LOOKS)(
  'all pages are accessible, without errors, external requests or horizontal scroll ($width px, $scheme)',
  async (look) => {
    for (const { service: served, issueKey: issue, browser: own } of [shop, emptyShop]) {
      const { page, requests, faults } = await visit(own, served.origin, look)
      await checkPage(page, look.width)
      await enterKey(page, await issue('Ada'))
      for (const path of PAGES) {
        await page.goto(served.origin + path)
        await page.getByRole('heading', { level: 1 }).or(page.getByRole('dialog')).first().waitFor()
        await expect.poll(() => page.locator('.mantine-Skeleton-root').count()).toBe(0)
        await checkPage(page, look.width)
      }
      expect(faults).toEqual([])
      expect(requests.filter((address) => new URL(address).origin !== served.origin)).toEqual([])
      await page.context().close()
    }
  },
)

test('all pages are accessible while they load', async () => {
  const { page } = await signIn('/')
  // The data never arrives.
  await page.route(/\/v1\/(?!api-keys\/self)/, () => {})
  for (const path of [
    '/',
    '/pets/500',
    '/holds',
    '/sales',
    '/overview',
    '/api-keys',
    '/webhooks',
    '/webhooks/1',
  ]) {
    await page.goto(service.origin + path)
    await page
      .getByRole('status', { name: /^Loading/ })
      .first()
      .waitFor()
    expect(await accessibilityFaults(page), path).toEqual([])
  }
  await page.context().close()
})

test('the list is accessible while it loads more pets', async () => {
  const { page } = await signIn('/')
  // The next page never arrives.
  await page.route(/\/v1\/pets\?.*cursor=/, () => {})
  const loading = page.getByRole('status', { name: 'Loading more pets' })
  const again = page.getByRole('button', { name: 'Try again' })
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 5_000)
      // A starved host can look at the page only after the request has timed out.
      if (await again.isVisible()) await again.click()
      return loading.count()
    })
    .toBe(1)
  expect(await accessibilityFaults(page)).toEqual([])
  await page.context().close()
})

test('the first load is small, and the first list is visible soon', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  const files: Record<string, number> = {}
  page.on('requestfinished', async (request) => {
    const { pathname } = new URL(request.url())
    if (!pathname.startsWith('/v1/')) files[pathname] ??= (await request.sizes()).responseBodySize
  })
  await page.goto(service.origin)
  await enterKey(page, await issueKey('Ada'))
  await page.getByRole('listitem').first().waitFor()
  const bytes = Object.values(files).reduce((sum, size) => sum + size, 0)
  await page.reload()
  await page.getByRole('listitem').first().waitFor()
  const visibleAt = Number(await page.evaluate('performance.now()'))
  console.log({ files, firstLoadKilobytes: Math.round(bytes / 1_000), firstListMs: Math.round(visibleAt) })
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX)
  if (CHECKS_FIGURES) expect(visibleAt).toBeLessThan(FIRST_LIST_MS_MAX)
  await context.close()
})

test('the names of pets are readable on screens of any width', async () => {
  const { page } = await signIn('/')
  for (const width of [390, 640, 768, 992, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    const name = await page.locator('.list-row .name').first().boundingBox()
    expect(name?.width, `${width}`).toBeGreaterThan(NAME_WIDTH_MIN)
  }
  await page.context().close()
})

test('works on plain http under another host name, where browsers have fewer functions', async () => {
  const { port } = new URL(service.origin)
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.route('http://shop.test/**', async (route) => {
    const request = route.request()
    if (new URL(request.url()).pathname === '/v1/events/stream') return route.abort()
    const response = await route.fetch({ url: request.url().replace('shop.test', `127.0.0.1:${port}`) })
    return route.fulfill({ response })
  })
  await page.goto('http://shop.test/')
  expect(await page.evaluate('isSecureContext')).toBe(false)
  await enterKey(page, await issueKey('Ada'))
  await page.getByRole('listitem').first().waitFor()
  // Requests of the page may still be in flight.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await context.close()
})

test('the build contains the style sheet of every component in it', async () => {
  const built = (await build({
    configFile: resolve(ROOT, 'console/vite.config.ts'),
    logLevel: 'error',
    build: { write: false },
  })) as Rolldown.RolldownOutput
  const modules = built.output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  const inBuild = modules.flatMap((id) => /@mantine\/core\/.*\/(\w+)\.module\.mjs$/.exec(id)?.[1] ?? [])
  const sheets = new Set(readdirSync(resolve(ROOT, 'node_modules/@mantine/core/styles')))
  const imported = new Set(modules.flatMap((id) => /@mantine\/core\/styles\/(\w+)\.css/.exec(id)?.[1] ?? []))
  expect(inBuild.length).toBeGreaterThan(10)
  expect(inBuild.filter((name) => sheets.has(`${name}.css`) && !imported.has(name))).toEqual([])
})

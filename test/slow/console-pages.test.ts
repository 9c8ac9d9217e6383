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
import { sql } from '../support/database.ts'
import { CHECKS_FIGURES } from '../support/figures.ts'
import { IS_FULL } from '../support/volume.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Without the font, which does not delay the text. */
const FIRST_LOAD_BYTES_MAX = 250_000
const FONT_BYTES_MAX = 50_000
const FIRST_LIST_MS_MAX = 1_000
/** Cumulative layout shift. */
const SHIFT_MAX = 0.02
const SLOW_PHONE_BITS_PER_SECOND = 1_600_000
/** About 15 characters. */
const NAME_WIDTH_MIN = 110
/** On a phone. */
const FIRST_ROW_Y_MAX = 190
/** Whole rows on a screen of 1440 × 900. */
const ROWS_MIN = 12

const shop = await startConsole(addDemoPets)
// The page "Health" then has something that needs a person.
await sql(
  shop.databaseUrl,
  `insert into health_reports (name, used_bytes, total_bytes) values ('disk', 364, 400)`,
)
const emptyShop = await startConsole(async () => {})
const { service, browser, issueKey, signIn } = shop
afterAll(() => Promise.all([shop, emptyShop].map((started) => started.service.stop())))

const PAGES = [
  '/',
  '/pets/500',
  '/holds',
  '/till',
  '/overview',
  '/health',
  '/api-keys',
  '/import',
  '/webhooks',
  '/settings',
  '/more',
  '/cards?ids=1,2,3',
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
    '/till',
    '/overview',
    '/health',
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
  const sum = (isFont: boolean) =>
    Object.entries(files)
      .filter(([path]) => path.endsWith('.woff2') === isFont)
      .reduce((total, [, size]) => total + size, 0)
  const bytes = sum(false)
  await page.reload()
  await page.getByRole('listitem').first().waitFor()
  const visibleAt = Number(await page.evaluate('performance.now()'))
  console.log({ files, firstLoadKilobytes: Math.round(bytes / 1_000), firstListMs: Math.round(visibleAt) })
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX)
  expect(sum(true)).toBeLessThan(FONT_BYTES_MAX)
  if (CHECKS_FIGURES) expect(visibleAt).toBeLessThan(FIRST_LIST_MS_MAX)
  await context.close()
})

test('almost nothing moves while the first list loads on a slow phone', async () => {
  const { page } = await signIn('/', { width: 390 })
  await page.addInitScript(`
    window.shifts = []
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifts.push(value)
    }).observe({ type: 'layout-shift', buffered: true })`)
  const network = await page.context().newCDPSession(page)
  await network.send('Network.setCacheDisabled', { cacheDisabled: true })
  const perSecond = SLOW_PHONE_BITS_PER_SECOND / 8
  const slow = { offline: false, latency: 150, downloadThroughput: perSecond, uploadThroughput: perSecond }
  await network.send('Network.emulateNetworkConditions', slow)
  await page.reload()
  await page.locator('.list-row .name').first().waitFor()
  await page.evaluate('document.fonts.ready')
  const shift = await page.evaluate<number>('shifts.reduce((sum, value) => sum + value, 0)')
  console.log({ shift })
  expect(shift).toBeLessThanOrEqual(SHIFT_MAX)
  await page.context().close()
})

test('the list fits: names are readable, the first row is high, and no width scrolls sideways', async () => {
  const { page } = await signIn('/')
  const rows = page.locator('.list-row')
  await rows.first().waitFor()
  for (const width of [320, 390, 640, 768, 820, 821, 1024, 1240, 1241, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    const name = await page.locator('.list-row .name').first().boundingBox()
    expect(name?.width, `${width}`).toBeGreaterThan(width < 360 ? 100 : NAME_WIDTH_MIN)
    expect(await page.evaluate('document.documentElement.scrollWidth'), `${width}`).toBeLessThanOrEqual(width)
  }
  await page.setViewportSize({ width: 390, height: 844 })
  expect((await rows.first().boundingBox())?.y).toBeLessThanOrEqual(FIRST_ROW_Y_MAX)
  await page.setViewportSize({ width: 1440, height: 900 })
  const boxes = await Promise.all((await rows.all()).map((row) => row.boundingBox()))
  expect(boxes.filter((box) => box !== null && box.y + box.height <= 900).length).toBeGreaterThanOrEqual(
    ROWS_MIN,
  )
  await page.context().close()
})

test('the foot of a dialog is in the window of the smallest phone', async () => {
  const { page } = await signIn('/?add=true')
  await page.setViewportSize({ width: 320, height: 568 })
  const isInWindow = async (name: string) => {
    const button = page.getByRole('dialog').getByRole('button', { name, exact: true })
    await button.waitFor()
    const box = await button.boundingBox()
    return box !== null && box.y + box.height <= 568
  }
  expect(await isInWindow('Add')).toBe(true)
  await page.goto(`${service.origin}/api-keys`)
  await page.getByRole('button', { name: 'Create a key' }).click()
  expect(await isInWindow('Create key')).toBe(true)
  await page.context().close()
})

test('eight cage cards fit on one page of A4', async () => {
  const ids = Array.from({ length: 9 }, (_, index) => index + 1)
  const pagesOf = async (count: number) => {
    const { page } = await signIn(`/cards?ids=${ids.slice(0, count).join()}`)
    await expect.poll(() => page.getByRole('listitem').count()).toBe(count)
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
    await page.context().close()
    return pdf.match(/\/Type\s*\/Page\b/g)?.length
  }
  expect([await pagesOf(8), await pagesOf(9)]).toEqual([1, 2])
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

// The documentation pages in Chromium: they load nothing from other hosts, violate no policy and are accessible, and
// "Test Request" sends a real request.
import type { Browser } from 'playwright-core'
import { expect, test as serialTest } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { accessibilityFaults, type Look, openBrowser, type Visit, visit } from '../support/browser.ts'
import type { TestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { IS_FULL } from '../support/volume.ts'

const db = openTestDatabase(await createTestDatabase())
const petstore = await startApp(db)
const { text: apiKey } = await issueApiKey(db, { name: 'reader', scopes: SCOPES })
const browser: Browser = await openBrowser()

await petstore.post('/pets', { name: 'Biscuit', categoryId: 1 })

// Each test has a browser context of its own. One page uses one core.
const test = serialTest.concurrent

const PAGES = ['/docs', '/docs/client', '/docs/errors', '/docs/deprecations/get-pet']
type ReferenceLook = Required<Pick<Look, 'width' | 'scheme'>>
const LOOKS: ReferenceLook[] = [1440, 390].flatMap((width) => [
  { width, scheme: 'light' as const },
  { width, scheme: 'dark' as const },
])
/** The largest page, of a dependency, takes 30 s. Only the nightly run opens it in every width and scheme. */
const isOpened = (path: string, { width, scheme }: ReferenceLook) =>
  IS_FULL || path !== '/docs' || (width === 1440 && scheme === 'light')
/** The accessibility check of the largest page takes 30 s, so only the nightly run makes it. */
const isAccessibilityChecked = (path: string) => IS_FULL || path !== '/docs'
const CASES = PAGES.flatMap((path) =>
  LOOKS.filter((look) => isOpened(path, look)).map((look) => ({ path, ...look })),
)

async function open(path: string, look: Look = {}, { origin }: TestClient = petstore): Promise<Visit> {
  const visited = await visit(browser, origin + path, look)
  await visited.page.getByRole('heading', { level: 1 }).waitFor()
  if (path === '/docs') await visited.page.getByRole('heading', { name: 'List pets' }).waitFor()
  return visited
}

test.each(CASES)(
  '$path ($width px wide, $scheme) is accessible, without console errors, external requests or horizontal scroll',
  async ({ path, width, scheme }) => {
    const { page, requests, faults } = await open(path, { width, scheme })
    await scrollThrough(page)
    expect(faults).toEqual([])
    expect(requests.filter((address) => new URL(address).origin !== petstore.origin)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    if (isAccessibilityChecked(path)) expect(await accessibilityFaults(page)).toEqual([])
    await page.context().close()
  },
)

async function scrollThrough(page: Visit['page']): Promise<void> {
  await page.evaluate(`(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
      scrollTo(0, y)
      await new Promise((done) => setTimeout(done, 20))
    }
    scrollTo(0, 0)
  })()`)
}

/** Acts like a user: enters the key, clicks "Test Request" of the first operation, then "Send". */
async function tryListPets(page: Visit['page']): Promise<void> {
  await page.getByPlaceholder('Token').first().fill(apiKey)
  await page
    .getByRole('button', { name: /Test Request/ })
    .first()
    .click()
  await page
    .getByRole('button', { name: /^Send get request/i })
    .first()
    .click()
}

/** Sends a test request. It must go to the host of the page, and the page must show the response. */
async function expectTestRequest(service: TestClient): Promise<Visit['page']> {
  const name = `Tried out at ${service.origin}`
  await service.post('/pets', { name, categoryId: 1 })
  const { page, requests, faults } = await open('/docs', {}, service)
  const accepted = page.waitForResponse((response) => response.url().includes('/v1/'))
  await tryListPets(page)
  const response = await accepted
  expect(new URL(response.url())).toMatchObject({ origin: service.origin, pathname: '/v1/pets' })
  expect(await response.request().headerValue('authorization')).toBe(`Bearer ${apiKey}`)
  expect(response.status()).toBe(200)
  await page.getByText('200 OK').first().waitFor()
  await page.getByText(name).first().waitFor()
  expect(faults).toEqual([])
  expect(requests.filter((address) => new URL(address).origin !== service.origin)).toEqual([])
  return page
}

test('a test request goes to this host, also with the PUBLIC_URL of another host', async () => {
  const service = await startApp(db, { publicUrl: 'https://api.petstore.example' })
  const page = await expectTestRequest(service)
  await page.context().close()
})

// One test, because each load of the page takes several seconds of CPU time.
test('after a test request, a reload clears the key, and the keyboard reaches the error codes', async () => {
  const page = await expectTestRequest(petstore)
  const kept = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  )
  expect(kept).not.toContain(apiKey)
  await page.reload()
  await page.getByPlaceholder('Token').first().waitFor()
  expect(await page.getByPlaceholder('Token').first().inputValue()).toBe('')
  await page
    .getByRole('link', { name: /all codes/ })
    .first()
    .focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${petstore.origin}/docs/errors`)
  await page.context().close()
})

test('the page of an error code can be reached with the keyboard alone', async () => {
  const { page } = await open('/docs/errors')
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
  await page.keyboard.press('Enter')
  await page.waitForURL(/#content$/)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(/#missing_body$/)
  expect(await page.locator(':target h3').textContent()).toBe('missing_body')
  await page.context().close()
})

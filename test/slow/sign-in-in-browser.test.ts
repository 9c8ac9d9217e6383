// Signing in with Chromium, which applies the rules for cookies, frames and origins. The identity provider and a hostile page
// are other sites: they have other IP addresses of this host.
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { openBrowser } from '../support/browser.ts'
import { openSignInFixture } from '../support/sign-in.ts'

const PROVIDER_HOST = '127.0.0.2'
const HOSTILE_HOST = '127.0.0.3'

const fixture = await openSignInFixture({ provider: { host: PROVIDER_HOST }, app: { corsOrigins: ['*'] } })
const browser = await openBrowser(['127.0.0.1', PROVIDER_HOST, HOSTILE_HOST])

const hostile = await openLocalServer(
  (_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(
      `<!doctype html><title>Hostile</title><iframe src="${fixture.origin}/auth/provider"></iframe>`,
    )
  },
  { host: HOSTILE_HOST },
)
afterAll(hostile.close)
const hostileAddress = `${hostile.origin}/`

/** Opens a page, with an empty page instead of the sign-in page of the console. */
async function openPage(): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext()
  await context.route(`${fixture.origin}/sign-in*`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Sign in</title>' }),
  )
  // At the end of a redirect, Playwright loads the real page. Without its scripts, it does not fetch the key.
  await context.route(`${fixture.origin}/console/**`, (route) => route.abort())
  return { page: await context.newPage(), context }
}

async function choosePerson(page: Page, name: string): Promise<void> {
  await page.goto(`${fixture.origin}/auth/start?returnTo=/pets/5`)
  expect(new URL(page.url()).hostname).toBe(PROVIDER_HOST)
  await page.getByRole('button', { name }).click()
  await page.waitForURL(`${fixture.origin}/sign-in*`)
  // Playwright does not replace the page at the end of a redirect.
  await page.reload()
}

const FETCH_KEY = `fetch('${fixture.origin}/auth/key', {
  method: 'POST', credentials: 'include', headers: { 'X-Petstore-Sign-In': '1' }
}).then(async (response) => ({ status: response.status, body: await response.json() }), (error) => String(error))`

test('a person signs in with one click, and the page fetches the key once; scripts cannot read the cookie', async () => {
  const { page, context } = await openPage()
  await choosePerson(page, 'Sam Staff')
  expect(page.url()).toBe(`${fixture.origin}/sign-in#done`)
  expect(await page.evaluate('document.cookie')).toBe('')
  expect(await page.evaluate(FETCH_KEY)).toMatchObject({
    status: 201,
    body: { name: 'Sam Staff', role: 'staff', returnTo: '/pets/5' },
  })
  expect((await context.cookies(`${fixture.origin}/auth/key`)).map(({ name }) => name)).not.toContain(
    'petstore_sign_in',
  )
  expect(await page.evaluate(FETCH_KEY)).toMatchObject({ status: 410 })
})

test('a person who cancels returns with an error', async () => {
  const { page } = await openPage()
  await choosePerson(page, 'Cancel')
  expect(page.url()).toBe(`${fixture.origin}/sign-in?error=access_denied`)
})

test('a page of another site can neither fetch the key nor show the service in a frame', async () => {
  const { page, context } = await openPage()
  await choosePerson(page, 'Vera Viewer')
  const other = await context.newPage()
  await other.goto(hostileAddress)
  expect(await other.evaluate(FETCH_KEY)).toBe('TypeError: Failed to fetch')
  // Without the header, the browser sends the request without a preflight, but also without the cookie.
  const simple = `fetch('${fixture.origin}/auth/key', { method: 'POST', credentials: 'include', mode: 'no-cors' }).then(({ type }) => type)`
  expect(await other.evaluate(simple)).toBe('opaque')
  const frame = other.frames().find((one) => one !== other.mainFrame())
  expect(await frame?.content()).not.toContain('provider')
  expect(await page.evaluate(FETCH_KEY)).toMatchObject({ status: 201, body: { name: 'Vera Viewer' } })
})

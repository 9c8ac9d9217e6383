// People sign in to the console with an identity provider, in Chromium.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { SIGN_IN_ERRORS as TEXTS } from '../../console/src/sign-in/sign-in-errors.ts'
import { SIGN_IN_ERRORS } from '../../src/access/sign-in/rules.ts'
import { openBrowser } from '../support/browser.ts'
import { accountOf, signOut } from '../support/console.ts'
import { openSignInFixture } from '../support/sign-in.ts'

const PROVIDER_HOST = '127.0.0.2'

const fixture = await openSignInFixture({ provider: { host: PROVIDER_HOST, keepsSessions: true } })
const browser = await openBrowser(['127.0.0.1', PROVIDER_HOST])

async function open(path: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(fixture.origin + path)
  return page
}

async function signIn(page: Page, person: string): Promise<void> {
  await page.getByRole('button', { name: 'Continue with Demo' }).click()
  await page.getByRole('button', { name: person }).click()
  await page.waitForURL(`${fixture.origin}/**`)
}

test('a person signs in with two clicks and returns to the page that they wanted', async () => {
  const page = await open('/overview')
  await signIn(page, 'Ada Admin')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await accountOf(page, 'Ada Admin').waitFor()
  expect(page.url()).toBe(`${fixture.origin}/overview`)
  expect(await page.evaluate('document.cookie')).toBe('')
  await page.reload()
  await accountOf(page, 'Ada Admin').waitFor()
  await page.context().close()
})

test('a viewer sees pets but no buttons that change something', async () => {
  const page = await open('/')
  await signIn(page, 'Vera Viewer')
  await page.getByText('No pets yet').waitFor()
  expect(await page.getByRole('button', { name: 'Add a pet' }).count()).toBe(0)
  await page.context().close()
})

test('after a sign-in, the list keeps its place while a pet is open, and leads from pet to pet', async () => {
  await fixture.sql(
    `insert into pets (name, category_id) select 'Pet ' || n, 1 from generate_series(1, 40) as n`,
  )
  const page = await open('/')
  await signIn(page, 'Vera Viewer')
  const link = page.getByRole('link', { name: 'Pet 5', exact: true })
  await page.getByRole('link', { name: 'Pet 40', exact: true }).waitFor()
  // The list renders only the rows near the screen.
  expect(await link.count()).toBe(0)
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
  await link.click()
  await page.getByRole('heading', { name: 'Pet 5', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Next pet' }).click()
  await page.getByRole('heading', { name: 'Pet 4', exact: true }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Pets', exact: true }).click()
  await link.waitFor()
  expect(await page.evaluate('scrollY')).toBeGreaterThan(0)
  await page.context().close()
})

test('signing out revokes the personal key', async () => {
  const page = await open('/')
  await signIn(page, 'Sam Staff')
  await accountOf(page, 'Sam Staff').waitFor()
  await signOut(page)
  await page.getByText('You have signed out.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  const valid = `select from api_keys join actors on actors.id = actor_id where name = 'Sam Staff' and revoked_at is null`
  await expect.poll(() => fixture.sql(valid)).toEqual([])
  await page.context().close()
})

test('an administrator sees who is signed in, and ends the session of another person', async () => {
  const other = await open('/')
  await signIn(other, 'Vera Viewer')
  await accountOf(other, 'Vera Viewer').waitFor()
  const page = await open('/api-keys')
  await signIn(page, 'Ada Admin')
  const rows = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')
  await rows.filter({ hasText: 'This browser' }).filter({ hasText: 'Administrator' }).waitFor()
  // Other tests do not sign the viewer out.
  const sessions = rows.filter({ hasText: 'Vera Viewer' }).filter({ hasText: 'Viewer' })
  const count = await sessions.count()
  await sessions.first().getByRole('button', { name: 'End session of Vera Viewer' }).click()
  await page.getByRole('button', { name: 'End session', exact: true }).click()
  await page.getByText('Ended the session of Vera Viewer.').waitFor()
  await expect.poll(() => sessions.count()).toBe(count - 1)
  await other.getByText('an administrator has ended it').waitFor()
  await page.context().close()
  await other.context().close()
})

test('after a sign-out, the next person must sign in at the provider', async () => {
  const page = await open('/')
  await signIn(page, 'Sam Staff')
  await accountOf(page, 'Sam Staff').waitFor()
  await signOut(page)
  await page.getByRole('button', { name: 'Continue with Demo' }).click()
  await page
    .getByRole('button', { name: 'Vera Viewer' })
    .or(page.getByRole('button', { name: /^Account of/ }))
    .first()
    .waitFor()
  expect(new URL(page.url()).hostname).toBe(PROVIDER_HOST)
  await page.getByRole('button', { name: 'Vera Viewer' }).click()
  await accountOf(page, 'Vera Viewer').waitFor()
  await page.context().close()
})

test('a person who cancels, and one who reloads the page with the key, read what to do', async () => {
  const page = await open('/')
  await signIn(page, 'Cancel')
  await page.getByText('You cancelled the sign-in').waitFor()
  await page.goto(`${fixture.origin}/sign-in#done`)
  await page.reload()
  await page.getByText('The sign-in took too long, was already used').waitFor()
  await page.context().close()
})

test('while the provider is down, the page says so and offers the API key', async () => {
  await fixture.stopProvider()
  const down = await openSignInFixture({ isProviderRunning: false })
  const page = await (await browser.newContext()).newPage()
  await page.goto(down.origin)
  await page.getByRole('button', { name: 'Continue with Demo' }).click()
  await page.getByText('The sign-in service of your organisation cannot be reached').waitFor()
  await page.getByRole('button', { name: 'Use an API key instead' }).click()
  await page.getByLabel('API key').waitFor()
  await page.context().close()
})

test('the page has a text for every error of a sign-in', () => {
  expect(Object.keys(TEXTS).toSorted()).toEqual(Object.keys(SIGN_IN_ERRORS).toSorted())
})

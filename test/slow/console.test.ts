// The work of shop staff in the console, in Chromium: sign in, add, find and sell pets, alone and with others.
import type { Page } from 'playwright-core'
import { addDays } from '../../console/src/layout/dates.ts'
import { accessibilityFaults } from '../support/browser.ts'
import { expect, test } from 'vitest'
import { revokeApiKey } from '../../src/access/api-keys/api-keys.ts'
import { addDemoPets } from '../support/demo-pets.ts'
import { issueApiKey } from '../support/app.ts'
import {
  addPet,
  enterKey,
  hold,
  KEEP_MESSAGES,
  rowOf,
  sellHeld,
  signOut,
  startConsole,
  chooseMore,
} from '../support/console.ts'
import { CHECKS_FIGURES } from '../support/figures.ts'

const LIVE_MS_MAX = 1_000
const { db, service, browser, signIn, issueKey } = await startConsole(addDemoPets)

test('rejects a wrong key and keeps the person on the sign-in page', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${service.origin}/holds`)
  for (const key of ['nonsense', `petstore_live_${'a'.repeat(49)}`, 'ü']) {
    await page.getByLabel('API key').fill(key)
    await page.keyboard.press('Enter')
    await page.getByText(/This key is not valid|A key contains only/).waitFor()
  }
  // The page that the person wanted to see opens after the sign-in.
  await enterKey(page, await issueKey('Ada'))
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Holds')
  await context.close()
})

test('keeps the session in a second tab and after a reload, and ends it in both', async () => {
  const { page } = await signIn('/')
  const second = await page.context().newPage()
  await second.goto(`${service.origin}/holds`)
  await second.getByRole('heading', { name: 'Holds' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Pets' }).waitFor()
  expect(page.url()).not.toContain('petstore_live')
  await signOut(page)
  await page.getByText('You have signed out.').waitFor()
  await second.getByText('You have signed out.').waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.context().close()
})

test('adds a pet, shows faults at their fields, edits it, and undoes both', async () => {
  const { page, faults } = await signIn('/', { initScript: KEEP_MESSAGES })
  await page.getByRole('button', { name: 'Add a pet' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a pet' })
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('Enter a name.').waitFor()
  await dialog.getByText('Choose a category.').waitFor()
  await page.keyboard.press('Escape')
  await addPet(page, 'Pemberley')

  await rowOf(page, 'Pemberley').getByRole('link').click()
  await page.getByRole('heading', { name: 'Pemberley' }).waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Pemberley II')
  await page.getByRole('textbox', { name: 'Reason' }).fill('misspelt')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Pemberley II' }).waitFor()
  await page.getByText(/misspelt/).waitFor()
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await page.getByRole('heading', { name: 'Pemberley', exact: true }).waitFor()

  await chooseMore(page, 'Pemberley', 'Delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'Pets' }).waitFor()
  await expect.poll(() => rowOf(page, 'Pemberley').count()).toBe(0)
  expect(faults).toEqual([])
  await page.context().close()
})

test('shows the fault of the service at its field', async () => {
  const { page } = await signIn('/')
  await page.route('**/v1/pets', (route) =>
    route.request().method() === 'POST'
      ? // Blank for the service, but not for the page.
        route.continue({ postData: JSON.stringify({ name: '\u0000', categoryId: 1 }) })
      : route.continue(),
  )
  await page.getByRole('button', { name: 'Add a pet' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a pet' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Nul')
  await dialog.getByRole('combobox', { name: 'Category' }).fill('Dogs')
  await page.getByRole('option', { name: 'Dogs' }).click()
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  const name = dialog.getByRole('textbox', { name: 'Name' })
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
  await page.context().close()
})

test('filters by status and category, and finds pets by name within a status and by number', async () => {
  const { page } = await signIn('/')
  const statuses = async () => [
    ...new Set(
      await page
        .locator('.list-row')
        .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-status'))),
    ),
  ]
  await page.getByRole('button', { name: /^Sold/ }).click()
  await expect.poll(statuses).toEqual(['sold'])
  await page.getByRole('button', { name: 'Category' }).click()
  await page.getByRole('combobox', { name: 'Category' }).click()
  await page.getByRole('option', { name: 'Cats' }).click()
  await expect.poll(() => page.url()).toMatch(/status=sold.*category=2|category=2.*status=sold/)
  await page.goto(`${service.origin}/?status=available&q=luna`)
  await rowOf(page, 'Luna').first().waitFor()
  await expect.poll(statuses).toEqual(['available'])
  const names = await page.locator('.list-row .name a').allTextContents()
  expect(names.length).toBeGreaterThan(0)
  expect(names.every((name) => name.startsWith('Luna'))).toBe(true)
  await page.goto(`${service.origin}/?category=1&q=WHIP`)
  await rowOf(page, 'Whippet').first().waitFor()
  const whippets = await page.locator('.list-row .name a').allTextContents()
  expect(whippets.filter((name) => !name.includes('Whippet'))).toEqual([])
  await page.goto(service.origin)
  await page.getByRole('searchbox').fill('500')
  await rowOf(page, 'No. 500').waitFor()
  await page.getByRole('searchbox').fill('no such pet')
  await page.getByText('No pet matches').waitFor()
  await page.context().close()
})

test('a hold appears in another browser with its event, and so does the sale', async () => {
  const ada = await signIn('/', { name: 'Ada' })
  const bo = await signIn('/', { name: 'Bo' })
  await addPet(ada.page, 'Quincy')
  await rowOf(bo.page, 'Quincy').waitFor()
  // From now on, a change can only come from the stream.
  await bo.page.route('**/v1/pets?*', (route) => route.abort())

  await hold(ada.page, 'Quincy', 'Ms Okafor')
  const heldAt = performance.now()
  await rowOf(bo.page, 'Quincy')
    .getByText(/^until /)
    .waitFor()
  if (CHECKS_FIGURES) expect(performance.now() - heldAt).toBeLessThan(LIVE_MS_MAX)

  await sellHeld(ada.page, 'Quincy')
  const soldAt = performance.now()
  await rowOf(bo.page, 'Quincy').getByText('Sold', { exact: true }).waitFor()
  if (CHECKS_FIGURES) expect(performance.now() - soldAt).toBeLessThan(LIVE_MS_MAX)

  await bo.page.unroute('**/v1/pets?*')
  await rowOf(bo.page, 'Quincy').getByRole('link').click()
  await bo.page.getByRole('heading', { name: 'Quincy' }).waitFor()
  const history = bo.page.getByRole('list', { name: 'History' }).or(bo.page.getByRole('main'))
  await expect.poll(() => history.first().textContent()).toMatch(/Sold without a price\s*Ada/)
  await Promise.all([ada, bo].map(({ page }) => page.context().close()))
})

test('holds a pet until a day and time that the person chooses, at most for a week', async () => {
  const { page } = await signIn('/')
  await addPet(page, 'Longbourn')
  await rowOf(page, 'Longbourn').getByRole('button', { name: 'Hold Longbourn' }).click()
  const dialog = page.getByRole('dialog', { name: 'Hold Longbourn' })
  await dialog.getByText('Other', { exact: true }).click()
  // The time is that of a clock in the shop.
  const clock = new Intl.DateTimeFormat('sv', {
    timeZone: 'Europe/Berlin',
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  const inShop = (time: number) => clock.format(time)
  const inDays = (days: number) => addDays(inShop(Date.now()).slice(0, 10), days)
  const until = (days: number) => dialog.getByLabel('Until', { exact: true }).fill(`${inDays(days)}T12:00`)
  await until(9)
  await dialog.getByText('Choose a time in the next 7 days.').waitFor()
  await until(3)
  const held = page.waitForResponse((response) => response.url().endsWith('/v1/store/orders'))
  await dialog.getByRole('button', { name: 'Hold', exact: true }).click()
  const { expiresAt } = (await (await held).json()) as { expiresAt: string }
  // The service holds a pet for whole minutes.
  expect(inShop(Date.parse(expiresAt))).toMatch(new RegExp(`^${inDays(3)} 12:0[01]:`))
  await page.context().close()
})

test('the way back from a pet leads to the holds if it was opened there', async () => {
  const { page } = await signIn('/')
  await addPet(page, 'Returning')
  await hold(page, 'Returning', 'Mr Darcy')
  await page.getByRole('link', { name: /^Holds/ }).click()
  await page.getByRole('link', { name: 'Returning' }).click()
  await page.getByRole('heading', { name: 'Returning', level: 1 }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Holds', exact: true }).click()
  await page.getByRole('heading', { name: 'Holds', level: 1 }).waitFor()
  await page.context().close()
})

test('a conflict says who has the pet', async () => {
  const ada = await signIn('/', { name: 'Ada' })
  const bo = await signIn('/', { name: 'Bo' })
  await addPet(ada.page, 'Rosalind')
  // Bo does not see changes while the dialog is open.
  await bo.page.route('**/v1/events/**', (route) => route.abort())
  await bo.page.reload()
  await rowOf(bo.page, 'Rosalind').getByRole('button', { name: 'Hold Rosalind' }).click()
  // Without a stream, the page reads the list again every few seconds. The new list would disable the button.
  const clicked = Promise.withResolvers<void>()
  await bo.page.route('**/v1/pets?**', async (route) => {
    await clicked.promise
    await route.continue()
  })
  await hold(ada.page, 'Rosalind', 'Mr Abe')
  const dialog = bo.page.getByRole('dialog', { name: 'Hold Rosalind' })
  await dialog.getByRole('button', { name: 'Hold', exact: true }).click()
  clicked.resolve()
  await dialog.getByText(/Ada/).waitFor()
  await Promise.all([ada, bo].map(({ page }) => page.context().close()))
})

test('says that a hold failed, even if its dialog was closed before', async () => {
  const { page } = await signIn('/')
  await addPet(page, 'Winifred')
  const closed = Promise.withResolvers<void>()
  await page.route('**/v1/store/orders', async (route) => {
    await closed.promise
    const body = JSON.stringify({ code: 'invalid_body', message: 'The note is too long.', status: 400 })
    await route.fulfill({ status: 400, contentType: 'application/json', body })
  })
  await rowOf(page, 'Winifred').getByRole('button', { name: 'Hold Winifred' }).click()
  const dialog = page.getByRole('dialog', { name: 'Hold Winifred' })
  await dialog.getByRole('button', { name: 'Hold', exact: true }).click()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  closed.resolve()
  await page.getByText('The note is too long.').waitFor()
  await page.context().close()
})

test('a closed dialog returns the focus to its button, or to another one if the button is gone', async () => {
  const { page } = await signIn('/api-keys')
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  await issueKey('Gone')
  await page.reload()
  await page.getByRole('button', { name: 'Rotate the key of Gone' }).click()
  await page.getByRole('dialog', { name: 'Rotate the key of Gone' }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(focused).toBe('Rotate')
  await page.getByRole('button', { name: 'Revoke the key of Gone' }).click()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('Revoked the key of Gone.').waitFor()
  await expect.poll(focused).toBe('Create a key')
  await page.context().close()
})

test('an administrator renames a category and chooses its picture, which its pets show; staff only rename', async () => {
  const { page } = await signIn('/overview')
  await page.getByRole('button', { name: 'Edit Fish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit Fish' })
  await dialog.getByRole('radio', { name: 'Fish', checked: true }).waitFor()
  await dialog.getByRole('radio', { name: 'Frog' }).click()
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Pond')
  expect(await accessibilityFaults(page)).toEqual([])
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('main').getByRole('link', { name: 'Pond', exact: true }).click()
  await page.locator('.list-row [data-drawing="frog"]').first().waitFor()
  expect(await page.locator('.list-row [data-drawing="fish"]').count()).toBe(0)
  await page.context().close()

  const apiKey = await issueKey('Sam', ['pets:read', 'pets:write'])
  const { page: staff } = await signIn('/overview', { apiKey })
  await staff.getByRole('button', { name: 'Edit Pond' }).click()
  const form = staff.getByRole('dialog', { name: 'Edit Pond' })
  expect(await form.getByRole('radio').count()).toBe(0)
  await form.getByRole('textbox', { name: 'Name' }).fill('Fish')
  await staff.keyboard.press('Enter')
  await form.waitFor({ state: 'detached' })
  await staff.getByRole('main').getByRole('link', { name: 'Fish', exact: true }).click()
  await staff.locator('.list-row [data-drawing="frog"]').first().waitFor()
  await staff.context().close()
})

test('a form in which something was entered asks before it closes', async () => {
  const { page } = await signIn('/')
  await page.getByRole('button', { name: 'Add a pet' }).click()
  const form = page.getByRole('dialog', { name: 'Add a pet' })
  await form.getByRole('textbox', { name: 'Name' }).fill('Longbourn')
  await page.keyboard.press('Escape')
  await form.getByText('What you entered is not saved').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await page.mouse.click(5, 500)
  expect(await form.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Longbourn')
  await form.getByRole('button', { name: 'Close anyway' }).click()
  await form.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Add a pet' }).click()
  await form.waitFor()
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await page.context().close()
})

test('a revoked key ends the session and says so', async () => {
  const { id, text } = await issueApiKey(db, { name: 'Cy', scopes: ['pets:read', 'events:read'] })
  const { page } = await signIn('/', { apiKey: text })
  await revokeApiKey(db, id)
  await page.getByText('Your key has expired or was revoked.').waitFor()
  expect(await page.evaluate('sessionStorage.length')).toBe(0)
  await page.context().close()
})

test('a key that can only read shows no buttons that change something', async () => {
  const apiKey = await issueKey('Dee', ['pets:read'])
  const { page } = await signIn('/', { apiKey })
  await rowOf(page, 'No. 500').waitFor()
  expect(await page.getByRole('button', { name: /Add a pet|Hold|Sell|Release/ }).count()).toBe(0)
  expect(await page.getByRole('navigation').getByRole('link', { name: 'Keys and sessions' }).count()).toBe(0)
  await page.context().close()
})

test('sells a pet with the keyboard only', async () => {
  const { page } = await signIn('/')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('n')
  await page.getByRole('dialog', { name: 'Add a pet' }).waitFor()
  await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('pet-form-name')
  await page.keyboard.type('Sybil')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Cats')
  await page.getByRole('option', { name: 'Cats' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Name' }).focus()
  await page.keyboard.press('Enter')
  await rowOf(page, 'Sybil').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  await page.keyboard.type('sybil')
  await expect.poll(() => page.getByRole('listitem').count()).toBe(1)
  await page.keyboard.press('Tab')
  const focused = () => page.evaluate('document.activeElement?.getAttribute("aria-label") ?? ""')
  for (let presses = 0; presses < 20 && !String(await focused()).startsWith('Hold'); presses += 1) {
    await page.keyboard.press('Tab')
  }
  expect(await focused()).toBe('Hold Sybil')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Hold Sybil' }).waitFor()
  await page.keyboard.type('Ms Li')
  await page.keyboard.press('Enter')
  await rowOf(page, 'Sybil')
    .getByText(/^until /)
    .waitFor()
  await page.context().close()
})

test('scrolls through 30 pages without a gap or a repeated pet', async () => {
  await db.write({
    name: 'many_pets',
    text: `insert into pets (name, category_id) select 'Many ' || number, 99 from generate_series(1, 1600) as number`,
    values: [],
  })
  const { page } = await signIn('/?category=99')
  await page.getByText('Many 1600').waitFor()
  const seen = new Set<string>()
  await page.getByRole('listitem').first().waitFor()
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 700)
      for (const name of await page.locator('.list-row .name a').allTextContents()) seen.add(name)
      return seen.size
    })
    .toBe(1_600)
  await page.context().close()
})

/** Returns how many event streams the page has opened since. */
function countStreams(page: Page): () => number {
  let count = 0
  page.on('request', (request) => {
    if (request.url().includes('/v1/events/stream')) count += 1
  })
  return () => count
}

test('two tabs share one event stream, and the second one continues if the first is closed', async () => {
  const { page } = await signIn('/')
  const context = page.context()
  const streamsOfFirst = countStreams(page)
  await page.reload()
  await page.getByRole('listitem').first().waitFor()
  await expect.poll(streamsOfFirst).toBeGreaterThan(0)
  const second = await context.newPage()
  const streamsOfSecond = countStreams(second)
  await second.goto(service.origin)
  await second.getByRole('listitem').first().waitFor()
  await addPet(page, 'Thalia')
  await rowOf(second, 'Thalia').waitFor()
  expect(streamsOfSecond()).toBe(0)

  await page.close()
  await expect.poll(streamsOfSecond).toBe(1)
  const other = await signIn('/')
  await addPet(other.page, 'Ulysses')
  await rowOf(second, 'Ulysses').waitFor()
  await Promise.all([context.close(), other.page.context().close()])
})

test('says that the browser is offline, and catches up afterwards', async () => {
  const { page } = await signIn('/')
  await page.getByRole('listitem').first().waitFor()
  await page.context().setOffline(true)
  await page.getByText('You are offline').waitFor()
  const other = await signIn('/')
  await addPet(other.page, 'Vesper')
  await page.context().setOffline(false)
  await page.getByText('You are offline').waitFor({ state: 'detached' })
  await rowOf(page, 'Vesper').waitFor()
  await Promise.all([page, other.page].map((one) => one.context().close()))
})

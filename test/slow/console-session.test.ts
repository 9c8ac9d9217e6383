// The end of a session in the console, in Chromium: the next person at the same browser sees nothing of it.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { revokeApiKey } from '../../src/access/api-keys/api-keys.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { issueApiKey } from '../support/app.ts'
import {
  accountOf,
  addPet,
  enterKey,
  hold,
  KEEP_MESSAGES,
  rowOf,
  signOut,
  startConsole,
} from '../support/console.ts'

const NOTE = 'Ms Okafor, tel. 555 0100'
const { db, service, signIn, issueKey } = await startConsole(async (empty) => {
  await empty.write({
    name: 'pets_of_the_test',
    text: `insert into pets (name, category_id) values ('Hildegard', 1), ('Ignatius', 1), ('Jocasta', 1)`,
    values: [],
  })
  await empty.write({
    name: 'categories_of_the_test',
    text: `insert into categories (id, name) values (1, 'Dogs') on conflict do nothing`,
    values: [],
  })
})

/** Opens another tab of the same browser, which shares the session. */
async function openTab(page: Page): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.addInitScript(KEEP_MESSAGES)
  await tab.goto(service.origin)
  await tab.getByRole('listitem').first().waitFor()
  return tab
}

/** Leaves traces: an order note, a message that offers to undo the hold, and an open dialog. */
async function leaveTraces(page: Page, name: string): Promise<void> {
  await hold(page, name, NOTE)
  await rowOf(page, name).getByText(NOTE).waitFor()
  await page.getByText(`${name} is on hold until`).waitFor()
  await rowOf(page, 'Jocasta').getByRole('button', { name: 'Hold Jocasta' }).click()
  await page.getByRole('dialog', { name: 'Hold Jocasta' }).waitFor()
}

/** Signs in with a key that cannot read orders. */
async function signInAsNext(page: Page): Promise<void> {
  await enterKey(page, await issueKey('Next', ['pets:read']))
}

/** What was removed can still fade out. A message that was not removed stays, because of `KEEP_MESSAGES`. */
async function expectNoTraces(page: Page, name: string): Promise<void> {
  await rowOf(page, name).waitFor()
  expect(await page.getByText('555 0100').count()).toBe(0)
  await page.getByText(`${name} is on hold until`).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

test('the next person sees nothing of a session that ended in another tab', async () => {
  const { page } = await signIn('/')
  const second = await openTab(page)
  await leaveTraces(second, 'Hildegard')
  await signOut(page)
  await second.getByText('You have signed out.').waitFor()
  const title = await second.title()
  await signInAsNext(second)
  await expectNoTraces(second, 'Hildegard')
  expect(title).toBe('Sign in · Petstore')
  await page.context().close()
})

test('the next person sees nothing of a session whose key was revoked', async () => {
  const { id, text } = await issueApiKey(db, { name: 'Ada', scopes: SCOPES })
  const { page } = await signIn('/', { apiKey: text, initScript: KEEP_MESSAGES })
  await leaveTraces(page, 'Ignatius')
  await revokeApiKey(db, id)
  await page.getByText('Your key has expired or was revoked.').waitFor()
  await signInAsNext(page)
  await expectNoTraces(page, 'Ignatius')
  await page.context().close()
})

/** A hold whose response arrives after another person has signed in on the same page. Returns what sends the response. */
async function holdAcrossSessions(
  page: Page,
  name: string,
): Promise<PromiseWithResolvers<'rejected' | 'done'>> {
  const outcome = Promise.withResolvers<'rejected' | 'done'>()
  const sent = page.waitForRequest('**/v1/store/orders')
  await page.route('**/v1/store/orders', async (route) => {
    const body = JSON.stringify({ code: 'invalid_api_key', message: 'The key is not valid.', status: 401 })
    if ((await outcome.promise) === 'done') await route.continue()
    else await route.fulfill({ status: 401, contentType: 'application/json', body })
  })
  const second = await openTab(page)
  await rowOf(page, name)
    .getByRole('button', { name: `Hold ${name}` })
    .click()
  await page
    .getByRole('dialog', { name: `Hold ${name}` })
    .getByRole('button', { name: 'Hold', exact: true })
    .click()
  await sent
  await signOut(second)
  await page.getByText('You have signed out.').waitFor()
  await enterKey(page, await issueKey('Bo'))
  return outcome
}

test('a late 401 to the former session does not end the next one', async () => {
  const { page } = await signIn('/')
  await addPet(page, 'Katinka')
  const outcome = await holdAcrossSessions(page, 'Katinka')
  const received = page.waitForResponse('**/v1/store/orders')
  outcome.resolve('rejected')
  await (await received).finished()
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('heading', { name: 'Overview' }).or(page.getByText('Sign in')).first().waitFor()
  await accountOf(page, 'Bo').waitFor()
  expect(await page.getByText('Your key has expired').count()).toBe(0)
  await page.context().close()
})

test('a late success of the former session shows no message to the next person', async () => {
  const { page } = await signIn('/')
  await addPet(page, 'Leopold')
  const outcome = await holdAcrossSessions(page, 'Leopold')
  const received = page.waitForResponse('**/v1/store/orders')
  outcome.resolve('done')
  await (await received).finished()
  await rowOf(page, 'Leopold')
    .getByText(/^until /)
    .waitFor()
  // A later message.
  await addPet(page, 'Marigold')
  await page.getByText('Added Marigold.').waitFor()
  expect(await page.getByText('Leopold is on hold until').count()).toBe(0)
  await page.context().close()
})

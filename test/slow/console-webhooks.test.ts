// Webhooks in the console, in Chromium: connect a receiver, find out why it fails, and send again what has not arrived.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { Petstore } from '../../client/src/petstore.ts'
import { accessibilityFaults } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { startDeliverer } from '../support/deliveries.ts'
import { addDemoPets } from '../support/demo-pets.ts'
import { openReceiver } from '../support/webhook-receiver.ts'

const WEBHOOK_NETWORKS = '127.0.0.1'
const { databaseUrl, service, signIn, issueKey } = await startConsole(addDemoPets, { WEBHOOK_NETWORKS })
// No retry follows during a test, so that only a redelivery can deliver a message that has failed.
startDeliverer(databaseUrl, [3_600])
const other = new Petstore({ baseUrl: `${service.origin}/v1`, apiKey: await issueKey('Bo') })
const receiver = await openReceiver()

const attempts = (page: Page) => page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem')

/** Checks the page as it is now in both looks. */
async function checkLooks(page: Page): Promise<void> {
  for (const { width, colorScheme } of [
    { width: 390, colorScheme: 'dark' as const },
    { width: 1440, colorScheme: 'light' as const },
  ]) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(await accessibilityFaults(page)).toEqual([])
  }
}

/** Fills in the form, and returns the secret of the new webhook. */
async function connect(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Create a webhook' }).click()
  const form = page.getByRole('dialog', { name: 'Create a webhook' })
  await form.getByLabel('What it is for').fill('Web shop')
  await form.getByLabel('Address').fill('shop.example/hook')
  await form.getByRole('button', { name: 'Create webhook' }).click()
  await form.getByText('Enter an address that starts with https:// or http://').waitFor()
  await form.getByLabel('Address').fill('https://shop.example:port/hook')
  await form.getByRole('button', { name: 'Create webhook' }).click()
  await form.getByText('The address must be an absolute URL').waitFor()
  await form.getByLabel('Address').fill(receiver.url)
  await checkLooks(page)
  await form.getByRole('button', { name: 'Create webhook' }).click()
  const shown = page.getByRole('dialog', { name: 'Copy the new secret' })
  const secret = await shown.getByLabel('Secret', { exact: true }).inputValue()
  await shown.getByRole('button', { name: 'Close' }).last().click()
  await shown.getByText('You have not copied the secret').waitFor()
  await shown.getByRole('button', { name: 'Close anyway' }).click()
  await page.getByRole('heading', { name: 'Web shop' }).waitFor()
  return secret
}

test('connects a receiver, says why it fails, and sends again what has not arrived', async () => {
  const { page, faults } = await signIn('/webhooks')
  await page.getByText('No program is connected yet').waitFor()
  const secret = await connect(page)

  await page.getByRole('button', { name: 'Send a test event' }).click()
  await page.getByText('The test event has arrived').waitFor()
  receiver.verify(receiver.received[0]!, secret)
  await attempts(page).filter({ hasText: 'Test event' }).getByText('Responds with 204').waitFor()

  receiver.respond(() => 500)
  const { id } = await other.pets.create({ name: 'Despina', categoryId: 1 })
  await page.getByText('Responds with 500, since').waitFor()
  await page.getByText('The program of the receiver has an error.').waitFor()
  const failed = attempts(page).filter({ hasText: `No. ${id}` })
  await failed.getByText('Pet added').waitFor()
  await failed.getByText('next try in').waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: `Details: Pet added, No. ${id}` }).click()
  const details = page.getByRole('dialog', { name: 'Pet added' })
  await details.getByText('evt_').waitFor()
  await details.getByText(/^in .* \(at .*\)$/).waitFor()
  await checkLooks(page)
  receiver.respond(() => 204)
  await details.getByRole('button', { name: 'Send again' }).click()
  await failed.filter({ hasText: 'sent again' }).getByText('Delivered').waitFor()
  const copies = receiver.received.filter(({ data }) => String(data.petId) === id)
  expect(copies.map(({ status }) => status)).toEqual([500, 204])
  expect(new Set(copies.map((message) => message.id)).size).toBe(1)

  await sendFailedAgain(page)
  await showOnOverview(page)
  await pauseAndResume(page)
  // The browser reports a rejected request, such as the one with the wrong address, too.
  expect(faults.filter((fault) => !fault.includes('Failed to load resource'))).toEqual([])
  await page.context().close()
})

async function sendFailedAgain(page: Page): Promise<void> {
  receiver.respond(() => 500)
  const { id } = await other.pets.create({ name: 'Elara', categoryId: 1 })
  await receiver.until((received) => received.some(({ data }) => String(data.petId) === id))
  receiver.respond(() => 204)
  const message = attempts(page).filter({ hasText: `No. ${id}` })
  await message.getByText('Failed').waitFor()
  const dialog = page.getByRole('dialog', { name: 'Send failed messages again' })
  await page.getByRole('button', { name: `Details: Pet added, No. ${id}` }).click()
  await page.getByRole('button', { name: 'Send all failed since this' }).click()
  await dialog.getByText('1 message waiting.').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Send failed ones again' }).click()
  // The message that was sent again and has arrived is not among them.
  await dialog.getByText('1 message waiting.').waitFor()
  await checkLooks(page)
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await dialog.waitFor({ state: 'detached' })
  await message.getByText('Delivered').waitFor()
  await page.getByText('Working').waitFor()
  expect(receiver.received.filter(({ data }) => String(data.petId) === id)).toHaveLength(2)
}

async function showOnOverview(page: Page): Promise<void> {
  receiver.respond(() => 500)
  const { id } = await other.pets.create({ name: 'Ganymede', categoryId: 1 })
  await page.getByText('Responds with 500, since').waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click()
  await page.getByText('1 webhook does not work').waitFor()
  await checkLooks(page)
  await page.getByRole('main').getByRole('link', { name: 'Web shop' }).click()
  receiver.respond(() => 204)
  await page.getByRole('button', { name: 'Try again now' }).click()
  await attempts(page)
    .filter({ hasText: `No. ${id}` })
    .getByText('Delivered')
    .waitFor()
  await page.getByText('Working').waitFor()
}

async function pauseAndResume(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused since').waitFor()
  const { id } = await other.pets.create({ name: 'Farbauti', categoryId: 1 })
  await page.getByRole('button', { name: 'Resume' }).click()
  // The event of the pause follows.
  await attempts(page)
    .filter({ hasText: `No. ${id}` })
    .getByText('Delivered')
    .waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Webhooks', exact: true }).click()
  const list = page.getByRole('list', { name: 'Webhooks' })
  await list.getByText('Working').waitFor()
  await list.getByText(/just now| ago/).waitFor()
  await checkLooks(page)
}

test('a key that cannot manage webhooks shows no buttons that change something', async () => {
  const apiKey = await issueKey('Cy', ['webhooks:read', 'pets:read'])
  const webhook = await other.webhooks.create({ url: receiver.url, description: 'Accounts' })
  const { page } = await signIn(`/webhooks/${webhook.id}`, { apiKey })
  await page.getByRole('heading', { name: 'Accounts' }).waitFor()
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
  expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
  await page.context().close()
})

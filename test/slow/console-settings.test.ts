// The settings of the shop in the console, in Chromium: what is saved and when, what locks the currency and the time zone, and
// who follows a change of them.
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { Petstore } from '../../client/src/petstore.ts'
import { accessibilityFaults } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { CHECKS_FIGURES } from '../support/figures.ts'
import { onOneDay } from '../support/one-day.ts'

const FOLLOWED_WITHIN_MS = 1_000

const { service, signIn, issueKey } = await startConsole(async () => {})
const other = new Petstore({ baseUrl: `${service.origin}/v1`, apiKey: await issueKey('Bo') })

async function openSettings(look = {}): Promise<Page> {
  const { page, faults } = await signIn('/settings', look)
  onTestFinished(async () => {
    // Chromium reports the status of each response that is no success.
    expect(faults.filter((fault) => !fault.includes('412'))).toEqual([])
    await page.context().close()
  })
  await page.getByLabel('Name').waitFor()
  return page
}

const save = (page: Page) => page.getByRole('button', { name: 'Save' })
const stored = async () => {
  const { name, address, isTaxInvoice } = await other.settings.get()
  return { name, address, isTaxInvoice }
}

test('nothing is saved before Save, and leaving the page asks first', async () => {
  const page = await openSettings({ width: 390 })
  const before = await stored()
  expect(await save(page).count()).toBe(0)
  await page.getByLabel('Name').fill('Paw & Feather')
  await page.getByLabel('Address').fill('Ackerhof 7\n10115 Berlin')
  await page.getByLabel('Print “This is not a tax invoice”').uncheck()
  await page.getByText('Name, Address and Tax invoice are changed, not saved').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await page.getByRole('link', { name: 'Till' }).click()
  await page.getByRole('button', { name: 'Stay here' }).click()
  expect(await page.getByLabel('Name').inputValue()).toBe('Paw & Feather')
  expect(await stored()).toEqual(before)

  await page.getByLabel('Name').press('Control+s')
  await page.getByText('The settings are saved.').waitFor()
  expect(await stored()).toEqual({
    name: 'Paw & Feather',
    address: 'Ackerhof 7\n10115 Berlin',
    isTaxInvoice: true,
  })
  expect(await save(page).count()).toBe(0)

  await page.getByLabel('Name').fill('Another')
  await page.getByRole('button', { name: 'Discard' }).click()
  expect(await page.getByLabel('Name').inputValue()).toBe('Paw & Feather')
  await page.getByRole('link', { name: 'Till' }).click()
  await page.getByRole('heading', { name: 'Till' }).waitFor()
})

test('what another person has saved meanwhile is shown, and not overwritten', async () => {
  const page = await openSettings()
  await page.getByLabel('Name').fill('Mine')
  await other.settings.update({ address: 'Theirs 1', name: 'Theirs' })
  await page.getByText('Another person has changed Name and Address since you started.').waitFor()
  await save(page).click()
  await page.getByText('Not saved yet.').waitFor()
  expect(await stored()).toMatchObject({ name: 'Theirs', address: 'Theirs 1' })
  expect(await accessibilityFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Keep mine' }).click()
  expect(await page.getByLabel('Address').inputValue()).toBe('Theirs 1')
  await save(page).click()
  await page.getByText('The settings are saved.').waitFor()
  expect(await stored()).toMatchObject({ name: 'Mine', address: 'Theirs 1' })
})

test('a save that was faster than the page is rejected, and nothing is overwritten', async () => {
  const page = await openSettings()
  await page.getByLabel('Name').fill('Slower')
  // The page does not see the change of the other person before it saves.
  await page.route('**/v1/store/settings', (route) =>
    route.request().method() === 'GET' ? new Promise(() => {}) : route.continue(),
  )
  await other.settings.update({ name: 'Faster' })
  const rejected = page.waitForResponse((response) => response.request().method() === 'PATCH')
  await save(page).click()
  expect((await rejected).status()).toBe(412)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  // The browser asks whether to leave what is not saved.
  page.once('dialog', (dialog) => void dialog.accept())
  await page.reload()
  expect(await page.getByLabel('Name').inputValue()).toBe('Faster')
})

test('the currency and the time zone are texts while money is open, and say why', async () => {
  const { id: petId } = await other.pets.create({ name: 'Ruby', categoryId: 1 })
  const order = await other.orders.place({ petId, price: '129.00', deposit: '20.00', method: 'cash' })
  const page = await openSettings()
  await page.getByText('Locked while money is open: 1 hold, 1 held deposit and 1 day not closed.').waitFor()
  expect(await page.getByRole('combobox', { name: /Currency|Time zone/ }).count()).toBe(0)
  expect(await accessibilityFaults(page)).toEqual([])
  await other.orders.cancel(order.id)
  await other.orders.settleDeposit(order.id, { refund: '20.00' }, { idempotencyKey: 'settled' })
  await page.getByText('Locked while money is open: 1 day not closed.').waitFor()
  await page.getByRole('link', { name: '1 day not closed' }).click()
  await page.getByRole('heading', { name: 'Till' }).waitFor()
  const { today } = await other.till.totals()
  await other.till.closeDay({ day: today, counted: '0.00', kept: '0.00' })
  await page.goBack()
  await page.getByRole('combobox', { name: 'Currency' }).waitFor()
})

test('a change of the currency and the time zone is on the pages of other people within a second', async () => {
  await onOneDay(async () => {
    const page = await openSettings()
    const { page: theirs } = await signIn('/till', { timeZone: 'Pacific/Kiritimati' })
    onTestFinished(() => theirs.context().close())
    await theirs.getByText('€0.00').first().waitFor()
    await page.getByRole('combobox', { name: 'Currency' }).fill('Japanese')
    await page.getByRole('option', { name: 'Japanese Yen, JPY' }).click()
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Pago')
    await page.getByRole('option', { name: 'Pacific/Pago Pago' }).click()
    await save(page).click()
    const changedAt = performance.now()
    await theirs.locator('.net-sum', { hasText: 'JP¥0' }).waitFor()
    const followedMs = performance.now() - changedAt
    console.log({ followedMs: Math.round(followedMs) })
    if (CHECKS_FIGURES) expect(followedMs).toBeLessThan(FOLLOWED_WITHIN_MS + 500)
    await theirs.getByText('The shop has the currency JPY and the time zone Pacific/Pago_Pago now.').waitFor()
    const day = new Intl.DateTimeFormat('en-GB', {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      timeZone: 'Pacific/Pago_Pago',
    })
    await theirs.getByRole('button', { name: day.format(Date.now()).replace(',', '') }).waitFor()

    // The page of the service has them from the start.
    await theirs.goto(`${service.origin}/?add=true`)
    await theirs.getByRole('dialog').getByText('JPY').waitFor()
    await page.getByRole('combobox', { name: 'Currency' }).fill('Euro,')
    await page.getByRole('option', { name: 'Euro, EUR' }).click()
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Berlin')
    await page.getByRole('option', { name: 'Europe/Berlin' }).click()
    await save(page).click()
    await theirs.getByRole('dialog').getByText('EUR', { exact: true }).waitFor()
  }, 'Pacific/Pago_Pago')
})

test('a key that is not of an administrator has no settings', async () => {
  const apiKey = await issueKey('Staff', ['pets:read', 'orders:read', 'till:write'])
  const { page } = await signIn('/settings', { apiKey })
  await page.getByText('Only administrators change the settings of the shop.').waitFor()
  expect(await page.getByRole('link', { name: 'Settings' }).count()).toBe(0)
  await page.context().close()
})

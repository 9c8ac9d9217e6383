// Prices, facts and sales in the console, in Chromium: price a litter, bargain, sell, and close the day.
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { Petstore } from '../../client/src/petstore.ts'
import { addDemoPets } from '../support/demo-pets.ts'
import { accessibilityFaults } from '../support/browser.ts'
import { sql } from '../support/database.ts'
import { untilAfterMidnight } from '../support/one-day.ts'
import { confirmSale, KEEP_MESSAGES, rowOf, sellHeld, startConsole } from '../support/console.ts'

const { service, databaseUrl, signIn, issueKey } = await startConsole(addDemoPets)
const other = new Petstore({ baseUrl: `${service.origin}/v1`, apiKey: await issueKey('Bo') })

async function openForm(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Add a pet' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a pet' })
  await dialog.getByRole('combobox', { name: 'Category' }).fill('Dogs')
  await page.getByRole('option', { name: 'Dogs' }).click()
  return dialog
}

/** The figure of the page of sales with this label. */
const total = (page: Page, label: string) =>
  page.locator('.sales-totals > div').filter({ hasText: label }).getByRole('definition').allTextContents()

/** The price on the page of a pet. */
function askedPrice(page: Page, price: string) {
  return page.getByRole('region', { name: 'Sale' }).getByText(price, { exact: true })
}

test('prices a litter, bargains, sells, and closes the day', async () => {
  await untilAfterMidnight()
  const { page, faults } = await signIn('/')
  const form = await openForm(page)
  await form.getByLabel('Price').fill('250')
  await form.getByLabel('Breed').fill('Beagle')
  await form.getByLabel('Born on').fill('2026-09-20')
  for (const name of ['Ananke', 'Bianca', 'Callisto']) {
    await form.getByRole('textbox', { name: 'Name' }).fill(name)
    await form.getByRole('button', { name: 'Add and next' }).click()
    // The form is empty again as soon as the pet is saved.
    await expect.poll(() => form.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('')
  }
  await form.getByRole('button', { name: 'Cancel' }).click()
  for (const name of ['Ananke', 'Bianca', 'Callisto']) {
    await rowOf(page, name).getByText('€250.00').waitFor()
    await rowOf(page, name).getByText('Beagle', { exact: true }).first().waitFor()
  }

  await rowOf(page, 'Ananke').getByRole('button', { name: 'Hold Ananke' }).click()
  const holding = page.getByRole('dialog', { name: 'Hold Ananke' })
  await expect.poll(() => holding.getByLabel('Price').inputValue()).toBe('250.00')
  await holding.getByLabel('Price').fill('220,5')
  await holding.getByLabel('Note').fill('Mr Abe')
  expect(await accessibilityFaults(page)).toEqual([])
  await holding.getByRole('button', { name: 'Hold', exact: true }).click()
  await holding.waitFor({ state: 'detached' })
  await sellHeld(page, 'Ananke')
  await page.getByText('Ananke is sold for €220.50.').waitFor()

  await rowOf(page, 'Bianca').getByRole('link').click()
  await askedPrice(page, '€250.00').waitFor()
  await page.getByRole('button', { name: /^Sell (now|for)/ }).click()
  await page.getByRole('dialog', { name: 'Sell Bianca' }).getByLabel('Price').fill('1.2.5')
  await page.getByText('Enter an amount such as 129.00.').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await confirmSale(page, 'Bianca', { price: '240', note: '=Ms Okafor' })
  await askedPrice(page, '€240.00').waitFor()
  await page.getByText('=Ms Okafor').waitFor()

  await page.getByRole('navigation').getByRole('link', { name: 'Sales' }).click()
  await expect.poll(() => total(page, 'Total')).toEqual(['€460.50'])
  await rowOf(page, 'Ananke').getByText('Mr Abe').waitFor()
  expect(await page.locator('.sale-row .name a').allTextContents()).toEqual(['Bianca', 'Ananke'])
  expect(await accessibilityFaults(page)).toEqual([])

  const downloaded = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export as CSV' }).click()
  const csv = await readFile(await (await downloaded).path(), 'utf8')
  expect(csv.split('\r\n').map((row) => row.split(',').slice(2, 8))).toEqual([
    ['petName', 'category', 'placedBy', 'note', 'price', 'currency'],
    ['Bianca', 'Dogs', 'Ada', `'=Ms Okafor`, '240.00', 'EUR'],
    ['Ananke', 'Dogs', 'Ada', 'Mr Abe', '220.50', 'EUR'],
    [],
  ])
  expect(faults).toEqual([])
  await page.context().close()
})

test('the page of sales counts what the total does not include, and marks a pet that was brought back', async () => {
  await untilAfterMidnight()
  const { page } = await signIn('/sales')
  const before = await other.figures({ days: 1 })
  const [sold, set] = await Promise.all(
    ['Despina', 'Elara'].map((name) => other.pets.create({ name, categoryId: 1 })),
  )
  const order = await other.orders.place({ petId: sold?.id ?? '' })
  await other.orders.complete(order.id)
  await other.pets.update(set?.id ?? '', { status: 'sold' })
  const { withoutPrice = 0 } = before.days[0]?.sales ?? {}
  await expect.poll(() => total(page, 'Sales without a price')).toEqual([String(withoutPrice + 1)])
  await expect.poll(() => total(page, 'Set to sold without an order')).toEqual(['1'])
  await rowOf(page, 'Despina').getByText('No price').waitFor()
  await other.pets.update(sold?.id ?? '', { status: 'available' })
  await rowOf(page, 'Despina').getByText('brought back').waitFor()
  await page.context().close()
})

test('a price that another person changes appears in the list and in the open form', async () => {
  const { id } = await other.pets.create({ name: 'Farbauti', categoryId: 1 })
  const { page } = await signIn('/', { initScript: KEEP_MESSAGES })
  await rowOf(page, 'Farbauti').waitFor()
  // From now on, a change can only come from the stream.
  await page.route('**/v1/pet-profiles?*', (route) => route.abort())
  await other.pets.setProfile(id, { price: '80.00' })
  await rowOf(page, 'Farbauti').getByText('€80.00').waitFor()

  await rowOf(page, 'Farbauti').getByRole('link').click()
  await page.getByRole('button', { name: 'Edit' }).click()
  const form = page.getByRole('dialog', { name: 'Edit Farbauti' })
  await form.getByLabel('Price').fill('70')
  await other.pets.setProfile(id, { price: '75.00', breed: 'Whippet' })
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Changed by another person').waitFor()
  await form.getByRole('button', { name: 'Show the new values' }).click()
  await expect.poll(() => form.getByLabel('Price').inputValue()).toBe('75.00')
  await form.getByLabel('Price').fill('70')
  await form.getByRole('button', { name: 'Save' }).click()
  await askedPrice(page, '€70.00').waitFor()
  await page.getByText('changed the price from €75.00 to €70.00').waitFor()
  expect(await other.pets.profile(id)).toMatchObject({ price: '70.00', breed: 'Whippet' })
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await askedPrice(page, '€75.00').waitFor()
  await page.context().close()
})

test('a price in the former currency of the shop stays as it is until a person enters another one', async () => {
  const { id } = await other.pets.create({ name: 'Narvi', categoryId: 1 })
  // The operator has changed the setting since.
  await sql(databaseUrl, `insert into pet_profiles (pet_id, price, currency) values ($1, 12900, 'JPY')`, [id])
  const { page } = await signIn(`/pets/${id}`, { initScript: KEEP_MESSAGES })
  const form = page.getByRole('dialog', { name: 'Edit Narvi' })
  const edit = async (label: string, text: string) => {
    await page.getByRole('button', { name: 'Edit' }).click()
    await form.getByLabel('Price').waitFor()
    await form.getByLabel(label).fill(text)
  }
  const save = async () => {
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
  }
  await edit('Breed', 'Beagle')
  await form.getByText('Stored in JPY. A price that you type is in EUR.').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await save()
  await askedPrice(page, 'JP¥12,900').waitFor()
  expect(await other.pets.profile(id)).toMatchObject({ price: '12900', currency: 'JPY', breed: 'Beagle' })

  // The same amount, typed again.
  await edit('Price', '')
  await form.getByLabel('Price').fill('12900')
  expect(await form.getByText('Stored in JPY.').count()).toBe(0)
  await save()
  await askedPrice(page, '€12,900.00').waitFor()
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await page.getByText('its price stays: JP¥12,900 is not in the currency of the shop.').waitFor()
  await page.context().close()
})

test('warns about a chip number that another pet has, unless that pet is sold, and finds both by it', async () => {
  const [sold, kept] = await Promise.all(
    ['Greip', 'Hati'].map((name) => other.pets.create({ name, categoryId: 1 })),
  )
  for (const pet of [sold, kept])
    await other.pets.setProfile(pet?.id ?? '', { chipNumber: '276098100123456' })
  await other.pets.update(sold?.id ?? '', { status: 'sold' })
  const { page } = await signIn('/')
  const form = await openForm(page)
  await form.getByLabel('Chip number').fill('276 098 100 123 456')
  await form.getByText(`Hati (No. ${kept?.id}, Available) has this chip number too.`).waitFor()
  expect(await form.getByText('Greip').count()).toBe(0)
  await form.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('searchbox').fill('276 098 100 123 456')
  await rowOf(page, 'Greip').waitFor()
  await rowOf(page, 'Hati').waitFor()
  await expect.poll(() => page.locator('.list-row').count()).toBe(2)
  await page.context().close()
})

test('a browser remembers the columns', async () => {
  const { id } = await other.pets.create({ name: 'Iapetus', categoryId: 1 })
  await other.pets.setProfile(id, { price: '90.00', chipNumber: 'ABC123' })
  const { page } = await signIn('/')
  await rowOf(page, 'Iapetus').getByText('€90.00').waitFor()
  await page.getByRole('button', { name: 'Columns' }).click()
  const dialog = page.getByRole('dialog', { name: 'Columns' })
  await dialog.getByLabel('Price').uncheck()
  await dialog.getByLabel('Chip number').check()
  expect(await accessibilityFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.reload()
  await rowOf(page, 'Iapetus').getByText('ABC123', { exact: true }).first().waitFor()
  expect(await rowOf(page, 'Iapetus').getByText('€90.00').count()).toBe(0)
  await page.context().close()
})

// Prices, facts and sales in the console, in Chromium: price a litter, bargain and sell.
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { Petstore } from '../../client/src/petstore.ts'
import { addDemoPets } from '../support/demo-pets.ts'
import { accessibilityFaults } from '../support/browser.ts'
import { sql } from '../support/database.ts'
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

/** The price on the page of a pet. */
function askedPrice(page: Page, price: string) {
  return page.getByRole('region', { name: 'Sale' }).getByText(price, { exact: true })
}

test('prices a litter, bargains and sells', async () => {
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

  expect(faults).toEqual([])
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

test('a wrong price is corrected, a sale undone, and the till says what is true', async () => {
  const since = (await other.till.totals()).totals[0] ?? { pets: 0, sales: '0.00', paid: '0.00' }
  const [wrong, mistake, right] = await Promise.all(
    [
      ['Triton', '45.00'],
      ['Umbriel', '13.00'],
      ['Vesta', '1150.00'],
    ].map(async ([name = '', price]) => {
      const { id } = await other.pets.create({ name, categoryId: 1 })
      await other.pets.setProfile(id, { price })
      return id
    }),
  )
  const { page, faults } = await signIn(`/pets/${wrong}`, { initScript: KEEP_MESSAGES })
  const open = (id: string | undefined) => page.goto(`${service.origin}/pets/${id}`)
  const sell = async (name: string, method: 'Cash' | 'Card') => {
    await page.getByRole('button', { name: /^Sell for/ }).click()
    await confirmSale(page, name, { method })
    await page.getByText(`${name} is sold for`).waitFor()
  }
  await sell('Triton', 'Cash')
  await page.getByRole('button', { name: 'Correct price' }).click()
  const dialog = page.getByRole('dialog', { name: 'Correct the price of Triton' })
  await dialog.getByLabel('Right price').fill('450')
  await dialog.getByText('To pay').waitFor()
  await expect.poll(() => dialog.getByRole('radio', { name: 'Cash' }).isChecked()).toBe(true)
  expect(await accessibilityFaults(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByText('The price of Triton is €450.00 now.').waitFor()
  await askedPrice(page, '€450.00').waitFor()
  await page.getByText('Price corrected from €45.00 to €450.00, in cash').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  const form = page.getByRole('dialog', { name: 'Edit Triton' })
  await form.getByLabel('Breed').waitFor()
  expect(await form.getByLabel(/^(Price|Status)/).count()).toBe(0)

  await open(mistake)
  await sell('Umbriel', 'Cash')
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('Undone: Umbriel is available again.').waitFor()
  await open(right)
  await sell('Vesta', 'Card')
  const [totals] = (await other.till.totals()).totals
  expect([totals?.pets, Number(totals?.sales) - Number(since.sales)]).toEqual([since.pets + 2, 1600])
  expect(faults).toEqual([])
  await page.context().close()
})

test('takes a pet back with a part of its price, and keeps its sale struck through', async () => {
  const { id } = await other.pets.create({ name: 'Xena', categoryId: 1 })
  const order = await other.orders.place({ petId: id, price: '129.00', note: 'Ms Berger' })
  await other.orders.complete(order.id, { method: 'card' })
  const { page, faults } = await signIn(`/pets/${id}`, { initScript: KEEP_MESSAGES })
  await page.getByRole('button', { name: 'Take back' }).click()
  const dialog = page.getByRole('dialog', { name: 'Take back Xena' })
  await dialog.getByText(/^Paid on .* by card$/).waitFor()
  await dialog.getByLabel('Refund', { exact: true }).fill('130')
  await dialog.getByText('At most €129.00 was paid.').waitFor()
  await dialog.getByLabel('Refund', { exact: true }).fill('100')
  await dialog.getByRole('button', { name: 'Take back, refund €100.00' }).click()
  await dialog.getByText('Choose a reason.').waitFor()
  await dialog.getByText('Ill', { exact: true }).click()
  await dialog.getByRole('radio', { name: 'Cash' }).click()
  expect(await accessibilityFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Take back, refund €100.00' }).click()
  await page.getByText('Xena is taken back, and €100.00 refunded.').waitFor()
  await page.getByText('Taken back, €100.00 refunded in cash').waitFor()
  await page.locator('.struck', { hasText: 'Sold for €129.00, paid by card' }).waitFor()
  expect(await other.orders.get(order.id)).toMatchObject({ netPrice: '29.00' })
  // The pet is available, and the return can still be undone.
  await page.getByRole('button', { name: 'Undo return' }).click()
  await page.getByRole('button', { name: 'Correct price' }).waitFor()
  expect(await other.orders.get(order.id)).toMatchObject({ netPrice: '129.00' })
  expect(faults).toEqual([])
  await page.context().close()
})

test('a hold takes a deposit, a sale subtracts it, and a released one is settled on the page of holds', async () => {
  const ids = await Promise.all(
    ['Yara', 'Zeno'].map(async (name) => {
      const { id } = await other.pets.create({ name, categoryId: 1 })
      await other.pets.setProfile(id, { price: '129.00' })
      return id
    }),
  )
  const { page, faults } = await signIn('/', { initScript: KEEP_MESSAGES })
  for (const [index, name] of ['Yara', 'Zeno'].entries()) {
    await page.goto(`${service.origin}/pets/${ids[index]}`)
    await page.getByRole('button', { name: `Hold ${name}` }).click()
    const holding = page.getByRole('dialog', { name: `Hold ${name}` })
    await holding.getByLabel('Deposit', { exact: true }).fill('20')
    await holding.getByRole('radio', { name: 'Cash' }).click()
    expect(await accessibilityFaults(page)).toEqual([])
    await holding.getByRole('button', { name: 'Hold, take €20.00' }).click()
    await page.getByText('Deposit of €20.00 paid').waitFor()
  }
  await page.getByRole('button', { name: 'Release' }).click()
  await page.getByText('The deposit of €20.00 is on the page Holds, to settle.').waitFor()

  await page.goto(`${service.origin}/pets/${ids[0]}`)
  await page.getByRole('button', { name: 'Sell for €109.00' }).click()
  await page.getByRole('checkbox', { name: 'Receipt' }).check()
  await confirmSale(page, 'Yara', { note: 'Ms Yoon', discount: '10 %', method: 'Card' })
  await page.locator('.receipt').getByText('€116.10').first().waitFor()
  expect(await page.getByText('Copy').count()).toBe(0)
  await page.goto(`${service.origin}/pets/${ids[0]}`)
  await page.getByText('Ms Yoon').waitFor()
  await page.getByRole('link', { name: 'Receipt' }).click()
  await page.getByText('Copy').waitFor()
  const { items } = await other.till.entries({ petId: ids[0] ?? '' }).page()
  expect(items.map(({ kind, paid, method, reason }) => [kind, paid, method, reason])).toEqual([
    ['sale', '96.10', 'card', 'discount'],
    ['deposit', '20.00', 'cash', undefined],
  ])

  await page.goto(`${service.origin}/holds`)
  await page.getByRole('heading', { name: 'Deposits to settle' }).waitFor()
  await page.getByRole('button', { name: 'Keep the deposit for Zeno' }).click()
  await page.getByText('The deposit of €20.00 is kept.').waitFor()
  await page.getByRole('heading', { name: 'Deposits to settle' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo', exact: true }).last().click()
  await page.getByRole('button', { name: 'Give back the deposit for Zeno' }).click()
  const settling = page.getByRole('dialog', { name: 'Give back the deposit for Zeno' })
  await expect.poll(() => settling.getByRole('radio', { name: 'Cash' }).isChecked()).toBe(true)
  expect(await accessibilityFaults(page)).toEqual([])
  await settling.getByRole('button', { name: 'Give back €20.00' }).click()
  await page.getByText('€20.00 of the deposit is given back.').waitFor()
  expect((await other.till.totals()).deposits).toEqual([])
  expect(faults).toEqual([])
  await page.context().close()
})

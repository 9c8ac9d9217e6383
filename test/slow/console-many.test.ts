// Many pets at once in the console, in Chromium: select, change, delete and sell them, and import a file.
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { Petstore } from '../../client/src/petstore.ts'
import { accessibilityFaults } from '../support/browser.ts'
import { enterKey, KEEP_MESSAGES, rowOf, startConsole } from '../support/console.ts'

const { service, signIn, issueKey } = await startConsole(async () => {})
const other = new Petstore({ baseUrl: `${service.origin}/v1`, apiKey: await issueKey('Bo') })
await other.categories.put(1, { name: 'Dogs' })
await other.categories.put(2, { name: 'Cats' })
await other.categories.put(3, { name: 'Fish' })

const bar = (page: Page) => page.getByRole('region', { name: 'Selected pets' })
const select = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}` })

async function countFish(): Promise<number | undefined> {
  const { items } = await other.categories.list().page()
  return items.find(({ id }) => id === '3')?.counts.available
}

async function addPets(names: string[], categoryId: number, price?: string) {
  const results = await other.pets.changeMany(
    names.map((name) => ({
      create: { name, categoryId, ...(price !== undefined && { profile: { price } }) },
    })),
  )
  return Object.fromEntries(results.map(({ pet }) => [pet?.name, pet?.id ?? '']))
}

test('selects pets with the keyboard and the mouse, changes and sells them, and undoes each at once', async () => {
  const ids = await addPets(['Ananke', 'Bianca', 'Callisto', 'Despina', 'Elara'], 1, '250.00')
  const order = await other.orders.place({ petId: ids['Bianca'] ?? '', note: 'Mr Abe' })
  const { page, faults } = await signIn('/?category=1', { initScript: KEEP_MESSAGES })
  await rowOf(page, 'Elara').waitFor()

  // The newest pet is the first one.
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
  await bar(page).getByText('2 selected').waitFor()
  expect(await select(page, 'Despina').isChecked()).toBe(true)
  await select(page, 'Bianca').click({ modifiers: ['Shift'] })
  await bar(page).getByText('4 selected').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])

  // The focus is on a checkbox. The second button after the first one changes the category.
  for (const key of ['a', 'Tab', 'Tab', 'Enter']) await page.keyboard.press(key)
  const changing = page.getByRole('dialog', { name: 'Change the category of 4 pets' })
  await changing.getByRole('combobox', { name: 'Category' }).fill('Cats')
  await page.getByRole('option', { name: 'Cats' }).click()
  expect(await accessibilityFaults(page)).toEqual([])
  await changing.getByRole('button', { name: 'Change 4 pets' }).click()
  await page.getByText('4 pets are in Cats now.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone: 4 pets are as before.').waitFor()
  await rowOf(page, 'Elara').waitFor()
  expect(await bar(page).count()).toBe(0)

  // Bianca is held for a customer.
  await select(page, 'Ananke').check()
  await bar(page).getByRole('button', { name: 'Select all loaded' }).click()
  await bar(page).getByText('5 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Change status' }).click()
  await page.getByRole('button', { name: 'Change 5 pets' }).click()
  const result = page.getByRole('dialog')
  await result.getByText('1 pet could not be changed').waitFor()
  await result.getByText(/Bianca.*held for a customer/).waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await result.getByRole('button', { name: 'Close', exact: true }).last().click()
  await bar(page).getByText('1 selected').waitFor()

  await bar(page).getByRole('button', { name: 'Select all loaded' }).click()
  await bar(page).getByRole('button', { name: 'Sell' }).click()
  const selling = page.getByRole('dialog', { name: 'Sell 5 pets' })
  await selling.getByText('Total €1,250.00').waitFor()
  await selling.getByLabel('Price of Ananke').fill('200')
  await selling.getByLabel('Buyer').fill('Ms Okafor')
  await selling.getByText('Total €1,200.00').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  const sell = selling.getByRole('button', { name: 'Sell 5 pets for €1,200.00' })
  await sell.click()
  await selling.getByText('Choose how they are paid.').waitFor()
  await selling.getByRole('radio', { name: 'Transfer' }).click()
  await sell.click()
  await page.getByText('Sold 5 pets for €1,200.00.').waitFor()
  expect(await other.orders.get(order.id)).toMatchObject({
    status: 'completed',
    price: '250.00',
    note: 'Mr Abe',
  })
  const { items: sales } = await other.orders.list({ status: 'completed' }).page()
  expect(sales.map(({ price, note }) => `${price} ${note}`).sort()).toEqual(
    ['200.00 Ms Okafor', ...Array.from({ length: 3 }, () => '250.00 Ms Okafor'), '250.00 Mr Abe'].sort(),
  )
  const entries = (await other.till.entries().page()).items.filter(({ kind }) => kind === 'sale')
  expect(entries.map(({ method }) => method)).toEqual(Array.from({ length: 5 }, () => 'transfer'))
  expect(faults).toEqual([])
  await page.context().close()
})

test('imports 1,000 rows of which 20 are wrong, and continues after a lost connection', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) =>
    index % 50 === 7 ? `,3,129.00` : `Imported ${index},${index === 500 ? 99 : 3},129.00`,
  )
  const file = {
    name: 'litter.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`name,categoryId,price\n${lines.join('\n')}\n`),
  }
  const { page, faults } = await signIn('/')
  await page.getByRole('link', { name: 'Import' }).click()
  await page.getByRole('heading', { name: 'Import pets' }).waitFor()
  await page.getByLabel('CSV file').setInputFiles(file)
  await page.getByText('980 pets can be imported. 20 rows cannot').waitFor()
  const rejected = page.getByRole('region', { name: 'Rejected rows' })
  await rejected.getByText('Line 9', { exact: true }).waitFor()
  await rejected.getByText(',3,129.00').first().waitFor()
  await page.getByText('no category has the number 99 (line 502).').waitFor()
  expect(await rejected.getByRole('listitem').count()).toBe(20)
  expect(await accessibilityFaults(page)).toEqual([])

  // The response to the fourth batch is lost, and then there is no connection.
  let batches = 0
  await page.route('**/v1/pet-changes', async (route) => {
    batches += 1
    if (batches === 4) await route.fetch()
    return batches < 4 ? route.continue() : route.abort('connectionreset')
  })
  await page.getByRole('button', { name: 'Import 980 pets' }).click()
  await page.getByText('The import has stopped').waitFor()
  await page.getByText('300 of 1,000 rows done').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  expect(await countFish()).toBe(392)

  await page.unroute('**/v1/pet-changes')
  await page.reload()
  await page.getByLabel('CSV file').setInputFiles(file)
  await page.getByText('Part of this file is imported already').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('980 pets added').waitFor()
  expect(await countFish()).toBe(979)
  expect(await accessibilityFaults(page)).toEqual([])

  const downloaded = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download rejected rows' }).click()
  const csv = await readFile(await (await downloaded).path(), 'utf8')
  expect(csv.split('\r\n').slice(1, 3)).toEqual([
    '9,name is missing.,,3,,129.00,",3,129.00"',
    '59,name is missing.,,3,,129.00,",3,129.00"',
  ])
  expect(csv.split('\r\n')).toHaveLength(22)

  // The whole file, corrected, instead of the rejected rows.
  const corrected = { ...file, buffer: Buffer.from(String(file.buffer).replaceAll('\n,3', '\nFound,3')) }
  await page.getByLabel('CSV file').setInputFiles(corrected)
  await page.getByText('1,000 pets can be imported.').waitFor()
  await page.getByText('This browser added 980 pets from it').waitFor()
  await page.getByLabel('CSV file').setInputFiles(file)
  await page.getByText('This file was imported before').waitFor()
  await page.getByRole('link', { name: 'Show the pets' }).click()
  await rowOf(page, 'Imported 999').getByText('€129.00').waitFor()
  // The browser reports the connections that this test has cut.
  expect(faults.filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([])
  await page.context().close()
})

test('with another key, asks before it sends rows again whose response was lost, and warns in another browser', async () => {
  const rows = ['Hestia', 'Iris', 'Jocasta']
  const buffer = Buffer.from(`name,categoryId\n${rows.map((name) => `${name},5`).join('\n')}\n`)
  const file = { name: 'key.csv', mimeType: 'text/csv', buffer }
  const added = async () => (await other.pets.list({ categoryId: 5 }).page()).items.length
  const { page } = await signIn('/import')
  await page.route('**/v1/pet-changes', async (route) => {
    await route.fetch()
    await route.abort('connectionreset')
  })
  await page.getByLabel('CSV file').setInputFiles(file)
  await page.getByRole('button', { name: 'Import 3 pets' }).click()
  await page.getByText('The import has stopped').waitFor()
  expect(await added()).toBe(3)

  await page.unroute('**/v1/pet-changes')
  await page.evaluate(() => sessionStorage.clear())
  await page.goto(`${service.origin}/import`)
  await enterKey(page, await issueKey('Bo'))
  await page.getByLabel('CSV file').setInputFiles(file)
  await page.getByText('3 pets of this file, from Hestia (line 2) to Jocasta (line 4)').waitFor()
  expect(await page.getByRole('button', { name: /^(Continue|Import 3 pets)$/ }).count()).toBe(0)
  expect(await accessibilityFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'They are in the list: skip them' }).click()
  await page.getByRole('link', { name: 'Show the pets' }).waitFor()
  expect(await added()).toBe(3)
  await page.context().close()

  const another = (await signIn('/import')).page
  await another.getByLabel('CSV file').setInputFiles(file)
  await another.getByText('These pets seem to be in the list already').waitFor()
  expect(await accessibilityFaults(another)).toEqual([])
  await another.context().close()
})

test('exports the pets of the list to a file, and says how many', async () => {
  await addPets(['Io', 'Leda'], 4, '80.00')
  const { page, faults } = await signIn('/?category=4')
  await rowOf(page, 'Leda').waitFor()
  await page.getByRole('button', { name: 'Export' }).click()
  const dialog = page.getByRole('dialog', { name: 'Export pets' })
  await dialog.getByText(/^The file has 2 pets of the list \(.+\) with their prices/).waitFor()
  await dialog.getByText('For spreadsheets').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  const downloaded = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Export' }).click()
  await dialog.getByText('2 pets exported').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  const download = await downloaded
  expect(download.suggestedFilename()).toMatch(/^pets-\d{4}-\d\d-\d\d\.csv$/)
  const [header, leda, io] = (await readFile(await download.path(), 'utf8')).split('\n')
  expect(header).toMatch(/^\uFEFFid,name,categoryId,status,price,/)
  expect([leda, io]).toEqual([
    expect.stringContaining(',Leda,4,available,80.00,EUR,'),
    expect.stringContaining(',Io,4,available,80.00,EUR,'),
  ])
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  expect(faults).toEqual([])
  await page.context().close()
})

// The till in the console, in Chromium: a day with sales, returns and mistakes, its cash, its closing, its file and its receipts.
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Order, Petstore } from '../../client/src/petstore.ts'
import { addAmounts } from '../../console/src/profile/price.ts'
import { accessibilityFaults } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { untilAfterMidnight } from '../support/one-day.ts'
import { CATEGORIES } from '../../src/data/demo/demo-pets.ts'
import { upsertCategories } from '../../src/store/categories/queries.ts'

const { service, signIn, issueKey } = await startConsole(async (db) => upsertCategories(db, CATEGORIES))
const clientOf = async (name: string) =>
  new Petstore({ baseUrl: `${service.origin}/v1`, apiKey: await issueKey(name) })
const [kim, sam] = await Promise.all(['Kim Keeper', 'Sam Staff'].map(clientOf))
if (kim === undefined || sam === undefined) throw new Error('no keys')

type Method = 'cash' | 'card' | 'transfer' | 'other'

async function sell(
  seller: Petstore,
  name: string,
  sale: { categoryId?: number; price: string; method: Method; deposit?: string },
): Promise<Order> {
  const { id: petId } = await seller.pets.create({ name, categoryId: sale.categoryId ?? 1 })
  const { price, method, deposit } = sale
  const order = await seller.orders.place({
    petId,
    price,
    ...(deposit !== undefined && { deposit, method: 'cash' }),
  })
  return seller.orders.complete(order.id, { method })
}

/** Three mistakes of a day, which ends with 1,600.00 and 2 sales. */
async function dayWithMistakes(): Promise<Order> {
  const wrongPrice = await sell(kim as Petstore, 'Amara', { price: '45.00', method: 'cash' })
  await kim?.orders.correct(wrongPrice.id, { price: '450.00', reason: 'wrong_price' })
  const wrongPet = await sell(sam as Petstore, 'Bruno', { price: '13.00', method: 'cash', categoryId: 2 })
  for await (const entry of (sam as Petstore).till.entries({ orderId: wrongPet.id }))
    await sam?.till.void(entry.id)
  const back = await sell(sam as Petstore, 'Coco', { price: '45.00', method: 'card', categoryId: 2 })
  await kim?.orders.refund(back.id, { amount: '45.00', takeBack: true, reason: 'ill' })
  return sell(kim as Petstore, 'Dana', { price: '1150.00', method: 'card', categoryId: 3, deposit: '100.00' })
}

/** The texts of the sums in a part of the page, as amounts. */
async function sumsIn(page: Page, part: string): Promise<string> {
  const texts = await page.locator(part).allTextContents()
  return addAmounts(texts.map((text) => text.replace('€', '').replace('−', '-').replaceAll(',', '')))
}

const totalOf = (page: Page, label: string) =>
  page.locator('.net dl > div').filter({ hasText: label }).getByRole('definition').textContent()

test('a day with a wrong price, a return and an undone sale: every part of the page adds up to the net', async () => {
  await untilAfterMidnight()
  const dana = await dayWithMistakes()
  const { page, faults } = await signIn('/')
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await expect.poll(() => page.locator('.net-sum').allTextContents()).toEqual(['€1,600.00'])
  expect(await totalOf(page, '2 sales, net')).toBe('€1,600.00')
  expect(await totalOf(page, 'Refunds, 1 return')).toBe('−€45.00')
  expect(await totalOf(page, 'Undone')).toBe('−€13.00')
  expect(await totalOf(page, 'In the drawer')).toBe('€550.00')
  await page.getByRole('listitem').filter({ hasText: 'Amara' }).first().waitFor()
  for (const part of [0, 1, 2])
    expect(await sumsIn(page, `.breakdown section >> nth=${part} >> .till-sum`)).toBe('1600.00')
  expect(await sumsIn(page, '.entry-row > .amount > .till-sum')).toBe('1600.00')
  expect(await page.locator('.entry-row[data-voided] .name a').allTextContents()).toEqual(['Bruno'])
  expect(await accessibilityFaults(page)).toEqual([])

  const downloaded = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  const csv = await readFile(await (await downloaded).path(), 'utf8')
  const rows = csv
    .trim()
    .split('\r\n')
    .slice(1)
    .map((row) => row.split(','))
  expect(addAmounts(rows.map((row) => row[14] ?? ''))).toBe('1600.00')
  expect(rows.map((row) => [row[3], row[6], row[14]])).toContainEqual(['refund', 'Coco', '-45.00'])

  await page.goto(`${service.origin}/receipt/${dana.id}?original=true`)
  await page.getByRole('heading', { name: `Receipt ${dana.id}` }).waitFor()
  expect(await page.locator('.bill tr').allTextContents()).toEqual([
    expect.stringContaining('€1,150.00'),
    expect.stringMatching(/^Deposit of .*, in cash−€100\.00$/),
    'Paid by card€1,050.00',
  ])
  await page.getByText('This is not a tax invoice.').waitFor()
  expect(await page.getByText('COPY').count()).toBe(0)
  expect(await accessibilityFaults(page)).toEqual([])
  await page.reload()
  await page.getByText('COPY').waitFor()
  expect(faults).toEqual([])
  await page.context().close()
})

test('cash goes out, the day is closed with a difference, and then stays closed', async () => {
  await untilAfterMidnight()
  const { page, faults } = await signIn('/till')
  const before = (await sam?.till.totals())?.drawer?.expected ?? ''
  await page.getByRole('button', { name: /^Cash in or out/ }).click()
  const cash = page.getByRole('dialog', { name: /^Cash in or out/ })
  await cash.getByRole('textbox', { name: 'Amount' }).fill('24,50')
  await cash.getByRole('button', { name: 'Stamps' }).click()
  expect(await accessibilityFaults(page)).toEqual([])
  await cash.getByRole('button', { name: 'Take out €24.50' }).click()
  await cash.waitFor({ state: 'detached' })
  await page.getByRole('listitem').filter({ hasText: 'Cash drawer' }).getByText('−€24.50').waitFor()
  const expected = addAmounts([before, '-24.50'])
  expect((await sam?.till.totals())?.drawer?.expected).toBe(expected)

  await page.getByRole('button', { name: 'Close the day' }).click()
  const closing = page.getByRole('dialog', { name: /^Close / })
  await closing.getByRole('textbox', { name: '€100', exact: true }).fill('5')
  await page.keyboard.press('Enter')
  await page.keyboard.type('1')
  expect(await closing.getByRole('textbox', { name: '€50', exact: true }).inputValue()).toBe('1')
  await closing.getByRole('textbox', { name: 'Other cash' }).fill('0')
  await closing.getByRole('textbox', { name: 'Stays in the drawer' }).fill('600')
  await closing.getByText('This is more than you counted.').waitFor()
  await closing.getByRole('textbox', { name: 'Stays in the drawer' }).fill('200')
  const close = closing.getByRole('button', { name: 'Close the day' })
  await close.click()
  await closing.getByText('Say what happened').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await closing.getByRole('textbox', { name: 'What happened?' }).fill('Change given, not sure')
  await close.click()
  await closing.waitFor({ state: 'detached' })
  await page.getByText('Closed by Ada').waitFor()
  expect(await page.getByRole('button', { name: 'Close the day' }).count()).toBe(0)

  const [made] = (await sam?.till.closings().page())?.items ?? []
  expect(made).toMatchObject({ counted: '550.00', kept: '200.00', expected, note: 'Change given, not sure' })
  await page.getByRole('button', { name: 'Closed days' }).click()
  await page.getByRole('dialog', { name: 'Closed days' }).getByText('Change given, not sure').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  expect(faults).toEqual([])
  await page.context().close()
})

test('a key without till:write sees the till, and changes nothing', async () => {
  const apiKey = await issueKey('Cashier', ['pets:read', 'orders:read', 'orders:write', 'events:read'])
  const { page } = await signIn('/till', { apiKey })
  await page.getByRole('button', { name: 'Closed days' }).waitFor()
  await page.getByRole('button', { name: 'Day before' }).click()
  await page.getByText('No entries on these days').waitFor()
  expect(await page.getByRole('button', { name: /Cash in or out|Close the day/ }).count()).toBe(0)
  await page.context().close()
})

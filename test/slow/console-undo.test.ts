// Undoing changes in the console, in Chromium, and where a pet can be deleted.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { Petstore } from '../../client/src/petstore.ts'
import { addDemoPets } from '../support/demo-pets.ts'
import {
  addPet,
  confirmSale,
  hold,
  KEEP_MESSAGES,
  rowOf,
  sellHeld,
  startConsole,
} from '../support/console.ts'

const { service, signIn, issueKey } = await startConsole(addDemoPets)
const other = new Petstore({ baseUrl: `${service.origin}/v1`, apiKey: await issueKey('Bo') })

async function openList(): Promise<Page> {
  const { page } = await signIn('/', { initScript: KEEP_MESSAGES })
  await page.getByRole('listitem').first().waitFor()
  return page
}

/** The number of the pet in the list. */
async function idOf(page: Page, name: string): Promise<string> {
  const text = await rowOf(page, name).textContent()
  return /No\. (\d+)/.exec(text ?? '')?.[1] ?? ''
}

// A message names the day too if the time is not today: with `.*` before the time, the tests pass at every time of the day.
const undoButtons = (page: Page) => page.getByRole('button', { name: 'Undo' })

/** Undoes the newest change. The message that it replaces is visible until it has faded out. */
async function undo(page: Page): Promise<void> {
  await expect.poll(() => undoButtons(page).count()).toBe(1)
  await undoButtons(page).click()
}

test('a pet has one message with one Undo, and a successful undo is confirmed', async () => {
  const page = await openList()
  await addPet(page, 'Araminta')
  await hold(page, 'Araminta', 'Ms Li')
  await page.getByText('Araminta is on hold until').waitFor()
  await sellHeld(page, 'Araminta')
  await page.getByText('Araminta is sold.').waitFor()
  await undo(page)
  const undone = /^Undone: Araminta is on hold again until .*\d\d:\d\d\.$/
  await page.getByText(undone).waitFor()
  await rowOf(page, 'Araminta')
    .getByText(/^until /)
    .waitFor()
  await expect.poll(() => undoButtons(page).count()).toBe(0)
  await page.context().close()
})

test('a cashier sells, undoes the sale on the page of the pet, and cannot correct or take back', async () => {
  const { id } = await other.pets.create({ name: 'Basil', categoryId: 1 })
  await other.pets.setProfile(id, { price: '129.00' })
  const apiKey = await issueKey('Cas', ['pets:read', 'orders:read', 'orders:write', 'events:read'])
  const { page, faults } = await signIn(`/pets/${id}`, { apiKey, initScript: KEEP_MESSAGES })
  const sell = async () => {
    await page.getByRole('button', { name: 'Sell for €129.00' }).click()
    await confirmSale(page, 'Basil', { method: 'Cash' })
    await page.getByText('Basil is sold for €129.00.').waitFor()
  }
  await sell()
  await page.getByText('you need the permission till:write').waitFor()
  expect(await page.getByRole('button', { name: /^(Correct price|Take back|Edit)/ }).count()).toBe(0)
  await page.getByRole('button', { name: 'Undo sale' }).click()
  await page.getByText('Undone: Basil is available again. Give back €129.00.').waitFor()
  await page.getByText('Sale undone').waitFor()
  await page.locator('.struck', { hasText: 'Sold for €129.00, paid in cash' }).waitFor()

  await sell()
  await page.getByRole('button', { name: 'Undo', exact: true }).last().click()
  await page.getByText('Undone: Basil is available again.', { exact: true }).waitFor()
  const { items } = await other.till.entries({ petId: id }).page()
  expect(items.map(({ kind, paid, actor }) => [kind, paid, actor])).toEqual([
    ['void', '-129.00', 'Cas'],
    ['sale', '129.00', 'Cas'],
    ['void', '-129.00', 'Cas'],
    ['sale', '129.00', 'Cas'],
  ])

  // Somebody else has sold it.
  const order = await other.orders.place({ petId: id })
  await other.orders.complete(order.id, { method: 'card' })
  await page.getByText('Sold on').waitFor()
  expect(await page.getByRole('button', { name: 'Undo sale' }).count()).toBe(0)
  expect(faults).toEqual([])
  await page.context().close()
})

test('a message stays while the keyboard focus is in it', async () => {
  const page = await openList()
  await addPet(page, 'Zenobia')
  const closing = () => page.evaluate('closing.size')
  // A message stays under the mouse as well.
  await page.mouse.move(0, 0)
  await expect.poll(closing).toBe(1)
  await undoButtons(page).focus()
  await expect.poll(closing).toBe(0)
  await undoButtons(page).blur()
  await expect.poll(closing).toBe(1)
  await page.context().close()
})

test('the newest message is visible at once, also if there are three others', async () => {
  const page = await openList()
  for (const name of ['Bertha', 'Cosima', 'Dorothea', 'Ermengarde']) await addPet(page, name)
  await page.getByText('Added Ermengarde.').waitFor()
  await expect.poll(() => undoButtons(page).count()).toBe(3)
  expect(await page.getByText('Added Bertha.').count()).toBe(0)
  await page.context().close()
})

test('says what has happened to the pet if a change can no longer be undone', async () => {
  const page = await openList()
  await addPet(page, 'Orla')
  const order = await other.orders.place({ petId: await idOf(page, 'Orla'), holdMinutes: 5 })
  await other.orders.complete(order.id)
  await undo(page)
  await page.getByText(/^This can no longer be undone: the pet was sold at .*\d\d:\d\d\.$/).waitFor()
  expect(await page.getByText('another person', { exact: false }).count()).toBe(0)

  await addPet(page, 'Perpetua')
  await hold(page, 'Perpetua', '')
  const held = await idOf(page, 'Perpetua')
  const [open] = (await other.orders.list({ petId: held, status: 'open' }).page()).items
  await other.orders.complete(open?.id ?? '')
  await undo(page)
  const message = page.getByRole('alert').filter({ hasText: 'Perpetua' })
  await message.getByText(/^This can no longer be undone: the pet was sold at .*\d\d:\d\d\.$/).waitFor()
  await page.context().close()
})

test('confirms that an added and a changed pet are as before', async () => {
  const page = await openList()
  await addPet(page, 'Quentin')
  await undo(page)
  await page.getByText('Undone: Quentin is removed.').waitFor()
  await expect.poll(() => rowOf(page, 'Quentin').count()).toBe(0)
  await addPet(page, 'Rowena')
  await rowOf(page, 'Rowena').getByRole('link').click()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Rowena II')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved Rowena II.').waitFor()
  await undo(page)
  await page.getByText('Undone: Rowena is as it was before.').waitFor()
  await page.getByRole('heading', { name: 'Rowena', exact: true }).waitFor()
  await page.context().close()
})

test.each([1440, 390])('Edit stays in its place when Delete appears (%i px)', async (width) => {
  const { id } = await other.pets.create({ name: 'Still', categoryId: 1 })
  const { page } = await signIn('/', { width })
  const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>()
  await page.route(/\/v1\/store\/orders\?petId=/, async (route) => {
    await isAnswered
    await route.continue()
  })
  await page.goto(`${service.origin}/pets/${id}`)
  const place = async () => {
    const box = await page.getByRole('button', { name: 'Edit' }).boundingBox()
    return [box?.x, box?.width]
  }
  await page.getByText('added the pet').waitFor()
  const before = await place()
  answer()
  await page.getByRole('button', { name: /^More for/ }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
  expect(await place()).toEqual(before)
  await page.context().close()
})

test('Delete is offered only for a pet that was never held or sold', async () => {
  const page = await openList()
  const [fresh, released, sold] = await Promise.all(
    ['Fresh', 'Released', 'Bought'].map((name) => other.pets.create({ name, categoryId: 1 })),
  )
  await other.orders.cancel((await other.orders.place({ petId: released?.id ?? '' })).id)
  await other.orders.complete((await other.orders.place({ petId: sold?.id ?? '' })).id)
  const remove = page.getByRole('menuitem', { name: 'Delete' })
  const more = page.getByRole('button', { name: /^More for/ })
  for (const pet of [released, sold]) {
    // With the status, the page asks for the open order.
    const known = page.waitForResponse((response) => {
      const { pathname, searchParams } = new URL(response.url())
      return pathname === '/v1/store/orders' && !searchParams.has('status')
    })
    await page.goto(`${service.origin}/pets/${pet?.id}`)
    await known
    await page.getByText('added the pet').waitFor()
    await more.click()
    await page.getByRole('menuitem', { name: 'Print a card' }).waitFor()
    expect([pet?.name, await remove.count()]).toEqual([pet?.name, 0])
  }
  await page.goto(`${service.origin}/pets/${fresh?.id}`)
  await more.click()
  await remove.waitFor()
  // From the moment at which another person holds the pet, it cannot be deleted any more.
  await other.orders.place({ petId: fresh?.id ?? '' })
  await remove.waitFor({ state: 'detached' })
  await page.context().close()
})

// The console in Chromium, served by a service of its own with a database of its own.
import type { Browser, Page } from 'playwright-core'
import { SCOPES, type Scope } from '../../src/contract/scopes.ts'
import type { Db } from '../../src/db/database.ts'
import { issueApiKey } from './app.ts'
import { type Look, openBrowser, type Visit, visit } from './browser.ts'
import { createTestDatabase, openTestDatabase } from './database.ts'
import { type Service, startService } from './service.ts'

export interface Console {
  databaseUrl: string
  db: Db
  service: Service
  browser: Browser
  /** Creates an API key with a name. Default: all scopes. */
  issueKey: (name: string, scopes?: readonly Scope[]) => Promise<string>
  /** Opens a page in a browser context of its own and signs in, with a new key unless one is given. */
  signIn: (path: string, options?: SignInOptions) => Promise<Visit>
}

export interface SignInOptions extends Look {
  apiKey?: string
  name?: string
}

/**
 * Messages disappear after ten seconds. With this `initScript` they stay, so that a slow host can undo a change too. The page
 * then has a set `closing`, with one item for each message that would disappear.
 */
export const KEEP_MESSAGES = `{
  const { setTimeout: start, clearTimeout: end } = window
  window.closing = new Set()
  window.setTimeout = (work, ms, ...values) => {
    if (ms !== 10_000) return start(work, ms, ...values)
    const id = -Math.random()
    closing.add(id)
    return id
  }
  window.clearTimeout = (id) => closing.delete(id) || end(id)
}`

export async function startConsole(
  prepare: (db: Db) => Promise<unknown>,
  environment: Record<string, string> = {},
): Promise<Console> {
  const databaseUrl = await createTestDatabase()
  const db = openTestDatabase(databaseUrl)
  await prepare(db)
  const service = await startService({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'error', ...environment })
  const browser = await openBrowser()
  const issueKey = async (name: string, scopes: readonly Scope[] = SCOPES) =>
    (await issueApiKey(db, { name, scopes })).text
  return {
    databaseUrl,
    db,
    service,
    browser,
    issueKey,
    signIn: async (path, { apiKey, name = 'Ada', ...look } = {}) => {
      const opened = await visit(browser, service.origin + path, look)
      await enterKey(opened.page, apiKey ?? (await issueKey(name)))
      return opened
    },
  }
}

/** Types the key into the sign-in page, and waits for the navigation of the console. */
export async function enterKey(page: Page, apiKey: string): Promise<void> {
  await page.getByLabel('API key').fill(apiKey)
  await page.keyboard.press('Enter')
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor({ state: 'detached' })
}

/** The button of the account, which names the person or the key. */
export function accountOf(page: Page, name: string) {
  return page.getByRole('button', { name: `Account of ${name}` })
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
}

/** Chooses what the menu of a pet offers, in the list or on its page. */
export async function chooseMore(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `More for ${name}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

/** The row of a pet in the list. */
export function rowOf(page: Page, name: string) {
  return page.getByRole('listitem').filter({ hasText: name })
}

/** Adds a pet on the page with the list. */
export async function addPet(page: Page, name: string, category = 'Dogs'): Promise<void> {
  await page.getByRole('button', { name: 'Add a pet' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a pet' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
  await dialog.getByRole('combobox', { name: 'Category' }).fill(category)
  await page.getByRole('option', { name: category }).click()
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await rowOf(page, name).waitFor()
}

/** Holds a pet of the list. */
export async function hold(page: Page, name: string, note: string): Promise<void> {
  await rowOf(page, name)
    .getByRole('button', { name: `Hold ${name}` })
    .click()
  const dialog = page.getByRole('dialog', { name: `Hold ${name}` })
  await dialog.getByLabel('Note').fill(note)
  await dialog.getByRole('button', { name: 'Hold', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Sells a pet that is on hold, in the list. */
export async function sellHeld(page: Page, name: string): Promise<void> {
  await rowOf(page, name)
    .getByRole('button', { name: `Sell ${name}` })
    .click()
  await confirmSale(page, name)
}

interface SaleDetails {
  price?: string
  note?: string
  discount?: string
  /** Default: Card. A sale without an amount due has no payment. */
  method?: 'Cash' | 'Card' | 'Transfer' | 'Other'
}

/** Confirms the dialog of a sale, with another price and a buyer if they are given. */
export async function confirmSale(page: Page, name: string, details: SaleDetails = {}): Promise<void> {
  const { price, note, discount, method = 'Card' } = details
  const dialog = page.getByRole('dialog', { name: `Sell ${name}` })
  if (price !== undefined) await dialog.getByLabel('Price').fill(price)
  if (note !== undefined) await dialog.getByLabel('Buyer').fill(note)
  if (discount !== undefined) await dialog.getByLabel('Discount').fill(discount)
  // Until the price of the pet is known, the button is disabled.
  await dialog.getByRole('button', { name: /^Sell/ }).and(page.locator(':enabled')).waitFor()
  const radio = dialog.getByRole('radio', { name: method })
  if ((await radio.count()) > 0) await radio.click()
  await dialog.getByRole('button', { name: /^Sell/ }).click()
  await dialog.waitFor({ state: 'detached' })
}

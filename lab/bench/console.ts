// `node lab/bench/console.ts`: measures what shop staff notice at 5 million pets: the requests of the console, how soon its
// first list is visible, and the longest task of the browser while it scrolls through 50 pages. Needs Chromium.
import { chromium, type Page } from 'playwright-core'
import { parseArgs } from 'node:util'
import { buildConsole } from '../../dev/console.ts'
import { print, say, table } from '../../src/cli/terminal/terminal.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { quantile } from '../parts/quantile.ts'
import { startService, startStore } from './setup.ts'
import { anyChipNumber, loadShop, SALES } from './shop.ts'

const { values: options } = parseArgs({
  options: {
    pets: { type: 'string', default: '5000000' },
    seconds: { type: 'string', default: '5' },
    data: { type: 'string' },
    /** As many requests at once as a busy shop has people. */
    clients: { type: 'string', default: '8' },
  },
})
const pets = Number(options.pets)
const seconds = Number(options.seconds)
const clients = Number(options.clients)
const PAGES = 50
const PAGE_SIZE = 50
/** Three times the step of a mouse wheel. */
const WHEEL_PX = 300

const SORTED = ['', '&status=available', '&status=sold']

const upTo = (max: number) => 1 + Math.floor(Math.random() * max)
const oneOf = <Item>(items: readonly Item[]) => items[Math.floor(Math.random() * items.length)] as Item
const digits = () => String(upTo(9_999))
const soldPet = () => 4 * upTo(SALES) - 1
const recent = () => {
  const from = new Date(Date.now() - upTo(80) * 86_400_000)
  return `closedFrom=${from.toISOString()}&closedTo=${new Date(from.getTime() + 86_400_000).toISOString()}`
}
/** What each page reads. */
const REQUESTS: Record<string, () => string> = {
  'list, first page': () => '/pets?limit=50',
  'list, random page': () => `/pets?limit=50&status=available&categoryId=${upTo(1_000)}`,
  'list by name': () => `/pets?limit=50&sort=name${oneOf(SORTED)}`,
  'search by word': () => `/pets?limit=50&word=${digits()}`,
  'search by word, available': () => `/pets?limit=50&status=available&word=pet%20${digits()}`,
  'search by word, all pets match': () => '/pets?limit=50&status=pending&word=pet',
  'search by word, no match': () => `/pets?limit=50&status=sold&word=x${digits()}`,
  'find by number': () => `/pets?id=${upTo(pets)}`,
  'find by chip number': () => `/pet-profiles?chipNumber=${anyChipNumber(pets)}`,
  'profiles of a page': () => {
    const first = upTo(pets - PAGE_SIZE)
    return `/pet-profiles?${Array.from({ length: PAGE_SIZE }, (_, number) => `petId=${first + number}`).join('&')}`
  },
  'a pet': () => `/pets/${upTo(pets)}`,
  'history of a pet': () => `/pets/${soldPet()}/history?limit=20`,
  'order of a pet': () => `/store/orders?petId=${soldPet()}&status=completed&limit=1`,
  'open holds': () => '/store/orders?status=open&sort=expiresAt&limit=100',
  'sales of a day': () => `/store/orders?status=completed&sort=closedAt&limit=50&${recent()}`,
  inventory: () => '/store/inventory',
  categories: () => '/categories?limit=100',
  'figures of 30 days': () => '/store/figures?days=30&timeZone=Europe/Berlin',
  'figures of 90 days': () => '/store/figures?days=90&timeZone=Europe/Berlin',
  webhooks: () => '/webhooks?limit=100',
  'deliveries of a webhook': () => `/webhooks/${upTo(10)}/deliveries?limit=20`,
  'failed deliveries of a webhook': () => `/webhooks/${upTo(10)}/deliveries?limit=20&outcome=failed`,
  'API keys': () => '/api-keys?limit=100',
}

async function measureRequests(base: string, apiKey: string, path: () => string): Promise<number[]> {
  const times: number[] = []
  const until = performance.now() + seconds * 1_000
  const client = async () => {
    while (performance.now() < until) {
      const startedAt = performance.now()
      const response = await fetch(`${base}/v1${path()}`, { headers: { authorization: `Bearer ${apiKey}` } })
      await response.arrayBuffer()
      if (!response.ok) throw new Error(`${path()} returned ${response.status}`)
      times.push(performance.now() - startedAt)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return times
}

async function measurePage(page: Page, base: string, apiKey: string): Promise<Record<string, number>> {
  await page.goto(base)
  await page.getByLabel('API key').fill(apiKey)
  await page.keyboard.press('Enter')
  const firstRow = page.getByRole('listitem').first()
  await firstRow.waitFor()
  await page.reload()
  await firstRow.waitFor()
  const firstListMs = await page.evaluate<number>('performance.now()')
  await page.evaluate(`globalThis.tasks = [];
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' })`)
  const lastShown = () =>
    page.evaluate<number>(`Math.max(...[...document.querySelectorAll('[aria-posinset]')]
      .map((row) => Number(row.getAttribute('aria-posinset'))))`)
  while ((await lastShown()) < PAGES * PAGE_SIZE) await page.mouse.wheel(0, WHEEL_PX)
  const tasks = await page.evaluate<number[]>('tasks')
  return { firstListMs, longTasks: tasks.length, longestTaskMs: Math.max(0, ...tasks) }
}

await buildConsole()
const store = await startStore(pets, { keptIn: options.data, scopes: SCOPES })
await loadShop(store.databaseUrl, pets)
const service = await startService(store.databaseUrl)
const rows: string[][] = []
for (const [name, path] of Object.entries(REQUESTS)) {
  say(name)
  await measureRequests(service.origin, store.apiKey, path)
  const times = await measureRequests(service.origin, store.apiKey, path)
  rows.push([name, ...[0.5, 0.99].map((share) => quantile(times, share).toFixed(1)), String(times.length)])
}
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox'],
})
const figures = await measurePage(await browser.newPage(), service.origin, store.apiKey)
await browser.close()
await service.stop()
await store.close()
print(table([['request', 'p50 ms', 'p99 ms', 'requests'], ...rows]))
print(
  Object.entries(figures)
    .map(([name, value]) => `${name} ${Math.round(value)}`)
    .join(', '),
)

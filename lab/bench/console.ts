// `node lab/bench/console.ts`: measures what shop staff notice at 5 million pets: the requests of the console, how soon its
// first list is visible, and the longest task of the browser while it scrolls through 50 pages. Needs Chromium.
import { chromium, type Page } from 'playwright-core'
import { parseArgs } from 'node:util'
import { buildConsole } from '../../dev/console.ts'
import { print, say, table } from '../../src/cli/terminal/terminal.ts'
import { quantile } from '../parts/quantile.ts'
import { startService, startStore } from './setup.ts'

const { values: options } = parseArgs({
  options: {
    pets: { type: 'string', default: '5000000' },
    seconds: { type: 'string', default: '5' },
    data: { type: 'string' },
  },
})
const pets = Number(options.pets)
const seconds = Number(options.seconds)
/** As many requests at once as a busy shop has people. */
const CLIENTS = 8
const PAGES = 50
const PAGE_SIZE = 50
/** Three times the step of a mouse wheel. */
const WHEEL_PX = 300

const digits = () => String(1 + Math.floor(Math.random() * 9_999))
const REQUESTS: Record<string, () => string> = {
  'list, first page': () => '/pets?limit=50',
  'list, random page': () =>
    `/pets?limit=50&status=available&categoryId=${1 + Math.floor(Math.random() * 1_000)}`,
  'search by name': () => `/pets?limit=50&name=pet%20${digits()}`,
  'search by name, available': () => `/pets?limit=50&status=available&name=pet%20${digits()}`,
  'search by name, all pets match': () => '/pets?limit=50&status=pending&name=pet',
  'search by name, no match': () => `/pets?limit=50&status=sold&name=x${digits()}`,
  'find by number': () => `/pets?id=${1 + Math.floor(Math.random() * pets)}`,
  inventory: () => '/store/inventory',
  'figures of 30 days': () => '/store/figures?days=30&timeZone=Europe/Berlin',
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
  await Promise.all(Array.from({ length: CLIENTS }, client))
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
const store = await startStore(pets, { keptIn: options.data })
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

// `node dev/pictures.ts`: makes the pictures of the console in docs/pictures, from a demo shop of its own.
import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { isReady } from '../src/cli/demo.ts'
import { environmentWith } from '../src/config/config.ts'
import { freePort } from '../src/data/demo/cluster.ts'

const ROOT = resolve(import.meta.dirname, '..')
const PICTURES = join(ROOT, 'docs/pictures')
const CHROMIUM = '/usr/bin/chromium-headless-shell'
const READY_WITHIN_MS = 120_000

const PHONE = { width: 390, height: 844 }
const DESKTOP = { width: 1280, height: 800 }

/** Each in the light and in the dark look. */
const PAGES = [
  { name: 'console', size: DESKTOP, open: async () => {} },
  { name: 'console-phone', size: PHONE, open: async () => {} },
  {
    name: 'pet',
    size: DESKTOP,
    open: async (page: Page) => {
      await page.locator('.list-row[data-status="pending"] .name a').first().click()
      await page.locator('.history > li').first().waitFor()
    },
  },
]

async function makePictures(): Promise<void> {
  // The user of PostgreSQL must reach it, so it is not in the folder of this user.
  const folder = `/var/tmp/petstore-pictures-${process.pid}`
  const [port, adminPort] = [String(await freePort()), String(await freePort())]
  const shop = spawn(process.execPath, ['dev/dev.ts', '--no-watch', '--data', folder], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: environmentWith({ PORT: port, ADMIN_PORT: adminPort }),
  })
  const stopped = new Promise((done) => shop.once('exit', done))
  try {
    if (!(await isReady(adminPort, new AbortController().signal, READY_WITHIN_MS)))
      throw new Error('The demo shop did not start. Start it with `npm run dev` to see why.')
    await takeAll(`http://127.0.0.1:${port}`, join(folder, 'api-key'))
  } finally {
    shop.kill('SIGTERM')
    await stopped
    rmSync(folder, { recursive: true, force: true })
  }
}

async function takeAll(origin: string, keyFile: string): Promise<void> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const { name, size, open } of PAGES) {
      const context = await browser.newContext({ viewport: size, colorScheme, deviceScaleFactor: 1 })
      const page = await context.newPage()
      await page.goto(origin)
      await page.getByRole('button', { name: 'Use an API key instead' }).click()
      await page.getByLabel('API key').fill(readFileSync(keyFile, 'utf8').trim())
      await page.keyboard.press('Enter')
      await page.locator('.list-row .amount').first().waitFor()
      await open(page)
      // Nothing looks as if the mouse were on it.
      await page.mouse.move(0, 0)
      await page.evaluate('document.fonts.ready')
      await page.screenshot({ path: join(PICTURES, `${name}-${colorScheme}.png`) })
      await context.close()
    }
  }
  await browser.close()
}

await makePictures()

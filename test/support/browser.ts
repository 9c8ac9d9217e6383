// Chromium without access to other hosts, and the errors of a page in it.
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll } from 'vitest'

/** A build of Chromium without a window. It uses a quarter less CPU time than Chromium itself. */
const EXECUTABLE = '/usr/bin/chromium-headless-shell'
/** How long to wait for an element or a page. Like `expect.poll`, it only ends a test that waits in vain. */
const TIMEOUT_MS = 120_000

/** The browser can reach these hosts only. Other addresses of this host, such as 127.0.0.2, are another site. */
export async function openBrowser(hosts: readonly string[] = ['127.0.0.1']): Promise<Browser> {
  const excluded = hosts.map((host) => `EXCLUDE ${host}`).join(', ')
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    args: ['--no-sandbox', `--host-resolver-rules=MAP * ~NOTFOUND, ${excluded}`],
    timeout: TIMEOUT_MS,
  })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    context.setDefaultTimeout(TIMEOUT_MS)
    return context
  }
  afterAll(() => browser.close())
  return browser
}

export interface Visit {
  page: Page
  /** The URL of every request that the page made. */
  requests: string[]
  /** Console errors and warnings, script errors, and CSP violations. */
  faults: string[]
}

export interface Look {
  width?: number
  scheme?: 'light' | 'dark'
  /** The time zone of the browser. Default: that of the host. */
  timeZone?: string
  /** Runs before the scripts of each page. */
  initScript?: string
}

export async function visit(browser: Browser, address: string, look: Look = {}): Promise<Visit> {
  const { width = 1440, scheme = 'light', timeZone, initScript } = look
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    ...(timeZone !== undefined && { timezoneId: timeZone }),
  })
  const page = await context.newPage()
  const requests: string[] = []
  const faults: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (['error', 'warning', 'assert'].includes(message.type()))
      faults.push(`${message.type()}: ${message.text()}`)
  })
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
      console.error('CSP violation', effectiveDirective, blockedURI, sample))`,
  )
  if (initScript !== undefined) await page.addInitScript(initScript)
  await page.goto(address)
  return { page, requests, faults }
}

/**
 * Colours that change gradually, such as those of a message that fades out, have no contrast meanwhile. A run in which one
 * begins to change is repeated.
 */
const RUN_AXE = `(async () => {
  let hasChanged = false
  const note = () => { hasChanged = true }
  addEventListener('transitionrun', note, true)
  for (let run = 1; ; run += 1) {
    const transitions = document.getAnimations().filter((one) => one instanceof CSSTransition)
    await Promise.allSettled(transitions.map(({ finished }) => finished))
    hasChanged = false
    const { violations } = await axe.run(document, { resultTypes: ['violations'] })
    if (hasChanged && run < 10) continue
    removeEventListener('transitionrun', note, true)
    return violations
  }
})()`

interface AxeResult {
  id: string
  impact: string | null
  help: string
  nodes: { target: unknown[]; html: string }[]
}

/** Violations that axe rates serious or critical, as `rule: element`. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const violations = await page.evaluate<AxeResult[]>(RUN_AXE)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, html }) => `${id}: ${target.join(' ')} ${html.slice(0, 400)}`),
    )
}

// A service with a real identity provider (oidc-provider), and a browser that signs in: it keeps cookies by host and path,
// follows redirects one at a time, and clicks the button of a person.
import { afterAll, expect } from 'vitest'
import {
  type DemoPerson,
  DEMO_PEOPLE,
  type IdentityProviderOptions,
  startIdentityProvider,
} from '../../dev/identity-provider.ts'
import { openIdentityProvider, type ProviderSettings } from '../../src/access/sign-in/provider.ts'
import { parseRoleRules } from '../../src/contract/roles.ts'
import { freePort } from '../../src/data/demo/cluster.ts'
import type { Db } from '../../src/db/database.ts'
import type { AppOptions } from '../../src/server/app.ts'
import { NO_TIMEOUT_MS, startApp } from './app.ts'
import { createTestDatabase, openTestDatabase, sql } from './database.ts'

export interface PersonalApiKey {
  id: number
  actorId: number
  key: string
  name: string
  role: string
  scopes: string[]
  expiresAt: string
  returnTo: string
}

export interface SignInFixtureOptions {
  app?: Partial<AppOptions>
  provider?: Partial<IdentityProviderOptions>
  settings?: Partial<ProviderSettings>
  people?: readonly DemoPerson[]
  /** False: nothing listens on the port of the provider. */
  isProviderRunning?: boolean
}

export interface SignInFixture {
  origin: string
  db: Db
  databaseUrl: string
  issuer: string
  sql: <Row = Record<string, unknown>>(text: string, values?: unknown[]) => Promise<Row[]>
  stopProvider: () => Promise<void>
  startProvider: () => Promise<void>
  /** Starts another instance of the service, with the same public URL. Returns its own origin. */
  startInstance: () => Promise<string>
}

const CLIENT = { clientId: 'petstore', clientSecret: 'client-secret-of-the-tests' }

export async function openSignInFixture(options: SignInFixtureOptions = {}): Promise<SignInFixture> {
  const databaseUrl = await createTestDatabase()
  const db = openTestDatabase(databaseUrl)
  const [port, providerPort] = [await freePort(), await freePort()]
  const publicUrl = `http://127.0.0.1:${port}`
  const issuer = `http://${options.provider?.host ?? '127.0.0.1'}:${providerPort}`
  const start = () =>
    startIdentityProvider({
      ...CLIENT,
      port: providerPort,
      redirectUri: `${publicUrl}/auth/callback`,
      people: options.people ?? DEMO_PEOPLE,
      ...options.provider,
    })
  let running = options.isProviderRunning === false ? undefined : await start()
  const stopProvider = async () => {
    await running?.stop()
    running = undefined
  }
  afterAll(stopProvider)
  const settings: ProviderSettings = {
    ...CLIENT,
    issuer,
    name: 'Demo',
    scopes: 'openid profile email',
    rolesClaim: 'groups',
    roleRules: parseRoleRules('admin=petstore-admins,staff=shop,viewer=*') ?? [],
    prompt: 'login',
    requestTimeoutMs: NO_TIMEOUT_MS,
    exchangeTimeoutMs: NO_TIMEOUT_MS,
    ...options.settings,
  }
  const startInstance = (ownPort?: number) =>
    startApp(db, { publicUrl, identityProvider: openIdentityProvider(settings), ...options.app }, ownPort)
  await startInstance(port)
  return {
    origin: publicUrl,
    db,
    databaseUrl,
    issuer,
    sql: (text, values) => sql(databaseUrl, text, values),
    stopProvider,
    startProvider: async () => {
      running = await start()
    },
    startInstance: async () => (await startInstance()).origin,
  }
}

export interface Browser {
  cookies: Map<string, string>
  /** Sends one request, without following a redirect. Keeps the cookies of the response. */
  visit: (address: string, init?: RequestInit) => Promise<Response>
}

/** Cookies belong to a host, not to a port, but the tests keep them by port: a real provider has its own host. */
export function openBrowser(): Browser {
  const cookies = new Map<string, string>()
  return {
    cookies,
    visit: async (address, init = {}) => {
      const { origin, pathname } = new URL(address)
      const sent = [...cookies]
        .map(([place, pair]) => ({ place: new URL(place), pair }))
        .filter(({ place }) => place.origin === origin && pathname.startsWith(place.pathname))
        .map(({ pair }) => pair)
      const headers = new Headers(init.headers)
      if (sent.length > 0) headers.set('cookie', sent.join('; '))
      const response = await fetch(address, { ...init, headers, redirect: 'manual' })
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';', 1)
        const path = /; *path=([^;]*)/i.exec(line)?.[1] ?? '/'
        const place = `${origin}${path}?${pair.split('=', 1)[0]}`
        const isRemoved = /; *max-age=0\b|; *expires=thu, 01 jan 1970/i.test(line)
        if (isRemoved) cookies.delete(place)
        else cookies.set(place, pair)
      }
      return response
    },
  }
}

export const locationOf = (response: Response, base: string): string =>
  new URL(response.headers.get('location') ?? '', base).href

/** Goes from the start to the address with which the provider sends the browser back. Does not request that address. */
export async function returnAddress(
  fixture: SignInFixture,
  browser: Browser,
  subject: string,
  query = '',
): Promise<string> {
  const started = await browser.visit(`${fixture.origin}/auth/start${query}`)
  expect(started.status, await started.text()).toBe(303)
  return chooseAt(fixture, browser, locationOf(started, fixture.origin), subject)
}

/** Clicks the button of the person at the provider, and follows its redirects until they lead to the service. */
export async function chooseAt(
  fixture: SignInFixture,
  browser: Browser,
  authorization: string,
  subject: string,
): Promise<string> {
  let address = authorization
  for (let steps = 0; steps < 6; steps += 1) {
    const isChoice = new URL(address).pathname.startsWith('/choose/')
    const response = isChoice
      ? await browser.visit(`${address}?person=${encodeURIComponent(subject)}`, { method: 'POST' })
      : await browser.visit(address)
    expect([302, 303], `${address}: ${await response.text()}`).toContain(response.status)
    address = locationOf(response, address)
    if (address.startsWith(`${fixture.origin}/`)) return address
  }
  throw new Error(`the provider does not send the browser back: ${address}`)
}

/** The path and query of the page to which the service sends the browser after its return. */
export async function finishAt(fixture: SignInFixture, browser: Browser, address: string): Promise<string> {
  const response = await browser.visit(address)
  expect(response.status, await response.text()).toBe(303)
  return locationOf(response, fixture.origin).slice(fixture.origin.length)
}

/** The request with which the page fetches the key. */
export function fetchKey(
  fixture: SignInFixture,
  browser: Browser,
  headers: Record<string, string> = {},
): Promise<Response> {
  return browser.visit(`${fixture.origin}/auth/key`, {
    method: 'POST',
    headers: { origin: fixture.origin, 'x-petstore-sign-in': '1', ...headers },
  })
}

/** Signs in and returns the key. */
export async function signIn(
  fixture: SignInFixture,
  subject: string,
  query = '',
  browser = openBrowser(),
): Promise<PersonalApiKey> {
  const address = await returnAddress(fixture, browser, subject, query)
  expect(await finishAt(fixture, browser, address)).toBe('/sign-in#done')
  const response = await fetchKey(fixture, browser)
  expect(response.status).toBe(201)
  return (await response.json()) as PersonalApiKey
}

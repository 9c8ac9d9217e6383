// Attacks on signing in. Each changes one thing of a sign-in that otherwise succeeds, against a real identity provider.
import { generateKeyPairSync, hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { unsealSignIn, sealSignIn } from '../../src/access/sign-in/sealed-sign-in.ts'
import {
  type Browser,
  chooseAt,
  fetchKey,
  finishAt,
  locationOf,
  openBrowser,
  openSignInFixture,
  returnAddress,
  signIn,
} from '../support/sign-in.ts'

/** Requests that the provider received, such as `POST /token`. */
const received: string[] = []
const fixture = await openSignInFixture({
  provider: {
    intercept: (request) => {
      received.push(`${request.method} ${request.url?.split('?')[0]}`)
      return false
    },
  },
})
const exchanges = () => received.filter((request) => request === 'POST /token').length

/** Where the browser keeps the cookie of the sign-in. */
const PLACE = `${fixture.origin}/auth?petstore_sign_in`
const COOKIE = 'petstore_sign_in='

/** A sign-in up to the return from the provider. */
async function begin(subject = 'sam'): Promise<{ browser: Browser; address: string }> {
  const browser = openBrowser()
  return { browser, address: await returnAddress(fixture, browser, subject) }
}

/** Like `begin`, but with a parameter of the request to the provider changed on its way. */
async function beginWith(name: string, value: string): Promise<{ browser: Browser; address: string }> {
  const browser = openBrowser()
  const started = await browser.visit(`${fixture.origin}/auth/start`)
  const authorization = withParameter(locationOf(started, fixture.origin), name, value)
  return { browser, address: await chooseAt(fixture, browser, authorization, 'sam') }
}

function cookieIn(browser: Browser): string {
  return browser.cookies.get(PLACE)?.slice(COOKIE.length) ?? ''
}

function withParameter(address: string, name: string, value: string | undefined): string {
  const url = new URL(address)
  if (value === undefined) url.searchParams.delete(name)
  else url.searchParams.set(name, value)
  return url.href
}

const EXPIRED = '/sign-in?error=sign_in_expired'
const PROVIDER_ERROR = '/sign-in?error=provider_error'

describe('state', () => {
  test.each([undefined, '', 'x', 'x'.repeat(5_000)])(
    'a missing or other state does not sign in, and the code is not sent to the provider: %s',
    async (state) => {
      const { browser, address } = await begin()
      const before = exchanges()
      expect(await finishAt(fixture, browser, withParameter(address, 'state', state))).toBe(EXPIRED)
      expect(exchanges()).toBe(before)
    },
  )

  test('the address of an attacker does not sign the victim in as the attacker (login CSRF)', async () => {
    const attacker = await begin('ada')
    const victim = await begin('sam')
    expect(await finishAt(fixture, victim.browser, attacker.address)).toBe(EXPIRED)
    expect(await finishAt(fixture, openBrowser(), attacker.address)).toBe(EXPIRED)
    // The attempt does not end the sign-in of the victim.
    expect(await finishAt(fixture, victim.browser, victim.address)).toBe('/sign-in#done')
  })

  test('a state that occurs twice is rejected', async () => {
    const { browser, address } = await begin()
    expect(await finishAt(fixture, browser, `${address}&state=x`)).toBe(PROVIDER_ERROR)
  })

  test('is valid for 10 minutes', async () => {
    let now = Date.now()
    const timed = await openSignInFixture({ app: { clock: () => new Date(now) } })
    const [early, late] = [openBrowser(), openBrowser()]
    const addresses = [await returnAddress(timed, early, 'sam'), await returnAddress(timed, late, 'sam')]
    now += 600_000 - 1
    expect(await finishAt(timed, early, addresses[0] ?? '')).toBe('/sign-in#done')
    now += 1
    expect(await finishAt(timed, late, addresses[1] ?? '')).toBe(EXPIRED)
  })
})

describe('nonce', () => {
  test('an ID token with the nonce of another sign-in is rejected', async () => {
    const { browser, address } = await beginWith('nonce', 'another nonce')
    const before = exchanges()
    expect(await finishAt(fixture, browser, address)).toBe(PROVIDER_ERROR)
    expect(exchanges()).toBe(before + 1)
    expect((await fetchKey(fixture, browser)).status).toBe(410)
  })
})

describe('PKCE', () => {
  test('the challenge is a SHA-256; it, the state, the nonce and the cookie differ in each sign-in', async () => {
    const random = new Set<string | null | undefined>()
    for (let count = 0; count < 3; count += 1) {
      const started = await openBrowser().visit(`${fixture.origin}/auth/start`)
      const { searchParams } = new URL(started.headers.get('location') ?? '')
      expect(searchParams.get('code_challenge_method')).toBe('S256')
      for (const name of ['code_challenge', 'state', 'nonce']) random.add(searchParams.get(name))
      random.add(started.headers.getSetCookie()[0])
    }
    expect(random.size).toBe(12)
  })

  test('the code of another sign-in is rejected, even with a valid state and cookie', async () => {
    const attacker = await begin('ada')
    const victim = await begin('sam')
    const code = new URL(attacker.address).searchParams.get('code') ?? ''
    expect(await finishAt(fixture, victim.browser, withParameter(victim.address, 'code', code))).toBe(
      PROVIDER_ERROR,
    )
  })

  test('the code is rejected with another verifier', async () => {
    const challenge = hash('sha256', 'x'.repeat(43), 'base64url')
    const { browser, address } = await beginWith('code_challenge', challenge)
    expect(await finishAt(fixture, browser, address)).toBe(PROVIDER_ERROR)
  })
})

describe('the issuer (mix-up)', () => {
  test.each(['https://evil.example', undefined])(
    'a response with the issuer %s is rejected before the code is sent to the provider',
    async (iss) => {
      const { browser, address } = await begin()
      const before = exchanges()
      expect(await finishAt(fixture, browser, withParameter(address, 'iss', iss))).toBe(PROVIDER_ERROR)
      expect(exchanges()).toBe(before)
    },
  )
})

test('an ID token that was not signed with a key of the provider is rejected', async () => {
  const other = await openSignInFixture({
    provider: {
      intercept: (request, response) => {
        if (request.url !== '/jwks') return false
        const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
        const key = { ...publicKey.export({ format: 'jwk' }), kid: 'demo', use: 'sig', alg: 'ES256' }
        response.setHeader('content-type', 'application/jwk-set+json').end(JSON.stringify({ keys: [key] }))
        return true
      },
    },
  })
  const browser = openBrowser()
  expect(await finishAt(other, browser, await returnAddress(other, browser, 'ada'))).toBe(PROVIDER_ERROR)
})

describe('replay', () => {
  test('the address of a finished sign-in cannot be used again', async () => {
    const { browser, address } = await begin()
    expect(await finishAt(fixture, browser, address)).toBe('/sign-in#done')
    const before = exchanges()
    expect(await finishAt(fixture, browser, address)).toBe(EXPIRED)
    expect(exchanges()).toBe(before)
  })

  test('of 8 concurrent requests with the same address, one succeeds', async () => {
    const { browser, address } = await begin()
    const cookies = [...browser.cookies]
    const pages = await Promise.all(
      Array.from({ length: 8 }, () => {
        const copy = openBrowser()
        for (const [place, pair] of cookies) copy.cookies.set(place, pair)
        return finishAt(fixture, copy, address)
      }),
    )
    expect(pages.filter((page) => page === '/sign-in#done')).toHaveLength(1)
    // The provider rejects the code of a request that arrives after the first one is finished.
    for (const page of pages) expect(['/sign-in#done', EXPIRED, PROVIDER_ERROR]).toContain(page)
  })

  test('a code that the provider has already exchanged is rejected, even with a stolen cookie', async () => {
    const { browser, address } = await begin()
    const stolen = browser.cookies.get(PLACE) ?? ''
    expect(await finishAt(fixture, browser, address)).toBe('/sign-in#done')
    const thief = openBrowser()
    thief.cookies.set(PLACE, stolen)
    expect(await finishAt(fixture, thief, address)).toBe(PROVIDER_ERROR)
    expect((await fetchKey(fixture, thief)).status).toBe(410)
  })

  test('a finished sign-in is valid for a minute', async () => {
    const { browser, address } = await begin()
    await finishAt(fixture, browser, address)
    const [row] = await fixture.sql<{ seconds: number }>(
      'select extract(epoch from max(expires_at) - now())::float8 as seconds from finished_sign_ins',
    )
    expect(row?.seconds).toBeLessThanOrEqual(60)
    await fixture.sql('update finished_sign_ins set expires_at = now()')
    expect((await fetchKey(fixture, browser)).status).toBe(410)
  })
})

describe('the cookie', () => {
  test('is for /auth only, hidden from scripts, and not sent with requests of other sites', async () => {
    const started = await openBrowser().visit(`${fixture.origin}/auth/start`)
    expect(started.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^petstore_sign_in=[\w-]{100,}; Path=\/auth; Max-Age=600; HttpOnly; SameSite=Lax$/,
      ),
    ])
  })

  test('is only for TLS if PUBLIC_URL is https:', async () => {
    const secure = await openSignInFixture({ app: { publicUrl: 'https://petstore.example' } })
    const started = await fetch(`${secure.origin}/auth/start`, { redirect: 'manual' })
    expect(started.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Secure-petstore_sign_in=.*; SameSite=Lax; Secure$/),
    ])
    const { searchParams } = new URL(started.headers.get('location') ?? '')
    expect(searchParams.get('redirect_uri')).toBe('https://petstore.example/auth/callback')
  })

  test('changes with each step, so that a planted cookie gets no key (session fixation)', async () => {
    const { browser, address } = await begin()
    const planted = browser.cookies.get(PLACE) ?? ''
    // A start ignores the cookie that the browser has.
    const restarted = await fetch(`${fixture.origin}/auth/start`, {
      headers: { cookie: planted },
      redirect: 'manual',
    })
    expect(restarted.headers.getSetCookie()[0]).not.toContain(planted)
    await finishAt(fixture, browser, address)
    expect(browser.cookies.get(PLACE)).not.toBe(planted)
    const attacker = openBrowser()
    attacker.cookies.set(PLACE, planted)
    expect((await fetchKey(fixture, attacker)).status).toBe(410)
    expect((await fetchKey(fixture, browser)).status).toBe(201)
  })

  test('is rejected if the browser sends two of them', async () => {
    const { browser, address } = await begin()
    browser.cookies.set(`${fixture.origin}/auth/?other`, 'petstore_sign_in=planted')
    expect(await finishAt(fixture, browser, address)).toBe(EXPIRED)
  })

  test('is encrypted: it reveals the verifier only together with the state', async () => {
    const { browser, address } = await begin()
    const state = new URL(address).searchParams.get('state') ?? ''
    const { codeVerifier = '' } = unsealSignIn(state, cookieIn(browser)) ?? {}
    expect(codeVerifier).toMatch(/^[\w-]{43}$/)
    expect(Buffer.from(cookieIn(browser), 'base64url').toString('latin1')).not.toContain(codeVerifier)
    expect(unsealSignIn(`${state}x`, cookieIn(browser))).toBeUndefined()
  })

  test('is rejected if a single bit of it was changed', async () => {
    const { browser, address } = await begin()
    const bytes = Buffer.from(cookieIn(browser), 'base64url')
    const before = exchanges()
    for (const position of [0, 12, 28, bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(position) ^ 1, position)
      browser.cookies.set(PLACE, COOKIE + changed.toString('base64url'))
      expect(await finishAt(fixture, browser, address)).toBe(EXPIRED)
    }
    for (const value of ['', 'x', 'x'.repeat(43), '%', 'x'.repeat(4_000)]) {
      browser.cookies.set(PLACE, COOKIE + value)
      expect(await finishAt(fixture, browser, address)).toBe(EXPIRED)
    }
    expect(exchanges()).toBe(before)
    browser.cookies.set(PLACE, COOKIE + bytes.toString('base64url'))
    expect(await finishAt(fixture, browser, address)).toBe('/sign-in#done')
  })
})

describe('an open redirect', () => {
  test.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    'javascript:alert(1)',
    'pets',
    '',
    '/v1/pets',
    '/auth/start',
    '/sign-in?error=x',
    '/%00\u0000',
    `/${'x'.repeat(1_000)}`,
  ])('is not possible with returnTo=%j: the page continues at /', async (returnTo) => {
    const issued = await signIn(fixture, 'sam', `?returnTo=${encodeURIComponent(returnTo)}`)
    expect(issued.returnTo).toBe('/')
  })

  test.each(['//evil.example', '/.//evil.example'])(
    'is not possible with %j in a cookie that the browser has encrypted itself',
    async (returnTo) => {
      const { browser, address } = await begin()
      const state = new URL(address).searchParams.get('state') ?? ''
      const started = unsealSignIn(state, cookieIn(browser))
      if (started === undefined) throw new Error('the cookie does not belong to the state')
      browser.cookies.set(PLACE, COOKIE + sealSignIn(state, { ...started, returnTo }))
      expect(await finishAt(fixture, browser, address)).toBe('/sign-in#done')
      expect(await (await fetchKey(fixture, browser)).json()).toMatchObject({ returnTo: '/' })
    },
  )

  test('is not possible with the header Host or X-Forwarded-Host', async () => {
    const started = await fetch(`${fixture.origin}/auth/start`, {
      headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
      redirect: 'manual',
    })
    const { searchParams } = new URL(started.headers.get('location') ?? '')
    expect(searchParams.get('redirect_uri')).toBe(`${fixture.origin}/auth/callback`)
  })
})

describe('the request for the key', () => {
  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['the origin null', { origin: 'null' }],
    ['an empty origin', { origin: '' }],
    ['no header of the page', { 'x-petstore-sign-in': '' }],
  ])('is rejected with %s (403), and the sign-in stays usable', async (_what, headers) => {
    const { browser, address } = await begin()
    await finishAt(fixture, browser, address)
    const rejected = await fetchKey(fixture, browser, headers)
    expect(rejected.status).toBe(403)
    expect(await rejected.json()).toMatchObject({ code: 'sign_in_rejected' })
    expect((await fetchKey(fixture, browser)).status).toBe(201)
  })

  test('allows no other origin by CORS, not even with CORS_ORIGINS=*', async () => {
    const open = await openSignInFixture({ app: { corsOrigins: ['*'] } })
    const preflight = await fetch(`${open.origin}/auth/key`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-petstore-sign-in',
      },
    })
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).not.toContain('sign-in')
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('GET and HEAD issue no key and start no sign-in (405)', async () => {
    expect((await fetch(`${fixture.origin}/auth/key`)).status).toBe(405)
    for (const path of ['/auth/start', '/auth/callback']) {
      expect((await fetch(fixture.origin + path, { method: 'HEAD' })).status).toBe(405)
    }
  })
})

test('no response can be shown in a frame, stored or sent to another page (clickjacking)', async () => {
  const { browser, address } = await begin()
  const responses = [
    await browser.visit(`${fixture.origin}/auth/provider`),
    await openBrowser().visit(`${fixture.origin}/auth/start`),
    await openBrowser().visit(address),
    await browser.visit(address),
    await fetchKey(fixture, browser),
    await fetchKey(fixture, browser),
    await browser.visit(`${fixture.origin}/auth/unknown`),
  ]
  expect(responses.map(({ status }) => status)).toEqual([200, 303, 303, 303, 201, 410, 404])
  for (const { headers } of responses) {
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  }
})

test('no address contains the key or the cookie', async () => {
  const browser = openBrowser()
  const started = await browser.visit(`${fixture.origin}/auth/start`)
  const secret = cookieIn(browser)
  const address = await chooseAt(fixture, browser, locationOf(started, fixture.origin), 'sam')
  const page = await finishAt(fixture, browser, address)
  const { key } = (await (await fetchKey(fixture, browser)).json()) as { key: string }
  for (const text of [started.headers.get('location'), address, page]) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain(key)
  }
  expect(page).toBe('/sign-in#done')
})

test('a person without a role gets no key', async () => {
  const strict = await openSignInFixture({
    settings: { roleRules: [{ role: 'admin', value: 'petstore-admins' }] },
  })
  const browser = openBrowser()
  const address = await returnAddress(strict, browser, 'sam')
  expect(await finishAt(strict, browser, address)).toBe('/sign-in?error=no_role')
  expect((await fetchKey(strict, browser)).status).toBe(410)
  expect((await signIn(strict, 'ada')).role).toBe('admin')
})

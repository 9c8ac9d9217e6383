// Signing in as a person with a real identity provider, and the personal API keys that result.
import { describe, expect, test } from 'vitest'
import { apiKeyVerifier } from '../../src/access/api-keys/api-keys.ts'
import { purgeSignIns } from '../../src/access/sign-in/sign-ins.ts'
import { ROLE_SCOPES } from '../../src/contract/roles.ts'
import { walkPages } from '../support/api-fixture.ts'
import { issueApiKey } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import {
  type Browser,
  fetchKey,
  finishAt,
  locationOf,
  openBrowser,
  openSignInFixture,
  returnAddress,
  type SignInFixture,
  signIn,
} from '../support/sign-in.ts'
import { openTestLog } from '../support/test-log.ts'

const fixture = await openSignInFixture()
const clientOf = (apiKey: string) => openTestClient({ origin: fixture.origin, apiKey })
const admin = clientOf((await issueApiKey(fixture.db, { name: 'operator', scopes: ['admin'] })).text)

interface Listed {
  id: number
  name: string
  kind: string
}
const listed = async () => (await admin.get('/api-keys?limit=100')).body as Listed[]

/** The path to which the provider leads a browser that starts to sign in. */
async function afterStart({ origin }: SignInFixture, browser: Browser): Promise<string> {
  const started = await browser.visit(`${origin}/auth/start`)
  const asked = await browser.visit(locationOf(started, origin))
  return new URL(locationOf(asked, locationOf(started, origin))).pathname
}

describe('signing in', () => {
  test.each([
    ['ada', 'Ada Admin', 'admin'],
    ['sam', 'Sam Staff', 'staff'],
    ['vera', 'Vera Viewer', 'viewer'],
  ] as const)('%s gets a key of 12 hours, named %s, with the scopes of %s', async (subject, name, role) => {
    const issued = await signIn(fixture, subject)
    expect(issued).toEqual({
      id: expect.any(Number),
      actorId: expect.any(Number),
      key: expect.stringMatching(/^petstore_live_\w{49}$/),
      name,
      role,
      scopes: ROLE_SCOPES[role],
      expiresAt: expect.any(String),
      returnTo: '/',
    })
    const hours = (Date.parse(issued.expiresAt) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(11.9)
    expect(hours).toBeLessThanOrEqual(12)
    const { body } = await clientOf(issued.key).get('/api-keys/self')
    const { id, actorId, scopes, expiresAt } = issued
    expect(body).toEqual({ id, actorId, name, kind: 'person', scopes, expiresAt })
    expect((await clientOf(issued.key).get('/api-keys')).status).toBe(role === 'admin' ? 200 : 403)
  })

  test('returns and logs every digit of an id above 2^53', async () => {
    const lines: string[] = []
    const large = await openSignInFixture({
      app: { log: openTestLog('info', (line) => void lines.push(line)) },
    })
    const [id, actorId] = [2n ** 53n + 1n, 2n ** 53n + 3n]
    await large.sql(
      `alter sequence api_keys_id_seq restart with ${id}; alter sequence actors_id_seq restart with ${actorId}`,
    )
    const browser = openBrowser()
    await finishAt(large, browser, await returnAddress(large, browser, 'sam'))
    expect(await (await fetchKey(large, browser)).text()).toMatch(
      new RegExp(`^\\{"id":${id},"actorId":${actorId},`),
    )
    expect(lines.find((line) => line.includes('"signed in"'))).toContain(
      `"apiKeyId":${id},"actorId":${actorId},`,
    )
  })

  test('the page continues where it began', async () => {
    expect((await signIn(fixture, 'sam', '?returnTo=/pets/5%3Ftab%3Dhistory%23top')).returnTo).toBe(
      '/pets/5?tab=history#top',
    )
  })

  test('the provider asks for the password at each sign-in, although the person has a session there', async () => {
    const asking = await openSignInFixture({ provider: { keepsSessions: true } })
    const browser = openBrowser()
    await signIn(asking, 'sam', '', browser)
    expect(await afterStart(asking, browser)).toMatch(/^\/choose\//)
    // Without the prompt, this provider signs the former person in without asking.
    const silent = await openSignInFixture({ provider: { keepsSessions: true }, settings: { prompt: 'off' } })
    const other = openBrowser()
    await signIn(silent, 'sam', '', other)
    expect(await afterStart(silent, other)).toBe('/auth/callback')
  })

  test('a person who cancels at the provider returns with access_denied', async () => {
    const browser = openBrowser()
    const address = await returnAddress(fixture, browser, '')
    expect(await finishAt(fixture, browser, address)).toBe('/sign-in?error=access_denied')
  })

  test('tells the page which provider is configured', async () => {
    const response = await fetch(`${fixture.origin}/auth/provider`)
    expect(await response.json()).toEqual({
      provider: { name: 'Demo', startUrl: `${fixture.origin}/auth/start` },
    })
  })
})

describe('a personal key', () => {
  test('names the person in the history of a pet and in orders', async () => {
    const sam = clientOf((await signIn(fixture, 'sam')).key)
    const { id } = (await sam.post('/pets', { name: 'Biscuit', categoryId: 1 })).body as { id: number }
    const order = (await sam.post('/store/orders', { petId: id })).body as { id: number; placedBy: string }
    expect(order.placedBy).toBe('Sam Staff')
    const { body } = await sam.get(`/pets/${id}/history`)
    expect((body as { actor: string }[]).map(({ actor }) => actor)).toEqual(['Sam Staff', 'Sam Staff'])
  })

  test('of a person who signs in again has the same actor, so that a retry is replayed', async () => {
    const [first, again, other] = [
      await signIn(fixture, 'sam'),
      await signIn(fixture, 'sam'),
      await signIn(fixture, 'ada'),
    ]
    expect(again.actorId).toBe(first.actorId)
    expect((await clientOf(again.key).get('/api-keys/self')).body).toMatchObject({ actorId: first.actorId })
    const body = { changes: [{ create: { name: 'Biscuit', categoryId: 1 } }] }
    const send = ({ key }: { key: string }) =>
      clientOf(key).post('/pet-changes', body, { 'idempotency-key': 'batch 1 of a file' })
    const sent = await send(first)
    await clientOf(first.key).call('DELETE', '/v1/api-keys/self')
    const retry = await send(again)
    expect(retry.headers.get('idempotency-replayed')).toBe('true')
    expect(retry.text).toBe(sent.text)
    // Another person is another actor.
    const own = await send(other)
    expect(own.headers.get('idempotency-replayed')).toBeNull()
    expect(own.text).not.toBe(sent.text)
  })

  test('is listed as personal while it is valid, and hidden once it is revoked or expired', async () => {
    const before = new Set((await listed()).map(({ id }) => id))
    await signIn(fixture, 'vera')
    await signIn(fixture, 'vera')
    const added = (await listed()).filter(({ id }) => !before.has(id))
    expect(added.map(({ name, kind }) => [name, kind])).toEqual([
      ['Vera Viewer', 'person'],
      ['Vera Viewer', 'person'],
    ])
    const [first, second] = added as [Listed, Listed]
    expect((await admin.call('DELETE', `/v1/api-keys/${first.id}`)).status).toBe(204)
    await fixture.sql('update api_keys set expires_at = now() where id = $1', [second.id])
    const ids = (await listed()).map(({ id }) => id)
    expect(ids).not.toContain(first.id)
    expect(ids).not.toContain(second.id)
    const program = await issueApiKey(fixture.db, { name: 'till' })
    expect((await admin.call('DELETE', `/v1/api-keys/${program.id}`)).status).toBe(204)
    expect((await listed()).find(({ id }) => id === Number(program.id))).toMatchObject({ kind: 'program' })
  })

  test('kind=person lists who is signed in, with the role and without the key text', async () => {
    for (const subject of ['vera', 'sam', 'ada']) await signIn(fixture, subject)
    const { body, text } = await admin.get('/api-keys?kind=person&limit=3')
    const expected = [
      { name: 'Ada Admin', role: 'admin', scopes: ROLE_SCOPES.admin },
      { name: 'Sam Staff', role: 'staff', scopes: ROLE_SCOPES.staff },
      { name: 'Vera Viewer', role: 'viewer', scopes: ROLE_SCOPES.viewer },
    ]
    const others = {
      id: expect.any(Number),
      actorId: expect.any(Number),
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
    }
    expect(body).toEqual(expected.map((person) => ({ ...person, ...others, kind: 'person' })))
    expect(text).not.toMatch(/petstore_live_|hash|subject|"key"/)
  })

  test('a role is listed only for people, and only if it has the scopes of the key', async () => {
    const { id } = await signIn(fixture, 'ada')
    const program = await issueApiKey(fixture.db, { name: 'all', scopes: ROLE_SCOPES.admin })
    expect((await listed()).find((key) => key.id === Number(program.id))).not.toHaveProperty('role')
    await fixture.sql(`update api_keys set scopes = '{admin,pets:read}' where id = $1`, [id])
    expect((await listed()).find((key) => key.id === id)).not.toHaveProperty('role')
  })

  test('each page of a kind continues with the same kind', async () => {
    await signIn(fixture, 'vera')
    await issueApiKey(fixture.db, { name: 'between' })
    await signIn(fixture, 'sam')
    const idsOf = (apiKeys: Listed[]) => apiKeys.map(({ id }) => id)
    const all = await listed()
    for (const kind of ['person', 'program']) {
      const pages = await walkPages<Listed>(admin, `/api-keys?kind=${kind}&limit=2`)
      expect(idsOf(pages.flat())).toEqual(idsOf(all.filter((key) => key.kind === kind)))
    }
  })

  test('is rejected within a second after it was revoked, and at once after it expired', async () => {
    const vera = clientOf((await signIn(fixture, 'vera')).key)
    expect((await vera.get('/pets')).status).toBe(200)
    const mine = (await listed()).find(({ name }) => name === 'Vera Viewer')
    await admin.call('DELETE', `/v1/api-keys/${mine?.id}`)
    await expect.poll(async () => (await vera.get('/pets')).status).toBe(401)
    const { key } = await signIn(fixture, 'vera')
    const newest = (await listed()).find(({ name }) => name === 'Vera Viewer')
    await fixture.sql('update api_keys set expires_at = now() where id = $1', [newest?.id])
    expect(await apiKeyVerifier(fixture.db, 'production')(key)).toBeUndefined()
  })

  test('has the name of the newest sign-in, also in what the person did before', async () => {
    const { key, actorId } = await signIn(fixture, 'sam')
    await fixture.sql(`update actors set name = 'Sam before' where id = $1`, [actorId])
    const sam = clientOf(key)
    const { id } = (await sam.post('/pets', { name: 'Biscuit', categoryId: 1 })).body as { id: number }
    const actorsOf = async () =>
      ((await sam.get(`/pets/${id}/history`)).body as { actor: string }[]).map(({ actor }) => actor)
    expect(await actorsOf()).toEqual(['Sam before'])
    await signIn(fixture, 'sam')
    expect(await actorsOf()).toEqual(['Sam Staff'])
  })

  test('cannot be renamed, because the next sign-in would undo it (404)', async () => {
    const { id } = await signIn(fixture, 'sam')
    const renamed = await admin.call('PATCH', `/v1/api-keys/${id}`, { body: { name: 'Samuel' } })
    expect(renamed).toMatchObject({ status: 404, body: { code: 'api_key_not_found' } })
    expect((await listed()).find((key) => key.id === id)?.name).toBe('Sam Staff')
  })

  test('cannot be rotated, because an administrator would get a key in the name of the person (404)', async () => {
    await signIn(fixture, 'sam')
    const key = (await listed()).find(({ name }) => name === 'Sam Staff')
    expect((await admin.post(`/api-keys/${key?.id}/rotate`, {})).status).toBe(404)
  })

  test('a person has at most 10 valid keys: another sign-in revokes the oldest', async () => {
    await fixture.sql(
      `update api_keys set revoked_at = now() from actors where actors.id = actor_id and name = 'Ada Admin'`,
    )
    const keys: string[] = []
    for (let count = 0; count < 11; count += 1) keys.push((await signIn(fixture, 'ada')).key)
    const verify = apiKeyVerifier(fixture.db, 'production')
    const valid = await Promise.all(keys.map(async (key) => (await verify(key)) !== undefined))
    expect(valid).toEqual([false, ...Array.from({ length: 10 }, () => true)])
  })
})

describe('the purge', () => {
  test('deletes sign-ins whose key was not fetched in time, and keeps the others', async () => {
    await fixture.sql('delete from finished_sign_ins')
    await fixture.sql(
      `insert into finished_sign_ins values (sha256('x'), 's', 'n', 'staff', '/', now()),
        (sha256('y'), 's', 'in time', 'staff', '/', now() + interval '1 minute')`,
    )
    await purgeSignIns(fixture.db)
    expect(await fixture.sql('select name from finished_sign_ins')).toEqual([{ name: 'in time' }])
  })

  test('deletes a personal key 30 days after it ended, and keeps the person in history and orders', async () => {
    const { key, actorId } = await signIn(fixture, 'sam')
    const sam = clientOf(key)
    const { id } = (await sam.post('/pets', { name: 'Rex', categoryId: 1 })).body as { id: number }
    const order = (await sam.post('/store/orders', { petId: id })).body as { id: number }
    const keysLeft = async () =>
      (await fixture.sql('select id from api_keys where actor_id = $1', [actorId])).length
    const endAt = (interval: string) =>
      fixture.sql('update api_keys set expires_at = now() - $2::interval where actor_id = $1', [
        actorId,
        interval,
      ])
    const keys = await keysLeft()
    await fixture.sql(
      `insert into deprecated_calls (api_key_id, operation, day, calls)
        select id, 'getPet', now(), 1 from api_keys where actor_id = $1`,
      [actorId],
    )
    await endAt('29 days')
    await purgeSignIns(fixture.db)
    expect(await keysLeft()).toBe(keys)
    await endAt('31 days')
    await purgeSignIns(fixture.db)
    expect(await keysLeft()).toBe(0)
    expect(await fixture.sql('select from deprecated_calls')).toEqual([])

    const reader = clientOf((await issueApiKey(fixture.db, { scopes: ['pets:read', 'orders:read'] })).text)
    const { body } = await reader.get(`/pets/${id}/history`)
    expect((body as { actor: string }[]).at(-1)?.actor).toBe('Sam Staff')
    expect((await reader.get(`/store/orders/${order.id}`)).body).toMatchObject({ placedBy: 'Sam Staff' })
    expect((await signIn(fixture, 'sam')).actorId).toBe(actorId)
  })

  test('keeps the keys of programs', async () => {
    const program = await issueApiKey(fixture.db, { name: 'ended long ago' })
    await fixture.sql(`update api_keys set expires_at = now() - interval '1 year' where id = $1`, [
      program.id,
    ])
    await purgeSignIns(fixture.db)
    expect((await listed()).find(({ id }) => id === Number(program.id))).toBeDefined()
  })
})

test('another instance can finish a sign-in, and issue its key', async () => {
  const browser = openBrowser()
  const address = await returnAddress(fixture, browser, 'vera')
  const other = await fixture.startInstance()
  const place = `${fixture.origin}/auth?petstore_sign_in`
  const finished = await fetch(address.replace(fixture.origin, other), {
    redirect: 'manual',
    headers: { cookie: browser.cookies.get(place) ?? '' },
  })
  expect(finished.headers.get('location')).toBe('/sign-in#done')
  browser.cookies.set(place, finished.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '')
  expect((await fetchKey(fixture, browser)).status).toBe(201)
})

test('the key is issued once, and only to the browser that signed in', async () => {
  const browser = openBrowser()
  await finishAt(fixture, browser, await returnAddress(fixture, browser, 'vera'))
  const stolen = [...browser.cookies]
  expect((await fetchKey(fixture, openBrowser())).status).toBe(410)
  expect((await fetchKey(fixture, browser)).status).toBe(201)
  expect(browser.cookies.has(`${fixture.origin}/auth?petstore_sign_in`)).toBe(false)
  const again = openBrowser()
  for (const [place, pair] of stolen) again.cookies.set(place, pair)
  const second = await fetchKey(fixture, again)
  expect(second.status).toBe(410)
  expect(await second.json()).toMatchObject({ code: 'sign_in_expired', status: 410 })
})

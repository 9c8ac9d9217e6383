// /v1/api-keys: creating, listing, renaming, rotating and revoking keys, and what a key can read about itself.
import { describe, expect, test } from 'vitest'
import { apiKeyVerifier } from '../../src/access/api-keys/api-keys.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import {
  cursorOf,
  NOT_IDS,
  openApiFixture,
  openApiFixtureOn,
  UNKNOWN_ID,
  walkPages,
} from '../support/api-fixture.ts'
import { issueApiKey } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { onOneDay } from '../support/one-day.ts'
import { faultyFields } from '../support/pets.ts'

interface ApiKey {
  id: number
  actorId: number
  name: string
  kind: string
  scopes: string[]
  rateLimit?: number
  createdAt: string
  lastUsedAt?: string
  expiresAt?: string
  revokedAt?: string
}
type Issued = ApiKey & { key: string }

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)
/** The clock of the cache of keys. A test moves it by a second, in which a revocation must take effect. */
let clockMs = 0
const SECOND_MS = 1_000
const api = await openApiFixtureOn(databaseUrl, db, {
  verifyApiKey: apiKeyVerifier(db, 'production', () => clockMs),
})
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

async function issue(values: object = {}): Promise<Issued> {
  const response = await api.post('/api-keys', { name: 'web-shop', ...values })
  expect(response.status, response.text).toBe(201)
  return response.body as Issued
}
const rotate = (id: number | string, body: unknown = {}) => api.post(`/api-keys/${id}/rotate`, body)
const statusWith = async (apiKey: string, path = '/pets') => (await api.get(path, { apiKey })).status
const find = async (id: number) => {
  const pages = await walkPages<ApiKey>(api, '/api-keys?limit=100')
  return pages.flat().find((apiKey) => apiKey.id === id)
}
const lifetimeOf = ({ createdAt, expiresAt = '' }: ApiKey) =>
  Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1_000)

describe('creating a key', () => {
  test('returns a working key with the requested properties; no later response contains the key text', async () => {
    const scopes = ['pets:read', 'orders:write']
    const made = await issue({ scopes, rateLimit: 50, expiresInSeconds: 3_600 })
    expect(made).toEqual({
      id: expect.any(Number),
      actorId: expect.any(Number),
      name: 'web-shop',
      kind: 'program',
      scopes,
      rateLimit: 50,
      createdAt: expect.stringMatching(TIME),
      expiresAt: expect.stringMatching(TIME),
      key: expect.stringMatching(/^petstore_live_[A-Za-z0-9]+$/),
    })
    expect(lifetimeOf(made)).toBe(3_600)
    expect(await statusWith(made.key)).toBe(200)
    expect(await statusWith(made.key, '/store/orders')).toBe(403)
    const { key, ...facts } = made
    expect(await find(made.id)).toEqual(facts)
    expect((await api.get('/api-keys')).text).not.toContain(key)
  })

  test('gives it the scopes pets:read and pets:write, no expiry and no rate limit by default', async () => {
    const { key, ...facts } = await issue()
    expect(facts).toEqual({
      id: facts.id,
      actorId: facts.actorId,
      name: 'web-shop',
      kind: 'program',
      scopes: ['pets:read', 'pets:write'],
      createdAt: expect.stringMatching(TIME),
    })
    expect((await api.get('/pets', { apiKey: key })).headers.get('ratelimit')).toBeNull()
  })

  test('limits its requests to rateLimit (429)', async () => {
    const { key } = await issue({ rateLimit: 1 })
    expect([await statusWith(key), await statusWith(key)]).toEqual([200, 429])
  })

  test.each(['petstore', 'PetStore', ' petstore\t', 'pet store', 'pet\u200bstore', 'ｐｅｔｓｔｏｒｅ'])(
    'rejects the name %j (400), because the history uses it for the service',
    async (name) => {
      const response = await api.post('/api-keys', { name })
      expect(response).toMatchObject({
        status: 400,
        body: { code: 'invalid_body', details: [{ field: 'name', code: 'reserved' }] },
      })
      expect((await issue({ name: `${name}-web` })).name).toBe(`${name}-web`)
    },
  )

  test('gives it the prefix of the environment in which the service runs', async () => {
    const staging = await openApiFixture({ environment: 'staging' })
    const { body } = await staging.post('/api-keys', { name: 'x' })
    expect((body as Issued).key).toMatch(/^petstore_test_/)
  })

  test.each([
    { name: 'x' },
    { name: '🐕'.repeat(100) },
    { scopes: [...SCOPES] },
    { rateLimit: 1_000_000 },
    { expiresInSeconds: 1 },
    { expiresInSeconds: 315_360_000 },
  ])('accepts %j', async (values) => {
    expect((await issue(values)).id).toBeGreaterThan(0)
  })

  test.each([
    { sent: {}, fields: ['name'] },
    { sent: { name: 'x', unknown: 1 }, fields: ['unknown'] },
    { sent: { name: '' }, fields: ['name'] },
    { sent: { name: ' ' }, fields: ['name'] },
    { sent: { name: 'n'.repeat(101) }, fields: ['name'] },
    { sent: { name: 'a\0' }, fields: ['name'] },
    { sent: { name: 'x', scopes: [] }, fields: ['scopes'] },
    { sent: { name: 'x', scopes: 'admin' }, fields: ['scopes'] },
    { sent: { name: 'x', scopes: ['root'] }, fields: ['scopes.0'] },
    { sent: { name: 'x', scopes: ['admin', null] }, fields: ['scopes.1'] },
    { sent: { name: 'x', scopes: ['admin', 'admin'] }, fields: ['scopes'] },
    { sent: { name: 'x', rateLimit: 0 }, fields: ['rateLimit'] },
    { sent: { name: 'x', rateLimit: 1.5 }, fields: ['rateLimit'] },
    { sent: { name: 'x', rateLimit: 1_000_001 }, fields: ['rateLimit'] },
    { sent: { name: 'x', expiresInSeconds: 0 }, fields: ['expiresInSeconds'] },
    { sent: { name: 'x', expiresInSeconds: 315_360_001 }, fields: ['expiresInSeconds'] },
    { sent: { name: 'x', expiresInSeconds: '90d' }, fields: ['expiresInSeconds'] },
    { sent: { name: 7, scopes: 7, rateLimit: 'x' }, fields: ['name', 'rateLimit', 'scopes'] },
  ])('rejects $sent (400) and names the fields $fields', async ({ sent, fields }) => {
    const response = await api.post('/api-keys', sent)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    expect(faultyFields(response)).toEqual(fields)
  })

  test('rejects 20,000 scopes (400) with one detail, without validating each scope', async () => {
    const scopes = Array.from({ length: 20_000 }, (_, index) => index)
    const { status, body } = await api.post('/api-keys', { name: 'x', scopes })
    expect(status).toBe(400)
    expect(body).toMatchObject({ details: [{ field: 'scopes', code: 'too_many' }] })
  })

  test.each([
    { body: undefined, code: 'missing_body' },
    { body: '{', code: 'invalid_json' },
  ])('rejects the body $body (400 $code)', async ({ body, code }) => {
    const response = await api.call('POST', '/v1/api-keys', { body })
    expect(response).toMatchObject({ status: 400, body: { code } })
  })
})

describe('listing keys', () => {
  test('returns each key once, newest first, including revoked keys, and never the key text', async () => {
    const own = await openApiFixture()
    for (let count = 0; count < 5; count += 1) await issueApiKey(own.db, { name: `k${count}` })
    const whole = await own.get('/api-keys?limit=100')
    const all = whole.body as ApiKey[]
    expect(all.map(({ name }) => name)).toEqual(['k4', 'k3', 'k2', 'k1', 'k0', 'staff', 'test'])
    expect(whole.text).not.toMatch(/petstore_live_|hash|"key"/)
    for (const limit of [1, 2, 6, 7, 8]) {
      const pages = await walkPages<ApiKey>(own, `/api-keys?limit=${limit}`)
      expect(pages.flat()).toEqual(all)
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
    }
    await own.remove(`/api-keys/${all[0]?.id}`)
    const [revoked] = (await own.get('/api-keys')).body as ApiKey[]
    expect(revoked).toEqual({ ...all[0], revokedAt: expect.stringMatching(TIME) })
  })

  test('returns 20 keys by default', async () => {
    await Promise.all(Array.from({ length: 21 }, () => issueApiKey(api.db)))
    expect((await api.get('/api-keys')).body).toHaveLength(20)
  })

  test('rejects invalid limits, kinds and cursors (400)', async () => {
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=', 'kind=', 'kind=personal']) {
      const { status, body } = await api.get(`/api-keys?${query}`)
      expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    }
    await Promise.all([api.addPet(), api.addPet()])
    for (const cursor of ['x', cursorOf(await api.get('/pets?limit=1'), api)]) {
      const { status, body } = await api.get(`/api-keys?cursor=${cursor}`)
      expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
    }
  })
})

describe('renaming a program', () => {
  const rename = (id: number | string, name: unknown) =>
    api.call('PATCH', `/v1/api-keys/${id}`, { body: { name } })

  test('shows the new name with all its keys, and in history, orders and events from before', async () => {
    const old = await issue({ scopes: SCOPES })
    const { id: petId } = (await api.post('/pets', { name: 'Rex', categoryId: 1 }, {})).body as { id: number }
    const placing = {
      apiKey: old.key,
      body: { petId },
      headers: { 'idempotency-key': 'before the new name' },
    }
    const placed = (await api.call('POST', '/v1/store/orders', placing)).body as { id: number }
    const next = (await rotate(old.id)).body as Issued
    await api.remove(`/api-keys/${old.id}`)
    const renamed = await rename(old.id, 'Zoë 🐕')
    expect(renamed).toMatchObject({ status: 200, body: { id: old.id, actorId: old.actorId, name: 'Zoë 🐕' } })
    expect(renamed.body).not.toHaveProperty('key')
    clockMs += SECOND_MS
    expect([(await find(old.id))?.name, (await find(next.id))?.name]).toEqual(['Zoë 🐕', 'Zoë 🐕'])
    expect((await api.get('/api-keys/self', { apiKey: next.key })).body).toMatchObject({ name: 'Zoë 🐕' })
    expect((await api.history(petId)).map(({ actor }) => actor)).toEqual(['Zoë 🐕', 'staff'])
    expect((await api.get(`/store/orders/${placed.id}`)).body).toMatchObject({ placedBy: 'Zoë 🐕' })
    await sequenceEvents(db)
    const events = (await api.get('/events?type=order.placed')).body as { order: object; actor: string }[]
    expect(events.at(-1)).toMatchObject({ actor: 'Zoë 🐕', order: { id: placed.id, placedBy: 'Zoë 🐕' } })
    // A stored response, too.
    const replay = await api.call('POST', '/v1/store/orders', { ...placing, apiKey: next.key })
    expect(replay).toMatchObject({ status: 201, body: { ...placed, placedBy: 'Zoë 🐕' } })
  })

  test.each([
    [' ', 'blank'],
    ['a'.repeat(101), 'too_long'],
    ['Petstore', 'reserved'],
    [7, 'wrong_type'],
    [undefined, 'missing'],
  ])('rejects the name %j (400)', async (name, code) => {
    const { id } = await issue()
    const response = await rename(id, name)
    expect(response).toMatchObject({
      status: 400,
      body: { code: 'invalid_body', details: [{ field: 'name', code }] },
    })
    expect((await find(id))?.name).toBe('web-shop')
  })

  test.each([UNKNOWN_ID, ...NOT_IDS])('returns 404 for the key %s', async (id) => {
    expect(await rename(id, 'x')).toMatchObject({ status: 404, body: { code: 'api_key_not_found' } })
  })
})

describe('rotating a key', () => {
  test('creates a key with the same name, scopes, rate limit and lifetime; both keys work during the overlap', async () => {
    const old = await issue({ scopes: ['pets:read'], rateLimit: 9, expiresInSeconds: 7_200 })
    const before = Date.now()
    const response = await rotate(old.id, { overlapSeconds: 60 })
    const after = Date.now()
    expect(response.status).toBe(201)
    const { id, key, ...facts } = response.body as Issued
    expect(facts).toMatchObject({ name: 'web-shop', scopes: ['pets:read'], rateLimit: 9 })
    expect(lifetimeOf(response.body as Issued)).toBe(7_200)
    expect(id).toBeGreaterThan(old.id)
    expect([await statusWith(old.key), await statusWith(key)]).toEqual([200, 200])
    const expiresAt = Date.parse((await find(old.id))?.expiresAt ?? '')
    expect(expiresAt).toBeGreaterThanOrEqual(before + 60_000)
    expect(expiresAt).toBeLessThanOrEqual(after + 60_000)
  })

  test('keeps the actor, so that the successor of a successor replays requests of the first key', async () => {
    const create = (key: string) =>
      api.call('POST', '/v1/pets', {
        apiKey: key,
        body: { name: 'Rex', categoryId: 1 },
        headers: { 'idempotency-key': 'before the rotations' },
      })
    const old = await issue()
    const first = await create(old.key)
    const second = (await rotate(old.id)).body as Issued
    const third = (await rotate(second.id)).body as Issued
    const self = (await api.get('/api-keys/self', { apiKey: third.key })).body
    expect(self).toMatchObject({ id: third.id, actorId: old.actorId })
    expect(await create(third.key)).toMatchObject({ status: 201, text: first.text })
    expect((await create((await issue()).key)).text).not.toBe(first.text)
  })

  test('makes the old key invalid within a second if overlapSeconds is 0', async () => {
    const old = await issue()
    expect(await statusWith(old.key)).toBe(200)
    const response = await rotate(old.id, { overlapSeconds: 0 })
    clockMs += SECOND_MS
    expect([await statusWith(old.key), await statusWith((response.body as Issued).key)]).toEqual([401, 200])
  })

  test('keeps the old key valid for a day by default, but not beyond its own expiry', async () => {
    const [unlimited, short] = await Promise.all([issue(), issue({ expiresInSeconds: 600 })])
    const before = Date.now()
    await Promise.all([rotate(unlimited.id), rotate(short.id)])
    const after = Date.now()
    const expiresAt = Date.parse((await find(unlimited.id))?.expiresAt ?? '')
    expect(expiresAt).toBeGreaterThanOrEqual(before + 86_400_000)
    expect(expiresAt).toBeLessThanOrEqual(after + 86_400_000)
    expect((await find(short.id))?.expiresAt).toBe(short.expiresAt)
  })

  test('a second time, as after a lost response, still creates a key without expiry', async () => {
    const old = await issue()
    expect((await rotate(old.id)).body).not.toHaveProperty('expiresAt')
    expect((await rotate(old.id)).body).not.toHaveProperty('expiresAt')
  })

  test.each(['-1', '315360001', '1.5', '1e-400', '"60"', 'null'])(
    'rejects the overlapSeconds %s (400)',
    async (overlap) => {
      const response = await rotate((await issue()).id, `{"overlapSeconds": ${overlap}}`)
      expect(response).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
      expect(faultyFields(response)).toEqual(['overlapSeconds'])
    },
  )

  test('rejects a missing body (400)', async () => {
    const { id } = await issue()
    const response = await api.call('POST', `/v1/api-keys/${id}/rotate`)
    expect(response).toMatchObject({ status: 400, body: { code: 'missing_body' } })
  })

  test('returns 404 for a revoked, expired or unknown key', async () => {
    const [revoked, expired] = await Promise.all([issue(), issue()])
    await api.remove(`/api-keys/${revoked.id}`)
    await api.sql('update api_keys set expires_at = now() where id = $1', [expired.id])
    for (const id of [revoked.id, expired.id, UNKNOWN_ID, ...NOT_IDS]) {
      const { status, body } = await rotate(id)
      expect({ status, body }).toMatchObject({ status: 404, body: { code: 'api_key_not_found' } })
    }
  })
})

describe('revoking a key', () => {
  test('makes it invalid within a second; revoking it again returns 204 and keeps revokedAt', async () => {
    const { id, key } = await issue()
    expect(await statusWith(key)).toBe(200)
    expect(await api.remove(`/api-keys/${id}`)).toMatchObject({ status: 204, text: '' })
    clockMs += SECOND_MS
    expect(await statusWith(key)).toBe(401)
    const revokedAt = (await find(id))?.revokedAt
    expect((await api.remove(`/api-keys/${id}`)).status).toBe(204)
    expect((await find(id))?.revokedAt).toBe(revokedAt)
  })

  test.each([UNKNOWN_ID, ...NOT_IDS])('returns 404 for the key %s', async (id) => {
    const response = await api.remove(`/api-keys/${id}`)
    expect(response).toMatchObject({ status: 404, body: { code: 'api_key_not_found' } })
  })
})

describe('DELETE /v1/api-keys/self', () => {
  test.each(SCOPES)('revokes a key that has only the scope %s, within a second', async (scope) => {
    const made = await issue({ scopes: [scope] })
    const other = await issue({ scopes: [scope] })
    const response = await api.call('DELETE', '/v1/api-keys/self', { apiKey: made.key })
    expect(response).toMatchObject({ status: 204, text: '' })
    clockMs += SECOND_MS
    expect(await statusWith(made.key, '/api-keys/self')).toBe(401)
    expect((await find(made.id))?.revokedAt).toMatch(TIME)
    expect(await statusWith(other.key, '/api-keys/self')).toBe(200)
  })

  test('rejects a missing key (401)', async () => {
    expect((await api.call('DELETE', '/v1/api-keys/self', { apiKey: '' })).status).toBe(401)
  })
})

describe('calls of deprecated operations', () => {
  const list = async (query = '') => {
    const response = await api.get(`/api-keys/deprecated-calls${query}`)
    expect(response.status, response.text).toBe(200)
    return response.body as Record<string, unknown>[]
  }

  test('are listed by API key and operation, the most calls in the last 30 days first', () =>
    onOneDay(async () => {
      await api.sql('truncate deprecated_calls')
      expect(await list()).toEqual([])
      const [often, rarely] = [await issue({ name: 'often' }), await issue({ name: 'rarely' })]
      await api.sql(
        `insert into deprecated_calls (api_key_id, operation, day, calls) values
          ($1, 'getPet', (now() at time zone 'utc')::date - 200, 1000), ($1, 'getPet', (now() at time zone 'utc')::date, 2),
          ($2, 'getPet', (now() at time zone 'utc')::date - 29, 3), ($2, 'getPet', (now() at time zone 'utc')::date - 30, 4),
          ($2, 'getDog', (now() at time zone 'utc')::date, 1)`,
        [rarely.id, often.id],
      )
      const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
      const removedAt = '2030-12-05T00:00:00.000Z'
      const uses = await list()
      expect(uses).toEqual([
        {
          apiKeyId: often.id,
          actor: 'often',
          operation: 'getPet',
          calls: 7,
          callsLast30Days: 3,
          firstDay: day(30),
          lastDay: day(29),
          removedAt,
        },
        {
          apiKeyId: rarely.id,
          actor: 'rarely',
          operation: 'getPet',
          calls: 1002,
          callsLast30Days: 2,
          firstDay: day(200),
          lastDay: day(0),
          removedAt,
        },
        {
          apiKeyId: often.id,
          actor: 'often',
          operation: 'getDog',
          calls: 1,
          callsLast30Days: 1,
          firstDay: day(0),
          lastDay: day(0),
        },
      ])
      expect(await list('?limit=1')).toEqual(uses.slice(0, 1))
    }))

  test.each(['limit=0', 'limit=101', 'limit=x'])('rejects ?%s (400)', async (query) => {
    const response = await api.get(`/api-keys/deprecated-calls?${query}`)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  })
})

describe('GET /v1/api-keys/self', () => {
  test.each(SCOPES)('returns the id, name and scopes of a key that has only the scope %s', async (scope) => {
    const { id, actorId, key } = await issue({ name: 'Zoë 🐕', scopes: [scope] })
    const { status, body } = await api.get('/api-keys/self', { apiKey: key })
    expect(status).toBe(200)
    expect(body).toEqual({ id, actorId, name: 'Zoë 🐕', kind: 'program', scopes: [scope] })
  })

  test('returns the expiry of the key, but not its rate limit', async () => {
    const { id, actorId, key, name, scopes, expiresAt } = await issue({ expiresInSeconds: 60, rateLimit: 9 })
    const { body } = await api.get('/api-keys/self', { apiKey: key })
    expect(body).toEqual({ id, actorId, name, kind: 'program', scopes, expiresAt })
  })
})

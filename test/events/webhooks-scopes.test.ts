// Which events a key can send to a webhook or see in its deliveries. test/security/scopes.test.ts tests the scopes that each
// operation always requires.
import { describe, expect, test } from 'vitest'
import type { Scope } from '../../src/contract/scopes.ts'
import { issueApiKey } from '../support/app.ts'
import { openApiFixture } from '../support/api-fixture.ts'

const api = await openApiFixture()
const URL = 'https://shop.example/hooks'

async function create(body: object): Promise<number> {
  const response = await api.post('/webhooks', { url: URL, ...body })
  expect(response.status, response.text).toBe(201)
  return (response.body as { id: number }).id
}

/** Adds an attempt, and returns its id. Without a number, it is that of a test event. */
async function addDelivery(id: number, type: string, number: number | null = 1): Promise<unknown> {
  const [delivery] = await api.sql(
    `insert into webhook_deliveries (webhook_id, at, message_id, kind, number, type, occurred_at, attempt, outcome,
        duration_ms)
      values ($1, now(), 'evt_0-1', 'event', $2, $3, now(), 1, 'failed', 5) returning id`,
    [id, number, type],
  )
  return delivery?.['id']
}

async function callerWith(...scopes: Scope[]) {
  const { text: apiKey } = await issueApiKey(api.db, { scopes })
  return (method: string, path: string, body?: object) => api.call(method, `/v1${path}`, { body, apiKey })
}

describe('a key without orders:read', async () => {
  const send = await callerWith('webhooks:write', 'webhooks:read', 'pets:read')

  test('gets only events of pets by default', async () => {
    const { body } = await send('POST', '/webhooks', { url: URL })
    expect(body).toMatchObject({
      types: ['pet.created', 'pet.updated', 'pet.profile_updated', 'pet.deleted'],
    })
  })

  test('cannot redirect, sign or repeat events of orders (403)', async () => {
    const id = await create({ types: ['order.placed'] })
    const before = (await api.get(`/webhooks/${id}`)).body
    const event = await addDelivery(id, 'order.placed')
    const testEvent = await addDelivery(id, 'webhook.test', null)
    for (const [method, path, body] of [
      ['PATCH', '', { url: 'https://evil.example/' }],
      ['PATCH', '', { enabled: true }],
      ['POST', '/rotate-secret', {}],
      ['POST', '/test', {}],
      ['POST', '/replay', { after: 'latest' }],
      ['POST', `/deliveries/${event}/redeliver`, {}],
      ['POST', `/deliveries/${testEvent}/redeliver`, {}],
    ] as const) {
      const { status, headers } = await send(method, `/webhooks/${id}${path}`, body)
      expect(status, `${method} ${path}`).toBe(403)
      expect(headers.get('www-authenticate')).toContain('scope="orders:read"')
    }
    expect((await api.get(`/webhooks/${id}`)).body).toEqual(before)
    await api.call('PATCH', `/v1/webhooks/${id}`, { body: { types: ['pet.created'] } })
    expect((await send('POST', `/webhooks/${id}/deliveries/${event}/redeliver`, {})).status).toBe(403)
    expect((await send('POST', `/webhooks/${id}/deliveries/${testEvent}/redeliver`, {})).status).toBe(202)
    expect((await send('PATCH', `/webhooks/${id}`, { url: URL })).status).toBe(200)
  })

  test('cannot change a URL by giving up the types of orders at the same time (403)', async () => {
    const id = await create({ types: ['order.placed', 'pet.created'] })
    const before = (await api.get(`/webhooks/${id}`)).body
    const changes = { url: 'https://evil.example/', types: ['pet.created'], enabled: true }
    const { status, headers } = await send('PATCH', `/webhooks/${id}`, changes)
    expect(status).toBe(403)
    expect(headers.get('www-authenticate')).toContain('scope="orders:read"')
    expect((await api.get(`/webhooks/${id}`)).body).toEqual(before)
  })

  test('cannot subscribe to events of orders (403)', async () => {
    const id = await create({ types: ['pet.created'] })
    const created = await send('POST', '/webhooks', { url: URL, types: ['order.placed'] })
    const changed = await send('PATCH', `/webhooks/${id}`, { types: ['pet.created', 'order.placed'] })
    for (const response of [created, changed]) {
      expect(response.status).toBe(403)
      expect(response.headers.get('www-authenticate')).toContain('scope="orders:read"')
    }
  })

  test('the list of deliveries contains no events of orders', async () => {
    const id = await create({ types: ['order.placed', 'pet.created'] })
    for (const type of ['pet.created', 'order.placed', 'pet.deleted', 'order.expired']) {
      await addDelivery(id, type)
    }
    await addDelivery(id, 'webhook.test', null)
    const types = (body: unknown) => (body as { type: string }[]).map(({ type }) => type)
    const path = `/webhooks/${id}/deliveries`
    expect(types((await send('GET', path)).body)).toEqual(['webhook.test', 'pet.deleted', 'pet.created'])
    expect(types((await api.get(path)).body)).toHaveLength(5)
    // Pages are full, although the list leaves out rows.
    const page = await send('GET', `${path}?limit=2`)
    expect(types(page.body)).toEqual(['webhook.test', 'pet.deleted'])
    const next = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1]?.replace(/^.*\/v1/, '') ?? ''
    expect(types((await send('GET', next)).body)).toEqual(['pet.created'])
  })
})

test('a key without webhooks:write sees each URL without its query', async () => {
  const id = await create({ url: `${URL}?token=secret&next=%3F?x`, types: ['pet.created'] })
  const reader = await callerWith('webhooks:read')
  const one = await reader('GET', `/webhooks/${id}`)
  expect(one).toMatchObject({ status: 200, body: { url: URL } })
  const list = await reader('GET', '/webhooks')
  expect((list.body as { id: number; url: string }[]).find((webhook) => webhook.id === id)?.url).toBe(URL)
  expect(one.text + list.text).not.toContain('token')
  const writer = await callerWith('webhooks:read', 'webhooks:write')
  const full = { url: `${URL}?token=secret&next=%3F?x` }
  expect((await writer('GET', `/webhooks/${id}`)).body).toMatchObject(full)
  expect((await writer('GET', '/webhooks')).body).toContainEqual(expect.objectContaining({ id, ...full }))
})

test('a key with webhooks:write alone can only delete webhooks', async () => {
  const id = await create({ types: ['pet.created'] })
  const send = await callerWith('webhooks:write')
  const { status, headers } = await send('PATCH', `/webhooks/${id}`, { url: URL })
  expect(status).toBe(403)
  expect(headers.get('www-authenticate')).toContain('scope="pets:read"')
  expect((await send('DELETE', `/webhooks/${id}`)).status).toBe(204)
})

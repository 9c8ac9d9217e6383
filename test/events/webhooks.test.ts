// Webhooks over HTTP: create, change, rotate and delete them. webhooks-scopes.test.ts tests which keys can do that, and
// delivery.test.ts and its neighbours test the delivery.
import { expect, test } from 'vitest'
import { addressRule } from '../../src/events/webhooks/addresses.ts'
import { openApiFixture, openApiFixtureOn } from '../support/api-fixture.ts'

const api = await openApiFixture()
const URL = 'https://shop.example/hooks'

interface Webhook {
  id: number
  url: string
  secret: string
  types: string[]
  enabled: boolean
}

async function create(body: object = {}): Promise<Webhook> {
  const response = await api.post('/webhooks', { url: URL, ...body })
  expect(response.status, response.text).toBe(201)
  return response.body as Webhook
}

test('returns the secret only once, and all types that the key can read by default', async () => {
  const { id, secret, ...created } = await create({ description: 'Web shop' })
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(created).toMatchObject({ url: URL, description: 'Web shop', enabled: true, waiting: 0 })
  expect(created.types).toHaveLength(10)
  const { body, text } = await api.get(`/webhooks/${id}`)
  expect(body).toEqual({ id, ...created })
  expect(text + (await api.get('/webhooks')).text).not.toContain('whsec_')
})

test('the role of the service cannot read a secret', async () => {
  const read = (column: string) =>
    api.db.read({ name: `read ${column}`, text: `select ${column} from webhook_secrets`, values: [] })
  const rejected = (await read('secret').catch((error: unknown) => error)) as Error
  expect(String(rejected.cause)).toContain('permission denied')
  expect(await read('webhook_id')).not.toHaveLength(0)
})

test('rejects a URL that the service would not deliver to (400)', async () => {
  const strict = await openApiFixtureOn(api.databaseUrl, api.db, { webhookAddresses: addressRule([]) })
  for (const url of [
    'http://shop.example/',
    'https://user:password@shop.example/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://0x7f.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/',
    'https://db.internal/',
    'https://shop.example/#part',
    'ftp://shop.example/',
    'shop.example',
  ]) {
    const { status, body } = await strict.post('/webhooks', { url })
    expect(status, url).toBe(400)
    expect(body).toMatchObject({ code: 'invalid_body', details: [{ field: 'url', code: 'invalid_url' }] })
  }
})

test('changes only the given fields', async () => {
  const { id, secret: _secret, ...before } = await create({ types: ['pet.created'] })
  const change = (body: object) => api.call('PATCH', `/v1/webhooks/${id}`, { body })
  expect((await change({})).body).toEqual({ id, ...before })
  expect((await change({ enabled: false })).body).toMatchObject({
    enabled: false,
    disabledReason: 'caller',
    disabledAt: expect.any(String),
    url: URL,
  })
  const enabled = await change({ enabled: true, url: 'https://other.example/', types: ['pet.deleted'] })
  expect(enabled.body).toEqual({ id, ...before, url: 'https://other.example/', types: ['pet.deleted'] })
})

test('keeps at most three secrets, and none that has expired', async () => {
  const { id } = await create()
  const count = async () => (await api.sql('select from webhook_secrets where webhook_id = $1', [id])).length
  for (const expected of [2, 3, 3]) {
    await api.post(`/webhooks/${id}/rotate-secret`, {})
    expect(await count()).toBe(expected)
  }
  await api.post(`/webhooks/${id}/rotate-secret`, { overlapSeconds: 0 })
  expect(await count()).toBe(1)
})

test('deleting a webhook deletes its secrets, retries and deliveries', async () => {
  const { id } = await create()
  await api.post(`/webhooks/${id}/test`, {})
  expect((await api.get(`/webhooks/${id}`)).body).toMatchObject({ waiting: 1 })
  expect((await api.remove(`/webhooks/${id}`)).status).toBe(204)
  for (const table of ['webhook_secrets', 'webhook_retries', 'webhook_deliveries']) {
    expect(await api.sql(`select from ${table} where webhook_id = $1`, [id])).toEqual([])
  }
})

test('at most 100 test events and redeliveries wait (409)', async () => {
  const { id } = await create()
  await api.sql(
    `insert into webhook_retries (webhook_id, kind, type, occurred_at)
      select $1, 'test', 'webhook.test', now() from generate_series(1, 100)`,
    [id],
  )
  const { status, body, headers } = await api.post(`/webhooks/${id}/test`, {})
  expect(status).toBe(409)
  expect(body).toMatchObject({ code: 'webhook_busy' })
  expect(headers.get('retry-after')).toBe('60')
})

test('lists deliveries in pages, by outcome', async () => {
  const { id } = await create()
  await api.sql(
    `insert into webhook_deliveries (webhook_id, at, message_id, kind, number, pet_id, type, occurred_at, attempt,
        outcome, response_status, duration_ms)
      select $1, now(), 'evt_0123456789ab-' || n, 'event', n, n, 'pet.created', now(), 1,
        case when n % 2 = 0 then 'failed' else 'delivered' end, 500, 7 from generate_series(1, 9) as n`,
    [id],
  )
  const first = await api.get(`/webhooks/${id}/deliveries?limit=4&outcome=delivered`)
  const petIds = (body: unknown) => (body as { petId: number }[]).map(({ petId }) => petId)
  expect(petIds(first.body)).toEqual([9, 7, 5, 3])
  const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1]?.replace(/^.*\/v1/, '') ?? ''
  const second = await api.get(next)
  expect(petIds(second.body)).toEqual([1])
  expect(second.headers.get('link')).not.toContain('next')
  expect((second.body as object[])[0]).toMatchObject({ position: '0123456789ab-1', responseStatus: 500 })
  expect((await api.get(next.replace('delivered', 'failed'))).status).toBe(400)
})

// If-None-Match: every read of one thing returns 304 without a body if the client has it already.
import { expect, test } from 'vitest'
import { openApiFixture } from '../support/api-fixture.ts'

const petstore = await openApiFixture()
const read = (path: string, etag: string) =>
  petstore.call('GET', `/v1${path}`, { headers: { 'if-none-match': etag } })

async function expectConditional(path: string, change: () => Promise<unknown>): Promise<void> {
  const first = await petstore.get(path)
  const etag = first.headers.get('etag') ?? ''
  expect([first.status, etag]).toEqual([200, expect.stringMatching(/^"[\w-]+"$/)])
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const { status, text, headers } = await read(path, known)
    expect([status, text, headers.get('etag'), headers.get('content-type')]).toEqual([304, '', etag, null])
  }
  expect(await read(path, '"other"')).toMatchObject({ status: 200, text: first.text })
  await change()
  const changed = await read(path, etag)
  expect(changed.status).toBe(200)
  expect(changed.headers.get('etag')).not.toBe(etag)
}

test.each(['', '?include=profile', '?include=times'])('getPet%s', async (query) => {
  const { id } = await petstore.addPet()
  const rename = () => petstore.call('PATCH', `/v1/pets/${id}`, { body: { name: 'Tom' } })
  await expectConditional(`/pets/${id}${query}`, rename)
})

test('a change of the profile alone changes what it is included in', async () => {
  const { id } = await petstore.addPet()
  const put = () => petstore.call('PUT', `/v1/pets/${id}/profile`, { body: { breed: String(Math.random()) } })
  await expectConditional(`/pets?id=${id}&include=profile`, put)
  await expectConditional(`/pets/${id}/profile`, put)
})

test('listPets with one id', async () => {
  const { id } = await petstore.addPet()
  await expectConditional(`/pets?id=${id}`, () =>
    petstore.call('PATCH', `/v1/pets/${id}`, { body: { status: 'sold' } }),
  )
  const list = await read('/pets?limit=1', '*')
  expect([list.status, list.headers.get('etag')]).toEqual([200, null])
})

test('an order', async () => {
  const { id: petId } = await petstore.addPet({ status: 'available' })
  const { body } = await petstore.post('/store/orders', { petId })
  const { id } = body as { id: number }
  await expectConditional(`/store/orders/${id}`, () => petstore.call('POST', `/v1/store/orders/${id}/cancel`))
})

test('a webhook, and the own API key', async () => {
  const { body } = await petstore.post('/webhooks', { url: 'https://shop.example/hooks' })
  const path = `/webhooks/${(body as { id: number }).id}`
  await expectConditional(path, () => petstore.call('PATCH', `/v1${path}`, { body: { enabled: false } }))
  const { headers } = await petstore.get('/api-keys/self')
  expect((await read('/api-keys/self', headers.get('etag') ?? '')).status).toBe(304)
})

test('an error is no 304, and a malformed If-None-Match is rejected (400)', async () => {
  for (const path of ['/pets', '/store/orders', '/webhooks'])
    expect((await read(`${path}/9223372036854775807`, '*')).status).toBe(404)
  expect((await read('/pets/1', '1')).body).toMatchObject({
    details: [{ field: 'if-none-match', code: 'invalid_etag' }],
  })
})

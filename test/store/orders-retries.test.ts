// Idempotency-Key of placeOrder: a retry returns the first response and holds the pet once.
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { issueApiKey } from '../support/app.ts'
import { asSuperuser } from '../support/roles.ts'
import { type Order, openApiFixture, openApiFixtureOn } from '../support/api-fixture.ts'

const api = await openApiFixture()
const place = (body: unknown, key: string) => api.post('/store/orders', body, { 'idempotency-key': key })

test('a retry returns the first response, even after the order was completed', async () => {
  const key = randomUUID()
  const { id: petId } = await api.addPet()
  const body = { petId, holdMinutes: 5, note: 'Zoë 🐕' }
  const first = await place(body, key)
  expect(first.status).toBe(201)
  expect(first.headers.get('idempotency-replayed')).toBeNull()
  const expectSame = async () => {
    const retry = await place(body, key)
    expect(retry.status).toBe(201)
    expect(retry.text).toBe(first.text)
    expect(retry.headers.get('idempotency-replayed')).toBe('true')
    expect(retry.headers.get('location')).toBe(first.headers.get('location'))
  }
  await expectSame()
  await api.end('complete', (first.body as Order).id)
  await expectSame()
  expect(await api.findPet(petId)).toMatchObject({ status: 'sold' })
  expect((await api.get(`/store/orders?petId=${petId}`)).body).toHaveLength(1)
})

test('replays an order without note and holdMinutes', async () => {
  const key = randomUUID()
  const { id: petId } = await api.addPet()
  const first = await place({ petId }, key)
  expect((await place({ petId }, key)).text).toBe(first.text)
})

test('replays an order after the operator changed the default hold time', async () => {
  const after = await openApiFixtureOn(api.databaseUrl, api.db, { holdMinutes: 30 })
  const apiKey = (await issueApiKey(api.db, { scopes: ['orders:write'] })).text
  const { id: petId } = await api.addPet()
  const options = { apiKey, body: { petId }, headers: { 'idempotency-key': randomUUID() } }
  const first = await api.call('POST', '/v1/store/orders', options)
  expect((await after.call('POST', '/v1/store/orders', options)).text).toBe(first.text)
})

test('rejects the same key with other values (422) and holds nothing', async () => {
  const key = randomUUID()
  const [{ id: petId }, other] = await Promise.all([api.addPet(), api.addPet()])
  expect((await place({ petId, holdMinutes: 5, note: 'a' }, key)).status).toBe(201)
  for (const body of [
    { petId: other.id, holdMinutes: 5, note: 'a' },
    { petId, holdMinutes: 6, note: 'a' },
    { petId, holdMinutes: 5, note: 'b' },
    { petId, holdMinutes: 5 },
  ]) {
    expect(await place(body, key)).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
  }
  expect(await api.findPet(other.id)).toMatchObject({ status: 'available' })
})

test('rejects a key that was used to add a pet (422)', async () => {
  const key = randomUUID()
  const added = await api.post('/pets', { name: 'Rex', categoryId: 1 }, { 'idempotency-key': key })
  const { id: petId } = added.body as { id: number }
  expect((await place({ petId }, key)).status).toBe(422)
})

test('16 concurrent orders with one key create one order, and every 201 has the same body', async () => {
  for (let round = 0; round < 5; round += 1) {
    const key = randomUUID()
    const { id: petId } = await api.addPet()
    const responses = await Promise.all(Array.from({ length: 16 }, () => place({ petId }, key)))
    const placed = responses.filter(({ status }) => status === 201)
    expect(new Set(placed.map(({ text }) => text)).size).toBe(1)
    expect(placed.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
    for (const { status, body } of responses.filter((response) => response.status !== 201)) {
      expect({ status, body }).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } })
    }
    expect((await api.get(`/store/orders?petId=${petId}`)).body).toHaveLength(1)
    expect((await api.history(petId)).map(({ event }) => event)).toEqual(['order_placed', 'created'])
  }
})

test('16 concurrent replays return the first response even while another session has the lock of the key', async () => {
  const key = randomUUID()
  const { id: petId } = await api.addPet()
  const first = await place({ petId }, key)
  const other = new Client(asSuperuser(api.databaseUrl))
  await other.connect()
  await other.query(
    'select pg_advisory_lock(hashtextextended(key, actor_id)) from idempotency_keys where key = $1',
    [key],
  )
  const replays = await Promise.all(Array.from({ length: 16 }, () => place({ petId }, key)))
  await other.end()
  for (const replay of replays) {
    expect(replay).toMatchObject({ status: 201, text: first.text })
    expect(replay.headers.get('idempotency-replayed')).toBe('true')
  }
})

test('does not store a rejection: a retry with the same key holds the pet once it is available', async () => {
  const key = randomUUID()
  const { id, petId } = await api.hold()
  expect((await place({ petId }, key)).status).toBe(409)
  await api.end('cancel', id)
  const response = await place({ petId }, key)
  expect(response.status).toBe(201)
  expect(response.headers.get('idempotency-replayed')).toBeNull()
})

test.each([0, 256])('rejects a key of %i characters (400)', async (length) => {
  const key = 'k'.repeat(length)
  const { id: petId } = await api.addPet()
  expect(await place({ petId }, key)).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
  expect(await api.findPet(petId)).toMatchObject({ status: 'available' })
})

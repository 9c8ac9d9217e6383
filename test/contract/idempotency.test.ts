// Idempotency-Key: a client can retry a create, and the service creates one pet.
import { randomUUID } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { faultyFields, idsOf, newCategoryId, newPet, type Pet, petsOf } from '../support/pets.ts'
import { sendRequest } from '../support/raw-http.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey }, { retriesBusy: true })

function create(body: unknown, key: string) {
  return petstore.post('/pets', body, { 'idempotency-key': key })
}

async function idsInCategory(categoryId: number | bigint): Promise<number[]> {
  return idsOf(petsOf(await petstore.get(`/pets?categoryId=${categoryId}&limit=100`)))
}

test('a retried create returns the first response and creates nothing', async () => {
  const key = randomUUID()
  const pet = newPet({ name: 'Zoë 🐕', status: 'pending' })
  const first = await create(pet, key)
  expect(first.status).toBe(201)
  expect(first.headers.get('idempotency-replayed')).toBeNull()
  for (let round = 0; round < 3; round++) {
    const retried = await create(pet, key)
    expect(retried.status).toBe(201)
    expect(retried.text).toBe(first.text)
    expect(retried.headers.get('idempotency-replayed')).toBe('true')
    expect(retried.headers.get('location')).toBe(first.headers.get('location'))
  }
  expect(await idsInCategory(pet.categoryId)).toEqual([(first.body as Pet).id])
})

test('replays a large category id without rounding', async () => {
  const key = randomUUID()
  const body = '{"name": "Rex", "categoryId": 9223372036854775807}'
  const first = await create(body, key)
  expect((await create(body, key)).text).toBe(first.text)
  const other = await create('{"name": "Rex", "categoryId": 9223372036854775806}', key)
  expect(other.status).toBe(422)
})

test('returns no Idempotency-Replayed without an Idempotency-Key', async () => {
  const { headers } = await petstore.post('/pets', newPet())
  expect(headers.get('idempotency-replayed')).toBeNull()
})

test('replays the response if the same values are written differently', async () => {
  const key = randomUUID()
  const categoryId = newCategoryId()
  const first = await create(`{"name": "Rex", "categoryId": ${categoryId}}`, key)
  for (const same of [
    `{"categoryId":${categoryId},"name":"\\u0052ex"}`,
    `{"name": "Rex", "categoryId": ${categoryId}.0, "status": "available"}`,
    `{"name": "Rex", "categoryId": ${categoryId}, "unknown": 7, "id": 1}`,
  ]) {
    const retried = await create(same, key)
    expect(retried.text).toBe(first.text)
    expect(retried.headers.get('idempotency-replayed')).toBe('true')
  }
  expect(await idsInCategory(categoryId)).toHaveLength(1)
})

test('rejects a known key with other values (422), and creates nothing', async () => {
  const key = randomUUID()
  const pet = newPet()
  expect((await create(pet, key)).status).toBe(201)
  for (const other of [
    { ...pet, name: 'Other' },
    { ...pet, name: `${pet.name} ` },
    { ...pet, categoryId: newCategoryId() },
    { ...pet, status: 'sold' },
  ]) {
    const response = await create(other, key)
    expect(response).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
    expect(response.headers.get('idempotency-replayed')).toBeNull()
  }
  expect(await idsInCategory(pet.categoryId)).toHaveLength(1)
  expect((await create(pet, key)).headers.get('idempotency-replayed')).toBe('true')
})

test('distinguishes values that look equal when concatenated', async () => {
  const key = randomUUID()
  expect((await create({ name: 'a","5', categoryId: 5 }, key)).status).toBe(201)
  expect((await create({ name: 'a', categoryId: 5 }, key)).status).toBe(422)
})

test('distinguishes keys by case', async () => {
  const key = `key-${randomUUID()}`
  const pet = newPet()
  await create(pet, key)
  expect((await create(pet, key.toUpperCase())).headers.get('idempotency-replayed')).toBeNull()
  expect(await idsInCategory(pet.categoryId)).toHaveLength(2)
})

test('20 concurrent creates with one key create exactly one pet', async () => {
  for (let round = 0; round < 5; round++) {
    const key = randomUUID()
    const pet = newPet()
    const responses = await Promise.all(Array.from({ length: 20 }, () => create(pet, key)))
    const created = responses.filter(({ status }) => status === 201)
    const rejected = responses.filter(({ status }) => status !== 201)
    expect(rejected.every(({ status }) => status === 409)).toBe(true)
    expect(rejected.every(({ body }) => (body as { code: string }).code === 'idempotency_key_in_use')).toBe(
      true,
    )
    const [id, ...others] = new Set(idsOf(created.map(({ body }) => body as Pet)))
    expect(others).toEqual([])
    expect(created.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
    expect(await idsInCategory(pet.categoryId)).toEqual([id])
  }
})

test('16 concurrent replays of a finished create all return its response', async () => {
  const key = randomUUID()
  const pet = newPet()
  const first = await create(pet, key)
  const replays = await Promise.all(Array.from({ length: 16 }, () => create(pet, key)))
  for (const replay of replays) {
    expect(replay).toMatchObject({ status: 201, text: first.text })
    expect(replay.headers.get('idempotency-replayed')).toBe('true')
  }
  const reused = await Promise.all(Array.from({ length: 16 }, () => create({ ...pet, name: 'Other' }, key)))
  expect(reused.map(({ status }) => status)).toEqual(reused.map(() => 422))
})

test('20 concurrent creates with different keys create 20 pets', async () => {
  const pet = newPet()
  const responses = await Promise.all(Array.from({ length: 20 }, () => create(pet, randomUUID())))
  expect(responses.every(({ status }) => status === 201)).toBe(true)
  expect(await idsInCategory(pet.categoryId)).toHaveLength(20)
})

describe('the key', () => {
  test.each([
    { what: 'one character', key: () => String.fromCharCode(33 + Math.floor(Math.random() * 94)) },
    { what: '255 characters', key: () => randomUUID().padEnd(255, 'x') },
    { what: 'any ASCII characters', key: () => `${randomUUID()} "quoted", ;=%00 '--` },
    { what: 'Latin-1 characters', key: () => `${randomUUID()} \u00e9\u00ff` },
  ])('may be $what', async ({ key }) => {
    const pet = newPet()
    const sent = key()
    const first = await create(pet, sent)
    // An earlier run against the same service may have used this one-character key with other values.
    if (sent.length === 1 && first.status === 422) return
    expect(first.status).toBe(201)
    expect((await create(pet, sent)).text).toBe(first.text)
  })

  test.each([
    { what: 'empty', key: '' },
    { what: 'blank', key: '   ' },
    { what: '256 characters', key: 'x'.repeat(256) },
    { what: '5,000 characters', key: 'x'.repeat(5_000) },
  ])('must not be $what (400), and nothing is created', async ({ key }) => {
    const pet = newPet()
    const response = await create(pet, key)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect(faultyFields(response)).toEqual(['idempotency-key'])
    expect(await idsInCategory(pet.categoryId)).toEqual([])
  })

  test('must not be sent twice (400), and nothing is created', async () => {
    const pet = newPet()
    const body = JSON.stringify(pet)
    const response = await sendRequest(origin, {
      method: 'POST',
      headers: [
        `Authorization: Bearer ${apiKey}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Idempotency-Key: one',
        'idempotency-key: two',
      ],
      body,
    })
    expect(response.status).toBe(400)
    expect(JSON.parse(response.text)).toMatchObject({
      code: 'invalid_parameter',
      details: [{ field: 'idempotency-key', code: 'repeated' }],
    })
    expect(await idsInCategory(pet.categoryId)).toEqual([])
  })

  test('is accepted in a header whose name is in any case', async () => {
    const key = randomUUID()
    const pet = newPet()
    const body = JSON.stringify(pet)
    const first = await create(pet, key)
    const response = await sendRequest(origin, {
      method: 'POST',
      headers: [
        `AUTHORIZATION: Bearer ${apiKey}`,
        'CONTENT-TYPE: application/json',
        `CONTENT-LENGTH: ${body.length}`,
        `IDEMPOTENCY-KEY: ${key}`,
      ],
      body,
    })
    expect(response.text).toBe(first.text)
    expect(response.headers.get('idempotency-replayed')).toBe('true')
  })
})

test('a key can be used again after a rejected request', async () => {
  const key = randomUUID()
  const pet = newPet()
  expect((await create({ ...pet, status: 'gone' }, key)).status).toBe(400)
  expect((await create('{', key)).status).toBe(400)
  expect(
    (await petstore.post('/pets', 'x', { 'idempotency-key': key, 'content-type': 'text/plain' })).status,
  ).toBe(415)
  const first = await create(pet, key)
  expect(first.status).toBe(201)
  expect(first.headers.get('idempotency-replayed')).toBeNull()
  expect((await create({ ...pet, status: 'gone' }, key)).status).toBe(400)
  expect((await create(pet, key)).headers.get('idempotency-replayed')).toBe('true')
})

test('a read ignores the Idempotency-Key header', async () => {
  for (const key of ['', 'x'.repeat(256), 'x']) {
    expect((await petstore.get('/pets?limit=1', { headers: { 'idempotency-key': key } })).status).toBe(200)
  }
})

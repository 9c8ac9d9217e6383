// Idempotency-Key: a create that can be repeated until it is answered, and never makes twins.
import { randomUUID } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { faultyFields, idsOf, newCategoryId, newPet, type Pet, petsOf } from './pets.ts'
import { sendRequest } from '../support/raw-http.ts'

const { origin, apiKey } = inject('contract')
const petstore = openTestClient({ origin, apiKey })

function create(body: unknown, key: string) {
  return petstore.post('/pets', body, { 'idempotency-key': key })
}

async function idsInCategory(categoryId: number | bigint): Promise<number[]> {
  return idsOf(petsOf(await petstore.get(`/pets?categoryId=${categoryId}&limit=100`)))
}

test('a repeated create is answered as the first was, and adds nothing', async () => {
  const key = randomUUID()
  const pet = newPet({ name: 'Zoë 🐕', status: 'pending' })
  const first = await create(pet, key)
  expect(first.status).toBe(201)
  expect(first.headers.get('idempotency-replayed')).toBeNull()
  for (let round = 0; round < 3; round++) {
    const again = await create(pet, key)
    expect(again.status).toBe(201)
    expect(again.text).toBe(first.text)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
  }
  expect(await idsInCategory(pet.categoryId)).toEqual([(first.body as Pet).id])
})

test('a large category id is replayed digit for digit', async () => {
  const key = randomUUID()
  const body = '{"name": "Rex", "categoryId": 9223372036854775807}'
  const first = await create(body, key)
  expect((await create(body, key)).text).toBe(first.text)
  const other = await create('{"name": "Rex", "categoryId": 9223372036854775806}', key)
  expect(other.status).toBe(422)
})

test('a create without the header says nothing of a replay', async () => {
  const { headers } = await petstore.post('/pets', newPet())
  expect(headers.get('idempotency-replayed')).toBeNull()
})

test('what counts are the values, not how they are written', async () => {
  const key = randomUUID()
  const categoryId = newCategoryId()
  const first = await create(`{"name": "Rex", "categoryId": ${categoryId}}`, key)
  for (const same of [
    `{"categoryId":${categoryId},"name":"\\u0052ex"}`,
    `{"name": "Rex", "categoryId": ${categoryId}.0, "status": "available"}`,
    `{"name": "Rex", "categoryId": ${categoryId}, "unknown": 7, "id": 1}`,
  ]) {
    const again = await create(same, key)
    expect(again.text).toBe(first.text)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  }
  expect(await idsInCategory(categoryId)).toHaveLength(1)
})

test('a key with other values is 422, and adds nothing', async () => {
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

test('values that run into each other are other values', async () => {
  const key = randomUUID()
  expect((await create({ name: 'a","5', categoryId: 5 }, key)).status).toBe(201)
  expect((await create({ name: 'a', categoryId: 5 }, key)).status).toBe(422)
})

test('keys in other letters are other keys', async () => {
  const key = `key-${randomUUID()}`
  const pet = newPet()
  await create(pet, key)
  expect((await create(pet, key.toUpperCase())).headers.get('idempotency-replayed')).toBeNull()
  expect(await idsInCategory(pet.categoryId)).toHaveLength(2)
})

test('20 racing creates with one key make exactly one animal', async () => {
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

test('16 simultaneous replays of a finished create all return its response', async () => {
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

test('20 racing creates with keys of their own make 20 animals', async () => {
  const pet = newPet()
  const responses = await Promise.all(Array.from({ length: 20 }, () => create(pet, randomUUID())))
  expect(responses.every(({ status }) => status === 201)).toBe(true)
  expect(await idsInCategory(pet.categoryId)).toHaveLength(20)
})

describe('the key', () => {
  test.each([
    { what: 'one character', key: () => String.fromCharCode(33 + Math.floor(Math.random() * 94)) },
    { what: '255 characters', key: () => randomUUID().padEnd(255, 'x') },
    { what: 'any sign', key: () => `${randomUUID()} "quoted", ;=%00 '--` },
    { what: 'beyond ASCII', key: () => `${randomUUID()} \u00e9\u00ff` },
  ])('may be $what', async ({ key }) => {
    const pet = newPet()
    const sent = key()
    const first = await create(pet, sent)
    // One character may have been used before, against a service that is kept.
    if (sent.length === 1 && first.status === 422) return
    expect(first.status).toBe(201)
    expect((await create(pet, sent)).text).toBe(first.text)
  })

  test.each([
    { what: 'empty', key: '' },
    { what: 'blank', key: '   ' },
    { what: '256 characters', key: 'x'.repeat(256) },
    { what: '5,000 characters', key: 'x'.repeat(5_000) },
  ])('may not be $what: 400, and nothing is added', async ({ key }) => {
    const pet = newPet()
    const response = await create(pet, key)
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect(faultyFields(response)).toEqual(['idempotency-key'])
    expect(await idsInCategory(pet.categoryId)).toEqual([])
  })

  test('may be written in any case as a header', async () => {
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

test('a refused request is not kept: the key is free for the corrected one', async () => {
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

test('the header means nothing to a read', async () => {
  for (const key of ['', 'x'.repeat(256), 'x']) {
    expect((await petstore.get('/pets?limit=1', { headers: { 'idempotency-key': key } })).status).toBe(200)
  }
})

// changePets: locks, holds, orders, categories, events and the log. test/contract/change-pets.test.ts has the rest.
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, expect, test } from 'vitest'
import { openLog } from '../../src/telemetry/log.ts'
import { openApiFixture, openApiFixtureOn } from '../support/api-fixture.ts'
import type { TestResponse } from '../support/client.ts'
import { untilBlocked } from '../support/database.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { asSuperuser } from '../support/roles.ts'
import { auditStore } from '../support/store-audit.ts'

const CONCURRENT = 8
const api = await openApiFixture()
const other = new Client(asSuperuser(api.databaseUrl))
await other.connect()
afterAll(() => other.end())

const send = (changes: object[], headers: Record<string, string> = {}) =>
  api.post('/pet-changes', { changes }, headers)

interface Result {
  status: number
  pet?: { id: number; status: string }
  error?: { code: string }
}

function resultsOf(response: TestResponse): Result[] {
  expect(response.status, response.text).toBe(200)
  return (response.body as { results: Result[] }).results
}

const codesOf = (response: TestResponse) =>
  resultsOf(response).map(({ status, error }) => error?.code ?? status)

test('locks the pets in the order of their ids, so that two requests cannot deadlock', async () => {
  const [low, high] = [await api.addPet(), await api.addPet()]
  await other.query('begin')
  await other.query('select from pets where id = $1 for update', [high.id])
  const changing = send([{ update: { petId: high.id, name: 'A' } }, { update: { petId: low.id, name: 'A' } }])
  await untilBlocked(api.databaseUrl)
  const lockLow = api.sql('select from pets where id = $1 for update nowait', [low.id])
  await expect(lockLow).rejects.toMatchObject({ code: '55P03' })
  await other.query('commit')
  expect(codesOf(await changing)).toEqual([200, 200])
})

test('concurrent requests for the same pets in opposite orders all succeed', async () => {
  const pets = await Promise.all(Array.from({ length: 10 }, () => api.addPet()))
  const requests = Array.from({ length: CONCURRENT }, (_, index) => {
    const changes = pets.map(({ id }) => ({ update: { petId: id, name: `Name ${index}` } }))
    return send(index % 2 === 0 ? changes : changes.toReversed())
  })
  for (const response of await Promise.all(requests))
    expect(new Set(codesOf(response))).toEqual(new Set([200]))
  const names = await api.sql('select distinct name, version from pets where id = any($1)', [
    pets.map(({ id }) => id),
  ])
  expect(names).toEqual([{ name: expect.stringMatching(/^Name \d$/), version: 1 + CONCURRENT }])
})

test('makes the changes of concurrent requests with the same Idempotency-Key once', async () => {
  const name = randomUUID()
  const headers = { 'idempotency-key': randomUUID() }
  const changes = [{ create: { name, categoryId: 1 } }, { create: { name, categoryId: 2 } }]
  const responses = await Promise.all(Array.from({ length: CONCURRENT }, () => send(changes, headers)))
  const done = responses.filter(({ status }) => status === 200)
  expect(new Set(done.map(({ text }) => text)).size).toBe(1)
  for (const { status, body } of responses)
    if (status !== 200)
      expect({ status, body }).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } })
  expect(await api.sql('select from pets where name = $1', [name])).toHaveLength(2)
})

test('stores for a key no more than was sent if nothing changes, and replays it to the byte', async () => {
  const name = '🐕'.repeat(500)
  const created = resultsOf(
    await send(Array.from({ length: 100 }, () => ({ create: { name, categoryId: 1 } }))),
  )
  const changes = created.map(({ pet }) => ({ update: { petId: pet?.id, status: 'available' } }))
  const key = randomUUID()
  const first = await send(changes, { 'idempotency-key': key })
  expect(resultsOf(first)).toEqual(created.map(() => ({ status: 200, version: 1 })))
  // Without compression, which depends on the names.
  const stored = await api.sql(
    'select octet_length(response) as bytes from idempotency_keys where key = $1',
    [key],
  )
  expect(stored[0]?.['bytes']).toBeLessThan(JSON.stringify({ changes }).length)
  // The retry must show neither a later change, nor make the change that its first attempt did not need.
  await send(changes.map(({ update: { petId } }) => ({ update: { petId, status: 'sold' } })))
  const replay = await send(changes, { 'idempotency-key': key })
  expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
  expect(await api.sql('select distinct status from pets where name = $1', [name])).toEqual([
    { status: 'sold' },
  ])
})

test('follows the rules of orders: held, sold before, and with an expired hold', async () => {
  const held = await api.hold()
  const done = await api.hold()
  await api.end('complete', done.id)
  const expired = await api.hold()
  await api.makeOverdue(expired.id)
  const response = await send([
    { update: { petId: held.petId, status: 'sold' } },
    { update: { petId: expired.petId, status: 'sold' } },
    { delete: { petId: done.petId } },
  ])
  expect(codesOf(response)).toEqual(['pet_on_hold', 200, 'pet_has_orders'])
  // The versions before: the pet, its order, and the end of the hold.
  expect(resultsOf(response)[1]).toMatchObject({ pet: { status: 'sold' }, version: 4 })
  expect((await api.get(`/store/orders/${expired.id}`)).body).toMatchObject({ status: 'expired' })
  expect((await api.history(expired.petId)).map(({ event }) => event)).toEqual([
    'updated',
    'order_expired',
    'order_placed',
    'created',
  ])
  expect(await api.findPet(held.petId)).toMatchObject({ status: 'pending' })
})

test('changes other fields of a held pet, as updatePet does', async () => {
  const { petId } = await api.hold()
  expect(codesOf(await send([{ update: { petId, name: 'Rex', categoryId: 8 } }]))).toEqual([200])
  expect(await api.findPet(petId)).toMatchObject({ name: 'Rex', categoryId: 8, status: 'pending' })
})

test('rejects unnamed categories with CATEGORIES=strict, each in its own result', async () => {
  const strict = await openApiFixtureOn(api.databaseUrl, api.db, { categoryPolicy: 'strict' })
  await api.put('/categories/71', { name: 'Cats' })
  const { id } = await api.addPet()
  const alone = await strict.post('/pets', { name: 'Rex', categoryId: 72 })
  const response = await strict.post('/pet-changes', {
    changes: [
      { create: { name: 'Rex', categoryId: 72 } },
      { create: { name: 'Rex', categoryId: 71 } },
      { update: { petId: id, categoryId: 72 } },
    ],
  })
  expect(codesOf(response)).toEqual(['unknown_category', 201, 'unknown_category'])
  expect(resultsOf(response)[0]?.error).toEqual(alone.body)
})

test('has the events of single changes, with the actor and the request id', async () => {
  const [toUpdate, toDelete] = [await api.addPet(), await api.addPet()]
  const requestId = randomUUID()
  const changes = [
    { create: { name: 'Biscuit', categoryId: 1, profile: { price: '5.00' } } },
    { update: { petId: toUpdate.id, status: 'sold' } },
    { delete: { petId: toDelete.id } },
  ]
  expect(codesOf(await send(changes, { 'x-request-id': requestId }))).toEqual([201, 200, 204])
  const events = await api.sql(
    `select type, event.actor_id is not null as "hasActor" from outbox
      cross join lateral unnest(actor_ids, request_ids) as event (actor_id, request_id)
      where event.request_id = $1 order by id`,
    [requestId],
  )
  expect(events).toEqual(
    ['pet.created', 'pet.profile_updated', 'pet.updated', 'pet.deleted'].map((type) => ({
      type,
      hasActor: true,
    })),
  )
  expect(await auditStore(api.databaseUrl)).toEqual([])
  expect(await auditFeed(api.databaseUrl)).toEqual([])
})

test('sends a limited number of statements, whatever the number of changes', async () => {
  const names: string[] = []
  const db: typeof api.db = {
    ...api.db,
    transaction: (work) =>
      api.db.transaction((tx) => {
        const noted = <Row>(statement: Parameters<typeof tx.read>[0]) => {
          names.push(statement.name)
          return tx.read<Row>(statement)
        }
        return work({ ...tx, read: noted, write: noted })
      }),
  }
  const counting = await openApiFixtureOn(api.databaseUrl, db, {})
  names.length = 0
  const pets = await Promise.all(Array.from({ length: 40 }, () => api.addPet({ status: 'pending' })))
  const response = await counting.post(
    '/pet-changes',
    {
      changes: [
        ...pets.map(({ id: petId }, index) =>
          index < 20 ? { update: { petId, status: 'available' } } : { delete: { petId } },
        ),
        ...pets.map(() => ({ create: { name: 'New', categoryId: 1, profile: { breed: 'Pug' } } })),
      ],
    },
    { 'idempotency-key': randomUUID() },
  )
  expect(new Set(codesOf(response))).toEqual(new Set([200, 201, 204]))
  expect(names).toEqual([
    'lock_idempotency_keys',
    'find_stored_responses',
    'lock_pets',
    'find_holds',
    'find_pets_with_orders',
    'insert_pets_with_profiles',
    'update_pets',
    'insert_histories',
    'delete_pets',
    'insert_stored_responses',
  ])
})

test('logs each deletion with the pet, the API key and the request id, and none for a replay', async () => {
  const lines: Record<string, unknown>[] = []
  const stream = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) }
  const { writer } = openLog('silent')
  const log = Object.assign(pino({ base: null }, stream), { writeLine: () => {}, writer })
  const logging = await openApiFixtureOn(api.databaseUrl, api.db, { log })
  const [gone, stale] = [await api.addPet(), await api.addPet()]
  const changes = [{ delete: { petId: gone.id } }, { delete: { petId: stale.id, version: 9 } }]
  const headers = { 'x-request-id': 'many', 'idempotency-key': randomUUID() }
  await logging.post('/pet-changes', { changes }, headers)
  await logging.post('/pet-changes', { changes }, headers)
  const deletions = lines.filter(({ msg }) => msg === 'pet deleted')
  expect(deletions).toMatchObject([
    { requestId: 'many', petId: gone.id, apiKeyId: expect.any(Number), actorId: expect.any(Number) },
  ])
})

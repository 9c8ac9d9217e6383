// The events of GET /v1/events: which changes cause which events, and what the events contain.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { PAGE_BYTES_MAX } from '../../src/contract/paging.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { importPets } from '../../src/data/import-export/imports.ts'
import { fileSource } from '../../src/data/import-export/source.ts'
import { connectClient } from '../../src/db/failover/hosts.ts'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { trackHolds } from '../../src/store/holds/sweep.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { issueApiKey } from '../support/app.ts'
import { type FeedEvent, positionOf } from '../support/event-fixture.ts'
import { openApiFixture, type Order } from '../support/api-fixture.ts'
import { linkTo } from '../support/pets.ts'

// The app does not sweep, so holds expire only when a test sweeps or sends a request for the pet.
const api = await openApiFixture({ holds: { waitUntilFresh: () => undefined } })
const { get, addPet, patch, remove, hold, end, makeOverdue, db } = api

let start = ''
beforeEach(async () => {
  await sequenceEvents(db)
  start = positionOf(await get('/events?after=latest'))
})

/** The events since the start of the test. */
async function events(): Promise<FeedEvent[]> {
  await sequenceEvents(db)
  const { body, status } = await get(`/events?after=${start}&limit=1000`)
  expect(status).toBe(200)
  return body as FeedEvent[]
}

/** The n-th event since the start of the test. */
const at = (offset: number) => {
  const [epoch, number] = start.split('-')
  return { position: `${epoch}-${Number(number) + offset}`, occurredAt: expect.stringMatching(/^20.*Z$/) }
}
const request = { actor: 'staff', requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) }
const orderOf = async (id: number) => (await get(`/store/orders/${id}`)).body as Order

test('a create causes "pet.created" with the pet, the name of the key and the request id', async () => {
  const pet = await addPet({ name: 'Rex', categoryId: 7 })
  expect(await events()).toEqual([{ ...at(1), ...request, type: 'pet.created', petId: pet.id, pet }])
})

test('the events of one pet are found among those of others, in pages that examine a limited number', async () => {
  const [pet, other] = [await addPet(), await addPet()]
  await patch(other.id, { name: 'Tom' })
  await patch(pet.id, { name: 'Rex' })
  await api.sql(`insert into pets (name, category_id) select 'x', 7 from generate_series(1, 10001)`)
  await patch(pet.id, { name: 'Ada' })
  await sequenceEvents(db)
  const pages: string[][] = []
  let path = `/v1/events?after=${start}&petId=${pet.id}&type=pet.created&type=pet.updated`
  for (let before = ''; path !== before; ) {
    before = path
    const page = await api.call('GET', path)
    pages.push((page.body as FeedEvent[]).map(({ type, petId }) => `${type} ${petId}`))
    path = linkTo('next', page, api.origin) ?? ''
  }
  const updated = `pet.updated ${pet.id}`
  expect(pages).toEqual([[`pet.created ${pet.id}`, updated], [updated], []])
  const first = await get(`/events?after=${start}&petId=${pet.id}&limit=1`)
  expect(first.body).toMatchObject([{ type: 'pet.created', petId: pet.id }])
  const second = await get(`/events?after=${positionOf(first)}&petId=${pet.id}&limit=1`)
  expect(second.body).toMatchObject([{ type: 'pet.updated', petId: pet.id, pet: { name: 'Rex' } }])
  expect((await get(`/events?petId=${pet.id}&newest=1`)).body).toMatchObject({ code: 'invalid_parameter' })
})

test('a page of large profiles ends early, and its link leads to every event once', async () => {
  const description = '𠀀'.repeat(2_000)
  await api.sql(
    `with created as (insert into pets (name, category_id) select 'Rex', 7 from generate_series(1, 300) returning id)
      insert into pet_profiles (pet_id, description) select id, $1 from created`,
    [description],
  )
  await sequenceEvents(db)
  const petIds: number[] = []
  let pages = 0
  for (let path = `/v1/events?after=${start}&limit=1000&type=pet.profile_updated`; ; pages += 1) {
    const page = await api.call('GET', path)
    const found = page.body as FeedEvent[]
    if (found.length === 0) break
    petIds.push(...found.map(({ petId }) => Number(petId)))
    expect(Buffer.byteLength(page.text)).toBeLessThan(PAGE_BYTES_MAX + 10_000)
    path = linkTo('next', page, api.origin) as string
  }
  expect(pages).toBe(Math.ceil((300 * 8_000) / PAGE_BYTES_MAX))
  const stored = await api.sql('select pet_id from pet_profiles where description = $1 order by pet_id', [
    description,
  ])
  expect(petIds.toSorted((one, other) => one - other)).toEqual(stored.map(({ pet_id: id }) => Number(id)))
})

test('the request id of an event is that of the request', async () => {
  const headers = { 'x-request-id': 'my-request-1' }
  const { body } = await api.post('/pets', { name: 'Rex', categoryId: 7 }, headers)
  await patch((body as { id: number }).id, { name: 'Max' }, { 'x-request-id': 'my-request-2' })
  expect((await events()).map(({ requestId }) => requestId)).toEqual(['my-request-1', 'my-request-2'])
})

test('a create that is retried with its Idempotency-Key causes one event', async () => {
  const create = () => api.post('/pets', { name: 'Rex', categoryId: 7 }, { 'idempotency-key': 'rex' })
  const { body: pet } = await create()
  expect((await create()).headers.get('idempotency-replayed')).toBe('true')
  expect(await events()).toEqual([
    { ...at(1), ...request, type: 'pet.created', petId: (pet as { id: number }).id, pet },
  ])
})

test('concurrent creates cause one event each, with their own pet and request id', async () => {
  const created = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      api.post('/pets', { name: `Pet ${index}`, categoryId: 1 }, { 'x-request-id': `request-${index}` }),
    ),
  )
  const seen = (await events()).map(({ pet, requestId }) => ({ pet, requestId }))
  expect(seen).toHaveLength(40)
  expect(seen).toEqual(
    expect.arrayContaining(created.map(({ body }, index) => ({ pet: body, requestId: `request-${index}` }))),
  )
})

test.each([
  [{ name: 'Max' }, ['name']],
  [{ categoryId: 8 }, ['categoryId']],
  [{ status: 'sold' }, ['status']],
  [{ name: 'Max', categoryId: 8, status: 'pending' }, ['name', 'categoryId', 'status']],
  [{ name: 'Rex', status: 'sold', reason: 'walk-in' }, ['status']],
])('an update to %j causes "pet.updated" with the whole pet', async (change, changed) => {
  const pet = await addPet({ name: 'Rex', categoryId: 7 })
  const { body } = await patch(pet.id, change)
  expect((await events()).slice(1)).toEqual([
    { ...at(2), ...request, type: 'pet.updated', petId: pet.id, pet: body, changed },
  ])
})

test('an update that changes nothing, and one that is rejected, cause no event', async () => {
  const { id } = await addPet({ name: 'Rex' })
  expect((await patch(id, { name: 'Rex', status: 'available' })).status).toBe(200)
  expect((await patch(id, { name: 'Max' }, { 'if-match': '"77"' })).status).toBe(412)
  expect((await patch(id, { name: '' })).status).toBe(400)
  expect(await events()).toHaveLength(1)
})

test('a delete causes "pet.deleted" without the pet', async () => {
  const { id } = await addPet()
  expect((await remove(`/pets/${id}`)).status).toBe(204)
  expect((await events()).slice(1)).toEqual([{ ...at(2), ...request, type: 'pet.deleted', petId: id }])
})

test('an order causes "pet.updated" and "order.placed", with its note', async () => {
  const pet = await addPet()
  const order = await hold({ petId: pet.id, note: 'Ms Okafor' })
  const pending = { ...pet, status: 'pending' }
  expect((await events()).slice(1)).toEqual([
    { ...at(2), ...request, type: 'pet.updated', petId: pet.id, pet: pending, changed: ['status'] },
    { ...at(3), ...request, type: 'order.placed', petId: pet.id, order },
  ])
})

/** The event of an entry has the money of the order, other events do not. */
function withoutBalance(order: unknown): unknown {
  const { netPrice: _netPrice, currency: _currency, ...rest } = order as Order
  return rest
}

test('each change of an order causes "order.updated" with the order; without a change there is none', async () => {
  const { id, petId } = await hold({ note: 'Ms Okafor' })
  const update = (body: unknown) => api.call('PATCH', `/v1/store/orders/${id}`, { body })
  const { body: noted } = await update({ note: 'Ms Okafor, at noon' })
  await update({ note: 'Ms Okafor, at noon' })
  await update({})
  const { body: later } = await update({ expiresAt: new Date(Date.now() + 7_200_000).toISOString() })
  const { body: sold } = await end('complete', id)
  const { body: cleared } = await update({ note: null })
  const seen = (await events()).slice(3).filter(({ type }) => type.startsWith('order.'))
  expect(seen.map(({ type, order }) => [type, order])).toEqual([
    ['order.updated', noted],
    ['order.updated', later],
    ['order.completed', withoutBalance(sold)],
    ['order.entry_added', sold],
    ['order.updated', withoutBalance(cleared)],
  ])
  expect(seen[0]).toMatchObject({ ...request, petId })
})

test.each([
  ['complete', 'order.completed', 'sold'],
  ['cancel', 'order.cancelled', 'available'],
] as const)('to %s an order causes "%s", once', async (verb, type, status) => {
  const pet = await addPet()
  const { id } = await hold({ petId: pet.id })
  const { body: order } = await end(verb, id)
  await end(verb, id)
  const seen = (await events()).slice(3).filter((event) => event.type !== 'order.entry_added')
  expect(seen.toSorted((a, b) => (a.type < b.type ? -1 : 1))).toEqual([
    {
      ...request,
      position: expect.any(String),
      occurredAt: expect.any(String),
      type,
      petId: pet.id,
      order: withoutBalance(order),
    },
    {
      ...request,
      position: expect.any(String),
      occurredAt: expect.any(String),
      type: 'pet.updated',
      petId: pet.id,
      pet: { ...pet, status },
      changed: ['status'],
    },
  ])
})

test('a hold that the sweep expires causes "order.expired" by petstore', async () => {
  const pet = await addPet()
  const { id } = await hold({ petId: pet.id })
  await makeOverdue(id)
  await trackHolds(db, openLog('silent')).sweep()
  const seen = (await events()).slice(3)
  expect(seen.map(({ type }) => type).toSorted()).toEqual(['order.expired', 'pet.updated'])
  const service = { actor: 'petstore', requestId: request.requestId }
  expect(seen.find(({ type }) => type === 'pet.updated')).toMatchObject({
    ...service,
    pet,
    changed: ['status'],
  })
  expect(seen.find(({ type }) => type === 'order.expired')).toMatchObject({
    ...service,
    order: await orderOf(id),
  })
})

test('a hold that expires within the request of the next buyer causes "order.expired" by petstore', async () => {
  const pet = await addPet()
  const { id } = await hold({ petId: pet.id })
  await makeOverdue(id)
  const next = await hold({ petId: pet.id })
  const seen = (await events()).slice(3)
  const summary = seen.map(({ type, actor, pet: after, order }) =>
    [type, actor, after?.status ?? order?.id].join(' '),
  )
  expect(summary.toSorted()).toEqual([
    `order.expired petstore ${id}`,
    `order.placed staff ${next.id}`,
    'pet.updated petstore available',
    'pet.updated staff pending',
  ])
  expect(summary.indexOf(`order.expired petstore ${id}`)).toBeLessThan(
    summary.indexOf(`order.placed staff ${next.id}`),
  )
  expect(seen.at(-1)?.type).toBe('order.placed')
})

test('an import causes "pet.created" by petstore, with the id of the import', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-events-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'pets.csv')
  const rows = Array.from({ length: 2_300 }, (_, index) => `Pet ${index},7,sold\n`)
  writeFileSync(path, `name,categoryId,status\n${rows.join('')}`)
  const client = await connectClient(api.databaseUrl, 'petstore-test')
  onTestFinished(() => client.end())
  const { signal } = new AbortController()
  const source = await fileSource(path, { signal, onDigest: () => {} })
  const options = { findNamed: undefined, rejectedPath: `${path}.rejected`, again: false, signal }
  await importPets(client, source, { ...options, currency: 'EUR', onProgress: () => {} })

  const seen: FeedEvent[] = []
  await sequenceEvents(db)
  for (let after = start, size = 1; size > 0; ) {
    const page = await get(`/events?after=${after}&limit=900`)
    size = (page.body as FeedEvent[]).length
    seen.push(...(page.body as FeedEvent[]))
    after = positionOf(page)
  }
  expect(seen.map(({ position }) => position)).toEqual(rows.map((_, index) => at(index + 1).position))
  expect(seen.map(({ pet }) => String(pet?.name)).toSorted()).toEqual(
    rows.map((_, index) => `Pet ${index}`).toSorted(),
  )
  expect(seen[0]).toMatchObject({ type: 'pet.created', actor: 'petstore', pet: { status: 'sold' } })
  expect(new Set(seen.map(({ requestId }) => requestId))).toEqual(new Set([`import:${source.shortKey}`]))
})

test('hand-written SQL causes events without an actor', async () => {
  await addPet()
  await api.sql(`insert into pets (id, name, category_id) values (900077, 'Rex', 1)`)
  await api.sql(`update pets set name = 'Max' where id = 900077`)
  await api.sql(`delete from pets where id = 900077`)
  const pet = { id: 900077, name: 'Rex', categoryId: 1, status: 'available' }
  expect((await events()).slice(1)).toEqual([
    { ...at(2), type: 'pet.created', petId: 900077, pet },
    { ...at(3), type: 'pet.updated', petId: 900077, pet: { ...pet, name: 'Max' }, changed: ['name'] },
    { ...at(4), type: 'pet.deleted', petId: 900077 },
  ])
})

test('ids above 2^53 keep every digit', async () => {
  const [id, categoryId, orderId] = [9223372036854775807n, 9223372036854775806n, 9007199254740993n]
  await api.sql(`insert into pets (id, name, category_id) values (${id}, 'Rex', ${categoryId})`)
  await api.sql(`insert into orders (id, pet_id, placed_by, created_at, expires_at) overriding system value
    select ${orderId}, ${id}, min(id), now(), now() + interval '1 hour' from actors`)
  const seen = await events()
  expect(seen[0]).toMatchObject({ petId: id, pet: { id, categoryId } })
  expect(seen[1]).toMatchObject({ petId: id, order: { id: orderId, petId: id } })
})

test.each([
  { what: 'characters of SQL and JSON', name: `"Rex", {the} 'O''Hara', \\ \\N \\u0000 $1` },
  { what: 'the word NULL', name: 'NULL' },
  { what: 'white space and line breaks', name: '  Rex \t\r\n\u2028' },
  { what: 'control characters', name: '\ufeff\u0001\u001b[31m\u007f' },
  { what: 'joined emoji and several scripts', name: '👩‍👩‍👧‍👦 Zoe\u0301 كلب \u202eabc\u202c' },
  { what: 'noncharacters', name: '\uffff\ufffd\u{10ffff}' },
  { what: '500 emoji', name: '🐕'.repeat(500) },
])('a name with $what is unchanged in events', async ({ name }) => {
  const { id } = await addPet({ name })
  await patch(id, { status: 'sold' })
  expect((await events()).map(({ pet }) => pet?.name)).toEqual([name, name])
})

test('names of actors and notes of orders are unchanged in events', async () => {
  const name = `"shop" {a,b} \\ 'x'`
  const { text: apiKey } = await issueApiKey(db, { name, scopes: SCOPES })
  const { id: petId } = await addPet()
  const body = { petId, note: 'NULL "x" \\ \u2028 {1e3}' }
  const placed = await api.call('POST', '/v1/store/orders', { body, apiKey })
  expect(placed.status).toBe(201)
  expect((await events()).at(-1)).toMatchObject({
    type: 'order.placed',
    actor: name,
    order: placed.body,
  })
})

// store.events on the real service, also through a proxy that cuts connections.
import { setTimeout as sleep } from 'node:timers/promises'
import { Petstore, type PetstoreOptions, type StoreEvent } from '@petstore/client'
import { afterAll, expect, test } from 'vitest'
import { type Link, type Relay, startProxy } from '../../lab/parts/tcp-proxy.ts'
import { revokeApiKey } from '../../src/access/api-keys/api-keys.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { insertEpoch } from '../../src/events/feed/queries.ts'
import { issueApiKey } from '../support/app.ts'
import { errorOf } from '../support/client-fixture.ts'
import { openFeed } from '../support/feed.ts'
import { numberOf, take } from './event-server.ts'

const feed = await openFeed()
const { api, sequence } = feed
const { db } = api
const { text: apiKey, id: apiKeyId } = await issueApiKey(db, { name: 'mirror', scopes: SCOPES })
const open = (choices: Partial<PetstoreOptions> = {}) =>
  new Petstore({ baseUrl: `${api.origin}/v1`, apiKey, timeoutMs: Infinity, deadlineMs: Infinity, ...choices })
const store = open()

/** The position of the newest event. */
async function newest(): Promise<string> {
  await sequence()
  return (await store.events.list({ after: 'latest', limit: 1 })).next
}

/** A client whose connections are reset after a random number of bytes, and the number of resets. */
async function behindCuttingProxy(bytesMax: number) {
  let cuts = 0
  const relay = ({ client, upstream }: Link): Relay => {
    let left = Math.floor(Math.random() * bytesMax)
    return {
      fromClient: (chunk) => upstream.write(chunk),
      fromServer: (chunk) => {
        // A short wait before the next connection keeps the test fast.
        const bytes = Buffer.from(chunk.toString('latin1').replace('retry: 1000', 'retry: 0001'), 'latin1')
        if (left < 0) return
        client.write(bytes.subarray(0, left))
        left -= bytes.length
        if (left >= 0) return
        cuts += 1
        // Lets the bytes arrive before the reset.
        setTimeout(() => client.resetAndDestroy(), 1)
      },
    }
  }
  const proxy = await startProxy(api.origin, relay)
  afterAll(() => proxy.close())
  return { store: open({ baseUrl: new URL('/v1', proxy.url) }), cuts: () => cuts }
}

test('lists pages of events, each with the position of the next one', async () => {
  const start = await newest()
  const { id } = await store.pets.create({ name: 'Biscuit', categoryId: '9223372036854775807' })
  await store.pets.update(id, { name: 'Rex' })
  await sequence()
  const first = await store.events.list({ after: start, limit: 1 })
  expect(first.items).toMatchObject([
    {
      position: first.next,
      type: 'pet.created',
      petId: id,
      pet: { id, name: 'Biscuit', categoryId: '9223372036854775807' },
      actor: 'mirror',
    },
  ])
  const second = await store.events.list({ after: first.next, type: ['pet.updated', 'pet.deleted'] })
  expect(second.items).toMatchObject([{ type: 'pet.updated', changed: ['name'], pet: { name: 'Rex' } }])
  expect(await store.events.list({ after: second.next })).toEqual({ items: [], next: second.next })
})

test('follows changes of pets and orders, from the newest event', async () => {
  const starting = Promise.withResolvers<void>()
  const events = store.events.follow({ after: 'latest', onPosition: () => starting.resolve() })
  const taking = take(events, 7)
  await starting.promise
  const { id } = await store.pets.create({ name: 'Biscuit', categoryId: 1 })
  const order = await store.orders.place({ petId: id, note: 'Ms Okafor' })
  await store.orders.complete(order.id)
  const spare = await store.pets.create({ name: 'Mistake', categoryId: 1 })
  const all = await taking
  expect(all.map(({ type, petId }) => `${type} ${petId}`)).toEqual([
    `pet.created ${id}`,
    `pet.updated ${id}`,
    `order.placed ${id}`,
    `order.completed ${id}`,
    `order.entry_added ${id}`,
    `pet.updated ${id}`,
    `pet.created ${spare.id}`,
  ])
  expect(all[2]?.order).toMatchObject({ id: order.id, petId: id, note: 'Ms Okafor', status: 'open' })
})

test('a filter yields only these types, and moves the position past the others', async () => {
  const start = await newest()
  const { id } = await store.pets.create({ name: 'Biscuit', categoryId: 1 })
  await store.pets.delete(id)
  const positions: string[] = []
  const options = { after: start, onPosition: (position: string) => void positions.push(position) }
  const [deleted] = await take(store.events.follow({ ...options, type: ['pet.deleted'] }), 1)
  expect(deleted).toMatchObject({ type: 'pet.deleted', petId: id })
  const controller = new AbortController()
  const { signal } = controller
  const reading = errorOf(take(store.events.follow({ ...options, type: ['order.expired'], signal }), 1))
  await expect.poll(() => positions.at(-1)).toBe(deleted?.position)
  controller.abort()
  expect(await reading).toMatchObject({ code: 'aborted' })
})

test('a key without orders:read gets no orders and no actors', async () => {
  const start = await newest()
  const { text } = await issueApiKey(db, { scopes: ['events:read'] })
  const reader = open({ apiKey: text })
  const { id } = await store.pets.create({ name: 'Biscuit', categoryId: 1 })
  await store.orders.place({ petId: id })
  await store.pets.create({ name: 'Luna', categoryId: 1 })
  const events = await take(reader.events.follow({ after: start }), 3)
  expect(events.map(({ type }) => type)).toEqual(['pet.created', 'pet.updated', 'pet.created'])
  expect(events.filter(({ actor, requestId }) => actor ?? requestId)).toEqual([])
  const wanted = take(reader.events.follow({ type: ['order.placed'] }), 1)
  expect(await errorOf(wanted)).toMatchObject({ code: 'insufficient_scope', status: 403 })
})

test('500 events through connections that break at random places: each position once, in order', async () => {
  const start = await newest()
  const first = Number(start.split('-')[1])
  const { store: cut, cuts } = await behindCuttingProxy(8_000)
  const write = async () => {
    for (let round = 0; round < 10; round += 1) {
      const name = `Round ${round}`
      await api.sql('insert into pets (name, category_id) select $1, 7 from generate_series(1, 25)', [name])
      await api.sql(`update pets set name = name || ' 🐶' where category_id = 7 and name = $1`, [name])
      await sleep(20)
    }
  }
  const writing = write()
  const numbers: number[] = []
  const mirror = new Map<string, string>()
  for await (const event of cut.events.follow({ after: start })) {
    numbers.push(numberOf(event))
    if (event.pet !== undefined) mirror.set(event.pet.id, event.pet.name)
    // A consumer that is slow now and then gets events that have waited in buffers.
    if (Math.random() < 0.01) await sleep(50)
    if (numbers.length === 500) break
  }
  await writing
  expect(numbers).toEqual(Array.from({ length: 500 }, (_, index) => first + 1 + index))
  const rows = await api.sql('select id::text, name from pets where category_id = 7')
  expect(mirror).toEqual(new Map(rows.map(({ id, name }) => [id, name])))
  console.log(`500 events in order, although ${cuts()} connections broke`)
  expect(cuts()).toBeGreaterThan(10)
})

test('reconnects when the service shuts down, and gets the events of the meantime', async () => {
  const start = await newest()
  const codes: string[] = []
  const events: StoreEvent[] = []
  const { id } = await store.pets.create({ name: 'Biscuit', categoryId: 1 })
  const onReconnect = ({ code }: { code: string }) => codes.push(code)
  for await (const event of store.events.follow({ after: start, onReconnect })) {
    events.push(event)
    if (events.length === 2) break
    feed.drain()
    await store.pets.update(id, { name: 'Rex' })
    feed.accept()
  }
  expect(events.map(({ type }) => type)).toEqual(['pet.created', 'pet.updated'])
  // On a busy host, the service may also reject a connection.
  expect(codes.filter((code) => !['unavailable', 'overloaded'].includes(code))).toEqual(['network_error'])
})

test('ends with events_expired after a new epoch, also when it was connected', async () => {
  const start = await newest()
  await store.pets.create({ name: 'Biscuit', categoryId: 1 })
  const read = async () => {
    for await (const _event of store.events.follow({ after: start })) await insertEpoch(db)
  }
  expect(await errorOf(read())).toMatchObject({ code: 'events_expired', status: 410 })
  expect(await errorOf(store.events.list({ after: start }))).toMatchObject({ code: 'events_expired' })
})

test('ends with invalid_api_key when its key is revoked', async () => {
  const start = await newest()
  const connected = Promise.withResolvers<void>()
  const reading = errorOf(take(store.events.follow({ after: start, onConnect: connected.resolve }), 1))
  await connected.promise
  await revokeApiKey(db, apiKeyId)
  expect(await reading).toMatchObject({ code: 'invalid_api_key', status: 401 })
})

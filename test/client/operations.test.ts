// Each operation through the client, against the real service.
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../src/data/demo/cluster.ts'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { collect, errorOf, openClientFixture } from '../support/client-fixture.ts'
import { startDeliverer } from '../support/deliveries.ts'
import { onOneDay } from '../support/one-day.ts'
import { openReceiver } from '../support/webhook-receiver.ts'
import { take } from './event-server.ts'

const client = await openClientFixture()
const { store, api, open, apiKey } = client

interface Document {
  paths: Record<string, Record<string, { operationId: string }>>
}
const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as Document

function operationOf(method: string, pathname: string): string {
  const found = Object.entries(paths).find(([path, verbs]) => {
    const pattern = new RegExp(`^/v1${path.replace(/\{\w+\}/g, '\\d+')}$`)
    return method.toLowerCase() in verbs && pattern.test(pathname)
  })
  return found?.[1][method.toLowerCase()]?.operationId ?? `${method} ${pathname}`
}

test('calls operations of openapi.json and no others', async () => {
  const called = new Set<string>()
  const watchedFetch: typeof fetch = (url, init) => {
    called.add(operationOf(init?.method ?? '', new URL(url as string).pathname))
    return fetch(url, init)
  }
  const watched = open({ fetch: watchedFetch })
  const { pets, orders, till, categories, settings, events, webhooks, apiKeys } = watched
  const pet = await pets.create({ name: 'Biscuit', categoryId: 1 })
  await pets.list().page()
  await pets.get(pet.id)
  await pets.update(pet.id, { name: 'Crumb' })
  await pets.changeMany([{ create: { name: 'Rex', categoryId: 1 } }])
  await collect(pets.export())
  await pets.history(pet.id).page()
  await pets.setProfile(pet.id, { price: '129.00' })
  await pets.profile(pet.id)
  await pets.profiles({ petId: [pet.id] })
  await categories.put(1, { name: 'Dogs' })
  await categories.list().page()
  const order = await orders.place({ petId: pet.id })
  await orders.get(order.id)
  await orders.list().page()
  await orders.update(order.id, { note: 'Ms Okafor' })
  await orders.complete(order.id)
  await orders.correct(order.id, { price: '20.00' })
  await orders.refund(order.id, { amount: '5.00', takeBack: true })
  const [taken] = (await till.entries({ orderId: order.id }).page()).items
  await till.void(taken?.id ?? '')
  await till.totals()
  await till.recordCash({ direction: 'in', amount: '50.00', note: 'change from the bank' })
  await till.closings().page()
  const other = await pets.create({ name: 'Luna', categoryId: 1 })
  const released = await orders.place({ petId: other.id, deposit: '10.00' })
  await orders.cancel(released.id)
  await orders.settleDeposit(released.id, { refund: '10.00' })
  await pets.delete((await pets.create({ name: 'Mistake', categoryId: 1 })).id)
  await watched.inventory()
  await watched.figures()
  await settings.get()
  await settings.update({ name: 'Paw & Feather' })
  await sequenceEvents(api.db)
  const { next } = await events.list({ limit: 1 })
  await take(events.follow({ after: next }), 1)
  const webhook = await webhooks.create({ url: 'https://shop.example/hooks' })
  await webhooks.list().page()
  await webhooks.get(webhook.id)
  await webhooks.update(webhook.id, { description: 'the shop' })
  await webhooks.rotateSecret(webhook.id)
  await webhooks.sendTest(webhook.id)
  await webhooks.replay(webhook.id, { after: next })
  await webhooks.deliveries(webhook.id).page()
  await errorOf(webhooks.redeliver(webhook.id, 1))
  await webhooks.delete(webhook.id)
  await apiKeys.own()
  await apiKeys.list().page()
  const issued = await apiKeys.create({ name: 'till' })
  await apiKeys.update(issued.id, { name: 'web-shop' })
  const successor = await apiKeys.rotate(issued.id, { overlapSeconds: 0 })
  await apiKeys.revoke(successor.id)
  await apiKeys.deprecatedCalls()
  const own = await apiKeys.create({ name: 'console' })
  await open({ apiKey: own.key, fetch: watchedFetch }).apiKeys.revokeOwn()
  const existing = Object.values(paths).flatMap((verbs) =>
    Object.values(verbs).map(({ operationId }) => operationId),
  )
  // retry-rules.test.ts checks that no operation is missing.
  expect(existing).toEqual(expect.arrayContaining([...called]))
  expect(called.size).toBeGreaterThan(45)
})

test('sells a pet: hold, completion, history and inventory', async () => {
  const before = await store.inventory()
  const pet = await store.pets.create({ name: 'Biscuit', categoryId: 5, status: 'available' })
  expect(pet).toEqual({ id: pet.id, name: 'Biscuit', categoryId: '5', status: 'available', etag: '"1"' })
  const order = await store.orders.place({ petId: pet.id, holdMinutes: 30, note: 'Ms Okafor' })
  expect(order).toMatchObject({ petId: pet.id, status: 'open', note: 'Ms Okafor', placedBy: 'client' })
  expect(await store.orders.complete(order.id)).toMatchObject({ id: order.id, status: 'completed' })
  expect(await store.orders.get(order.id)).toMatchObject({ status: 'completed' })
  expect(await collect(store.orders.list({ petId: pet.id }))).toHaveLength(1)
  const events = (await collect(store.pets.history(pet.id))).map(({ event }) => event)
  expect(events).toEqual(['order_completed', 'order_placed', 'created'])
  expect(await store.inventory()).toEqual({ ...before, sold: before.sold + 1 })
})

test('sells a pet for the price of the bargain, and returns the sales of the day', () =>
  onOneDay(async () => {
    const today = async () => (await store.figures({ days: 1 })).days[0]?.sales
    const before = await today()
    const pet = await store.pets.create({ name: 'Biscuit', categoryId: 5 })
    const order = await store.orders.place({ petId: pet.id, price: '129.00' })
    expect(order).toMatchObject({ price: '129.00', currency: 'EUR' })
    const sold = await store.orders.complete(order.id, { price: '119.00', note: 'Ms Okafor' })
    expect(sold.note).toBe('Ms Okafor')
    expect(sold).toMatchObject({ status: 'completed', price: '119.00', currency: 'EUR' })
    expect(await store.orders.complete(order.id, { price: '1.00' })).toEqual(sold)
    const sales = await collect(
      store.orders.list({ status: 'completed', sort: 'closedAt', closedFrom: sold.closedAt }),
    )
    expect(sales).toContainEqual(sold)
    expect(await today()).toMatchObject({ orders: (before?.orders ?? 0) + 1 })
  }))

test('a deposit, a sale, a correction and a refund add up, and the day is closed with the counted cash', async () => {
  const day = '2026-01-15'
  const setClock = async (time: string) => {
    await api.sql(
      `create or replace function till_now() returns timestamptz language sql volatile return ${time}`,
    )
  }
  await setClock(`timestamptz '${day}T10:00:00Z'`)
  onTestFinished(() => setClock('clock_timestamp()'))
  const pet = await store.pets.create({ name: 'Biscuit', categoryId: 5 })
  const order = await store.orders.place({ petId: pet.id, price: '129.00', deposit: '20.00', method: 'cash' })
  expect(order).toMatchObject({ deposit: '20.00', currency: 'EUR' })
  const sold = await store.orders.complete(order.id, { price: '99.00', method: 'cash', reason: 'discount' })
  expect(sold).toMatchObject({ price: '99.00', netPrice: '99.00' })
  expect(sold).not.toHaveProperty('deposit')
  const right = await store.orders.correct(order.id, { price: '119.00', reason: 'wrong_price' })
  expect(right).toMatchObject({ price: '99.00', netPrice: '119.00' })
  expect(await store.orders.correct(order.id, { price: '119.00' })).toEqual(right)
  const once = { idempotencyKey: `till/${order.id}` }
  const refund = await store.orders.refund(order.id, { amount: '19.00', takeBack: false }, once)
  expect(refund).toMatchObject({
    kind: 'refund',
    orderId: order.id,
    paid: '-19.00',
    pets: 0,
    seller: 'client',
  })
  expect(await store.orders.refund(order.id, { amount: '19.00', takeBack: false }, once)).toEqual(refund)

  const entries = await collect(store.till.entries({ orderId: order.id, from: day, to: day }))
  expect(entries.map(({ kind, paid, sales, reason }) => [kind, paid, sales, reason])).toEqual([
    ['refund', '-19.00', '-19.00', undefined],
    ['correction', '20.00', '20.00', 'wrong_price'],
    ['sale', '79.00', '99.00', 'discount'],
    ['deposit', '20.00', '0.00', undefined],
  ])
  expect(entries[0]).toEqual(refund)
  const undone = await store.till.void(refund.id)
  expect(undone).toMatchObject({ kind: 'void', voidedEntryId: refund.id, paid: '19.00' })
  expect(await store.till.void(refund.id)).toEqual(undone)
  await store.till.recordCash({ direction: 'out', amount: '9.00', note: 'stamps' })
  const sums = { currency: 'EUR', pets: 1, sales: '119.00', paid: '119.00' }
  expect(await store.till.totals({ by: 'method' })).toMatchObject({
    today: day,
    totals: [sums],
    groups: [{ ...sums, method: 'cash' }],
    cash: [{ currency: 'EUR', amount: '-9.00' }],
    drawer: { currency: 'EUR', expected: '110.00' },
  })

  const closing = { day, counted: '108.00', kept: '100.00', note: 'counted twice' }
  const closed = await store.till.closeDay(closing)
  expect(closed).toMatchObject({ ...closing, expected: '110.00', difference: '-2.00', closedBy: 'client' })
  expect(await store.till.closeDay(closing)).toEqual(closed)
  expect(await collect(store.till.closings())).toEqual([closed])
  expect(await errorOf(store.till.closeDay({ ...closing, kept: '0.00' }))).toMatchObject({
    code: 'day_closed',
  })
  expect(await errorOf(store.till.void(entries[1]?.id ?? ''))).toMatchObject({ code: 'entry_final' })
})

test('settles a deposit, and refunds no more than was paid', async () => {
  const pet = await store.pets.create({ name: 'Milo', categoryId: 1 })
  const { id } = await store.orders.place({ petId: pet.id, deposit: '20.00' })
  await store.orders.cancel(id)
  expect(await errorOf(store.orders.settleDeposit(id, { refund: '20.01' }))).toMatchObject({
    code: 'amount_too_high',
    status: 409,
  })
  const entry = await store.orders.settleDeposit(id, { refund: '5.00', method: 'cash' })
  expect(entry).toMatchObject({ kind: 'refund', paid: '-5.00', sales: '15.00', method: 'cash' })
  expect(await errorOf(store.orders.refund(id, { amount: '1.00', takeBack: true }))).toMatchObject({
    code: 'order_not_sold',
    status: 409,
  })
})

test('changes many pets: ids stay exact, and a change that fails has an error', async () => {
  const pet = await store.pets.create({ name: 'Milo', categoryId: 1 })
  const large = '9223372036854775807'
  const results = await store.pets.changeMany([
    { update: { petId: pet.id, version: 1, categoryId: large } },
    { delete: { petId: large } },
  ])
  expect(results).toMatchObject([
    { status: 200, pet: { id: pet.id, categoryId: large }, version: 2 },
    { status: 404, error: { code: 'pet_not_found' } },
  ])
})

test('finds a pet by its id, and returns undefined for an unknown id', async () => {
  const pet = await store.pets.create({ name: 'Milo', categoryId: 1 })
  expect(await store.pets.find(pet.id)).toEqual(pet)
  expect(await store.pets.find(Number(pet.id))).toEqual(pet)
  expect(await store.pets.find('9223372036854775807')).toBeUndefined()
})

test('a change with the etag of a stale version in ifMatch is rejected (412)', async () => {
  const pet = await store.pets.create({ name: 'Milo', categoryId: 1 })
  const changed = await store.pets.update(
    pet.id,
    { status: 'sold', reason: 'walk-in' },
    { ifMatch: pet.etag },
  )
  expect(changed).toMatchObject({ status: 'sold', etag: '"2"' })
  expect((await store.pets.get(pet.id)).etag).toBe(changed.etag)
  expect((await store.pets.find(pet.id))?.etag).toBe(changed.etag)
  const late = await errorOf(store.pets.update(pet.id, { name: 'Otto' }, { ifMatch: pet.etag }))
  expect(late).toMatchObject({ code: 'precondition_failed', status: 412, outcomeUnknown: false })
  expect(await errorOf(store.pets.delete(pet.id, { ifMatch: pet.etag }))).toMatchObject({ status: 412 })
  // etag is empty if the response had no ETag header.
  expect(await errorOf(store.pets.delete(pet.id, { ifMatch: '' }))).toMatchObject({ status: 412 })
  expect(await store.pets.delete(pet.id, { ifMatch: changed.etag })).toBeUndefined()
  expect(await store.pets.find(pet.id)).toBeUndefined()
})

test('sets the price of a pet and facts about it, and finds pets by their chip number', async () => {
  const pet = await store.pets.create({ name: 'Milo', categoryId: 1 })
  expect(await store.pets.profile(pet.id)).toEqual({ petId: pet.id, etag: '"0"' })
  const facts = { price: '129.00', breed: 'Beagle', chipNumber: `chip${pet.id}` }
  const profile = { petId: pet.id, currency: 'EUR', ...facts }
  expect(await store.pets.setProfile(pet.id, facts, { ifMatch: '"0"' })).toEqual({ ...profile, etag: '"1"' })
  const late = await errorOf(store.pets.setProfile(pet.id, {}, { ifMatch: '"0"' }))
  expect(late).toMatchObject({ code: 'precondition_failed' })
  expect(await store.pets.profiles({ petId: [pet.id, 1n] })).toContainEqual(profile)
  expect(await store.pets.profiles({ chipNumber: facts.chipNumber })).toEqual([profile])
  expect((await store.pets.find(pet.id))?.etag).toBe(pet.etag)
})

test('names a category and returns its counts', async () => {
  const id = 77_001
  await store.pets.create({ name: 'Milo', categoryId: id })
  const counts = { available: 1, pending: 0, sold: 0 }
  expect(await store.categories.put(id, { name: 'Cats' })).toEqual({ id: String(id), name: 'Cats', counts })
  expect(await collect(store.categories.list())).toContainEqual({ id: String(id), name: 'Cats', counts })
})

test('revokes its own API key, which is then rejected within a second', async () => {
  const { key } = await store.apiKeys.create({ name: 'console', scopes: ['pets:read'] })
  const own = open({ apiKey: key })
  expect(await own.apiKeys.revokeOwn()).toBeUndefined()
  await expect.poll(() => errorOf(own.pets.list().page())).toMatchObject({ code: 'invalid_api_key' })
})

test('returns the figures of the last days', async () => {
  await store.pets.create({ name: 'Biscuit', categoryId: 5 })
  await sequenceEvents(api.db)
  const { days, timeZone } = await store.figures({ days: 2, timeZone: 'Europe/Berlin' })
  expect(timeZone).toBe('Europe/Berlin')
  expect(days).toHaveLength(2)
  expect(days.at(-1)?.added).toBeGreaterThan(0)
})

test('creates, uses, rotates and revokes an API key', async () => {
  const made = await store.apiKeys.create({ name: 'till', scopes: ['pets:read'] })
  const till = open({ apiKey: made.key })
  expect(await till.apiKeys.own()).toEqual({
    id: made.id,
    actorId: made.actorId,
    name: 'till',
    kind: 'program',
    scopes: ['pets:read'],
  })
  expect(await errorOf(till.pets.create({ name: 'x', categoryId: 1 }))).toMatchObject({
    code: 'insufficient_scope',
    status: 403,
  })
  const successor = await store.apiKeys.rotate(made.id)
  expect(successor).toMatchObject({ name: 'till', scopes: ['pets:read'] })
  await store.apiKeys.revoke(made.id)
  const listed = await collect(store.apiKeys.list())
  expect(listed.find(({ id }) => id === made.id)?.revokedAt).toBeDefined()
  expect(listed.find(({ id }) => id === successor.id)?.revokedAt).toBeUndefined()
})

test('creates, changes, tests and deletes a webhook', async () => {
  const { webhooks } = store
  const url = 'https://shop.example/hooks'
  const created = await webhooks.create({ url, types: ['pet.created'], description: 'the shop' })
  const { secret, ...webhook } = created
  expect(secret).toMatch(/^whsec_/)
  expect(webhook).toMatchObject({ url, types: ['pet.created'], description: 'the shop', enabled: true })
  expect((await webhooks.list().page()).items).toContainEqual(webhook)
  expect((await webhooks.rotateSecret(webhook.id, { overlapSeconds: 60 })).secret).not.toBe(secret)
  expect(await webhooks.sendTest(webhook.id)).toMatchObject({ id: webhook.id, waiting: 1 })
  expect(await webhooks.update(webhook.id, { enabled: false })).toMatchObject({ disabledReason: 'caller' })
  expect(await errorOf(webhooks.sendTest(webhook.id))).toMatchObject({ code: 'webhook_disabled' })
  expect(await errorOf(webhooks.create({ url: 'ftp://shop.example' }))).toMatchObject({
    code: 'invalid_body',
    details: [expect.objectContaining({ field: 'url' })],
  })
  expect(await webhooks.delete(webhook.id)).toBeUndefined()
  expect(await errorOf(webhooks.get(webhook.id))).toMatchObject({ code: 'webhook_not_found', status: 404 })
})

test('lists deliveries page by page, and delivers one of them again', async () => {
  const receiver = await openReceiver()
  const deliverer = startDeliverer(api.databaseUrl)
  const { id } = await store.webhooks.create({ url: receiver.url, types: ['pet.created'] })
  for (let count = 1; count <= 3; count += 1) {
    await store.pets.create({ name: 'Biscuit', categoryId: 1 })
    await sequenceEvents(api.db)
    await receiver.until(({ length }) => length >= count)
  }
  const all = () => collect(store.webhooks.deliveries(id, { outcome: 'delivered', limit: 1 }))
  await expect.poll(all).toHaveLength(3)
  const [newest] = await all()
  expect(newest).toMatchObject({ kind: 'event', type: 'pet.created', attempt: 1, responseStatus: 204 })
  expect(newest?.messageId).toBe(receiver.received.at(-1)?.id)
  await store.webhooks.redeliver(id, newest?.id ?? '')
  await receiver.until(({ length }) => length >= 4)
  expect(receiver.received.at(-1)?.id).toBe(newest?.messageId)
  await deliverer.stop()
})

test('creates with the same idempotencyKey add one pet, even from two clients', async () => {
  const pet = { name: 'Once', categoryId: 6 }
  const first = await store.pets.create(pet, { idempotencyKey: 'delivery-17/3' })
  const second = await open().pets.create(pet, { idempotencyKey: 'delivery-17/3' })
  expect(second).toEqual(first)
  expect(await collect(store.pets.list({ categoryId: 6 }))).toHaveLength(1)
  const other = { ...pet, name: 'Twice' }
  expect(await errorOf(store.pets.create(other, { idempotencyKey: 'delivery-17/3' }))).toMatchObject({
    code: 'idempotency_key_reused',
    status: 422,
  })
})

test('methods work when they are taken from their object', async () => {
  const { create, find } = store.pets
  const { id } = await create({ name: 'Free', categoryId: 1 })
  expect(await find(id)).toMatchObject({ name: 'Free' })
})

test('neither the client nor its errors show the API key', async () => {
  const unreachable = open({ baseUrl: `http://127.0.0.1:${await freePort()}/v1`, deadlineMs: 1 })
  const rejected = await errorOf(store.pets.get('9223372036854775807'))
  const failed = await errorOf(unreachable.pets.find(1))
  const shown = inspect([store, rejected, failed], { depth: 20, showHidden: true }) + JSON.stringify(store)
  expect(shown).toContain('pet_not_found')
  expect(shown).not.toContain(apiKey)
  expect(shown).not.toContain(apiKey.slice(-20))
})

test('stores and returns a name exactly', async () => {
  const name = 'Zoë 🐈 "quoted" \\ \n'
  const pet = await store.pets.create({ name, categoryId: 9 })
  expect(pet.name).toBe(name)
  expect(await api.findPet(Number(pet.id))).toMatchObject({ id: Number(pet.id), name })
})

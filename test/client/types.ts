// Code that tsc must accept, and marked lines that it must reject. `npm run check` compiles this file; nothing runs it.
import type { IncomingHttpHeaders } from 'node:http'
import type {
  Delivery,
  Entry,
  FutureEvent,
  Id,
  Order,
  Pet,
  PetProfile,
  PetstoreError,
  StoreEvent,
  VersionedPet,
} from '@petstore/client'
import { Petstore } from '@petstore/client'
import type { FutureMessage, WebhookEvent, WebhookVerificationError } from '@petstore/client/webhooks'
import { verifyWebhook } from '@petstore/client/webhooks'

type Equal<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false
const same = <One, Other>(_equal: Equal<One, Other>) => {}
const take = (_value: unknown) => {}

export async function constructing() {
  take(
    new Petstore({
      baseUrl: new URL('http://127.0.0.1/v1'),
      apiKey: 'x',
      timeoutMs: 5,
      deadlineMs: undefined,
    }),
  )
  // @ts-expect-error apiKey is required
  take(new Petstore({ baseUrl: 'http://127.0.0.1/v1' }))
  // @ts-expect-error baseUrl is required
  take(new Petstore({ apiKey: 'x' }))
  // @ts-expect-error the variable may be undefined
  take(new Petstore({ baseUrl: 'http://127.0.0.1/v1', apiKey: process.env['KEY'] }))
}

export async function creates({ pets }: Petstore) {
  const pet = await pets.create({ name: 'Biscuit', categoryId: 1 })
  same<typeof pet, VersionedPet>(true)
  same<typeof pet.id, Id>(true)
  await pets.create({ name: 'Biscuit', categoryId: '1', status: undefined })
  await pets.create({ name: 'Biscuit', categoryId: 1n, status: 'sold' }, { idempotencyKey: 'mine' })
  // @ts-expect-error categoryId is required
  await pets.create({ name: 'Biscuit' })
  // @ts-expect-error no such status
  await pets.create({ name: 'Biscuit', categoryId: 1, status: 'asleep' })
  // @ts-expect-error no such field
  await pets.create({ name: 'Biscuit', categoryId: 1, colour: 'brown' })
  // @ts-expect-error ids in responses are strings
  if (pet.id === 42) return
  // @ts-expect-error the service assigns the id
  await pets.create({ id: 5, name: 'Biscuit', categoryId: 1 })

  const found = await pets.find(pet.id)
  // @ts-expect-error the pet may not exist
  found.name.trim()
  same<typeof found, VersionedPet | undefined>(true)

  await pets.update(pet.id, { status: 'sold' }, { ifMatch: pet.etag })
  await pets.update(pet.id, { status: 'sold' }, { ifMatch: found?.etag })
  // @ts-expect-error takes an id, not a pet
  await pets.update(pet, { status: 'sold' })
  // @ts-expect-error only creates take an idempotencyKey
  await pets.update(pet.id, { status: 'sold' }, { idempotencyKey: 'x' })

  const deleted = await pets.delete(pet.id)
  same<typeof deleted, void>(true)
}

export async function lists({ pets, orders, categories }: Petstore) {
  for await (const pet of pets.list({ status: 'available', id: [1, 2n, '3'] })) same<typeof pet, Pet>(true)
  for await (const order of orders.list({ status: 'open' })) same<typeof order, Order>(true)
  for await (const { event } of pets.history(1)) {
    // @ts-expect-error no such event
    if (event === 'fed') return
  }
  const { items, nextCursor } = await categories.list({ limit: 5 }).page()
  same<typeof nextCursor, string | undefined>(true)
  // @ts-expect-error some categories have no name
  items[0]?.name.trim()
  // @ts-expect-error `open` is a status of orders
  pets.list({ status: 'open' })
  // @ts-expect-error no such filter
  pets.list({ colour: 'brown' })
  // @ts-expect-error lists need `for await`
  for (const pet of pets.list()) void pet
}

export async function keysAndOrders({ apiKeys, orders }: Petstore) {
  await orders.place({ petId: '7', holdMinutes: 30 })
  // @ts-expect-error petId is required
  await orders.place({ holdMinutes: 30 })
  // @ts-expect-error no such scope
  await apiKeys.create({ name: 'till', scopes: ['pets:feed'] })
  const { key } = await apiKeys.create({ name: 'till', scopes: ['pets:read'] })
  same<typeof key, string>(true)
  // @ts-expect-error only create and rotate return the key
  take((await apiKeys.list().page()).items[0]?.key)
}

export async function money({ orders, till }: Petstore) {
  await orders.place({ petId: '7', deposit: '20.00', method: 'cash' })
  await orders.complete(7, { price: '99.00', method: 'card', reason: 'discount' })
  const entry = await orders.refund(7, { amount: '100.00', takeBack: true }, { idempotencyKey: 'till-1/4' })
  same<typeof entry, Entry>(true)
  // @ts-expect-error takeBack is required
  await orders.refund(7, { amount: '100.00' })
  // @ts-expect-error amounts are text
  await orders.settleDeposit(7, { refund: 20 })
  // @ts-expect-error no such method
  await orders.correct(7, { price: '119.00', method: 'cheque' })
  // @ts-expect-error closings are idempotent by their day
  await till.closeDay({ day: '2026-11-19', counted: '1.00', kept: '1.00' }, { idempotencyKey: 'x' })
  for await (const one of till.entries({ from: '2026-11-19' })) same<typeof one, Entry>(true)
  const { groups } = await till.totals({ by: 'method' })
  // @ts-expect-error present only with `by`
  take(groups.length)
}

export async function webhooks({ webhooks: endpoints }: Petstore) {
  const { id, secret } = await endpoints.create({ url: 'https://shop.example', types: ['pet.created'] })
  same<typeof secret, string>(true)
  // @ts-expect-error no such type
  await endpoints.update(id, { types: ['pet.fed'] })
  // @ts-expect-error only create and rotateSecret return the secret
  take((await endpoints.get(id)).secret)
  for await (const delivery of endpoints.deliveries(id, { outcome: 'failed' })) {
    same<typeof delivery, Delivery>(true)
    await endpoints.redeliver(id, delivery.id)
  }
  // @ts-expect-error the position is required
  await endpoints.replay(id, {})
}

export async function events({ events: feed }: Petstore) {
  const { items, next } = await feed.list({ after: 'latest', type: ['pet.created'], limit: 5 })
  same<typeof items, StoreEvent[]>(true)
  same<typeof next, string>(true)
  // @ts-expect-error no such type
  feed.follow({ type: ['pet.fed'] })
  for await (const event of feed.follow({ after: next, onPosition: async () => {} })) {
    same<typeof event, StoreEvent>(true)
    same<typeof event.pet, Pet | undefined>(true)
    // @ts-expect-error not every event has a pet
    take(event.pet.name)
    if (event.type === 'pet.created') same<typeof event.pet, Pet>(true)
    else if (event.type === 'pet.updated')
      same<(typeof event.changed)[number], 'name' | 'categoryId' | 'status'>(true)
    else if (event.type === 'pet.profile_updated') same<typeof event.profile, PetProfile>(true)
    else if (event.type === 'pet.deleted') same<typeof event.pet, undefined>(true)
    else if (event.type === 'order.placed' || event.type === 'order.updated')
      same<typeof event.order, Order>(true)
    else if (event.type === 'order.expired' || event.type === 'order.completed') take(event.order.status)
    else if (event.type === 'order.cancelled') take(event.order.closedAt)
    else if (event.type === 'order.entry_added') same<typeof event.entry, Entry>(true)
    // All that is left are types of later versions.
    else same<typeof event, FutureEvent>(true)
    const type: string = event.type
    take(type)
  }
}

export function errors(error: PetstoreError): number | undefined {
  // Editors suggest the known codes. Others are allowed, because later versions may add codes.
  if (error.code === 'pet_not_available' || error.code === 'a_code_of_tomorrow') return undefined
  // @ts-expect-error there may be no response
  const status: number = error.status
  return status
}

export async function receivedWebhooks(request: Request, node: IncomingHttpHeaders) {
  await verifyWebhook('', node, ['whsec_'], { toleranceSeconds: 60, now: () => new Date() })
  await verifyWebhook(new Uint8Array(), { 'webhook-id': ['1'], host: undefined }, 'whsec_')
  // @ts-expect-error takes the raw body
  await verifyWebhook({ type: 'pet.created' }, node, 'whsec_')
  // @ts-expect-error the variable may be undefined
  await verifyWebhook('', node, process.env['WEBHOOK_SECRET'])
  const event = await verifyWebhook(await request.arrayBuffer(), request.headers, 'whsec_')
  same<typeof event, WebhookEvent>(true)
  same<typeof event.id, string>(true)
  same<typeof event.data.petId, Id | undefined>(true)
  // @ts-expect-error not every event has a pet
  take(event.data.pet.name)
  if (event.type === 'pet.created') same<typeof event.data.pet, Pet>(true)
  else if (event.type === 'pet.updated')
    same<(typeof event.data.changed)[number], 'name' | 'categoryId' | 'status'>(true)
  else if (event.type === 'pet.profile_updated') same<typeof event.data.profile, PetProfile>(true)
  else if (event.type === 'pet.deleted') same<typeof event.data.petId, Id>(true)
  else if (event.type === 'webhook.test') same<typeof event.data.webhookId, Id>(true)
  else if (
    event.type === 'order.placed' ||
    event.type === 'order.updated' ||
    event.type === 'order.expired'
  ) {
    take(event.data.order.status)
    // @ts-expect-error webhooks do not contain notes
    take(event.data.order.note)
    // @ts-expect-error webhooks do not contain the author of a change
    take(event.data.actor)
  } else if (event.type === 'order.entry_added') {
    take(event.data.entry.paid)
    // @ts-expect-error webhooks do not contain people
    take(event.data.entry.seller)
    // @ts-expect-error webhooks do not contain the reason of an entry
    take(event.data.entry.reason)
  } else if (event.type === 'order.completed' || event.type === 'order.cancelled') {
    same<typeof event.data.position, string>(true)
  }
  // All that is left are types of later versions.
  else same<typeof event, FutureMessage & { id: string }>(true)
}

export function webhookErrors({ code }: WebhookVerificationError): void {
  // @ts-expect-error no such code
  if (code === 'a_code_of_tomorrow') take(code)
}

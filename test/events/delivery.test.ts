// Webhooks are delivered in the order of each pet, with retries, by one process at a time.
import { expect, test } from 'vitest'
import { startDeliverer } from '../support/deliveries.ts'
import { openFeed } from '../support/feed.ts'
import { openReceiver, type Received, type Receiver } from '../support/webhook-receiver.ts'

const feed = await openFeed()
const { api } = feed
const deliverer = startDeliverer(api.databaseUrl)

interface Webhook {
  id: number
  secret: string
  enabled: boolean
  position: string
  waiting: number
  disabledReason?: string
  failingSince?: string
  lastDeliveredAt?: string
}

interface Delivery {
  id: number
  messageId: string
  outcome: string
  attempt: number
  responseStatus?: number
  failure?: string
  kind: string
  at: string
  nextAttemptAt?: string
}

async function createWebhook(receiver: Receiver, types?: string[]): Promise<Webhook> {
  // Otherwise, the webhook would also get the latest changes, which have no number yet.
  await feed.sequence()
  const response = await api.post('/webhooks', { url: receiver.url, ...(types && { types }) })
  expect(response.status, response.text).toBe(201)
  return response.body as Webhook
}

const getWebhook = async ({ id }: Webhook) => (await api.get(`/webhooks/${id}`)).body as Webhook
const deliveriesOf = async ({ id }: Webhook, query = '') =>
  (await api.get(`/webhooks/${id}/deliveries?limit=100${query}`)).body as Delivery[]
const ofPet =
  (petId: number) =>
  ({ data }: Received) =>
    data.petId === petId

async function rename(petId: number, name: string): Promise<void> {
  expect((await api.patch(petId, { name })).status).toBe(200)
}

const until = (condition: () => Promise<boolean>) => expect.poll(condition).toBe(true)

test('delivers the whole profile of a pet', async () => {
  const receiver = await openReceiver()
  await createWebhook(receiver, ['pet.profile_updated'])
  const { id } = await api.addPet()
  const { body: profile } = await api.put(`/pets/${id}/profile`, { price: '129.00', description: 'a\nb' })
  await receiver.until((received) => received.length === 1)
  const [received] = receiver.received as [Received]
  expect(received.type).toBe('pet.profile_updated')
  expect(received.data).toEqual({ position: received.id.slice('evt_'.length), petId: id, profile })
})

test('delivers the events of the chosen types, signed, with the position and without the actor', async () => {
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created', 'pet.deleted'])
  const secondsBefore = Math.floor(Date.now() / 1_000)
  const pet = await api.addPet({ name: 'Größe "5" 🐕' })
  await rename(pet.id, 'Rex')
  await api.remove(`/pets/${pet.id}`)
  await until(async () => (await deliveriesOf(webhook)).length >= 2)
  // The event of the next pet is sent after all of this one.
  const next = await api.addPet()
  await receiver.until((received) => received.some(ofPet(next.id)))
  expect(receiver.received.map(({ type }) => type)).toEqual(['pet.created', 'pet.deleted', 'pet.created'])
  const [created] = receiver.received as [Received]
  receiver.verify(created, webhook.secret)
  expect(created.data).toEqual({
    position: created.id.slice('evt_'.length),
    petId: pet.id,
    pet: { ...pet },
  })
  expect(created.headers['content-type']).toBe('application/json')
  const timestamp = Number(created.headers['webhook-timestamp'])
  expect(timestamp).toBeGreaterThanOrEqual(secondsBefore)
  expect(timestamp).toBeLessThanOrEqual(created.at / 1_000)
  await until(async () => (await deliveriesOf(webhook)).length === 3)
  expect((await deliveriesOf(webhook)).slice(1)).toMatchObject([
    { outcome: 'delivered', attempt: 1, responseStatus: 204, messageId: receiver.received[1]?.id },
    { outcome: 'delivered', attempt: 1, responseStatus: 204, messageId: created.id },
  ])
})

test('never sends the note of an order', async () => {
  const receiver = await openReceiver()
  await createWebhook(receiver, ['order.placed'])
  await api.hold({ note: 'Ms Okafor, comes at noon', price: '129.00' })
  await receiver.until((received) => received.length === 1)
  const order = { status: 'open', placedBy: 'staff', price: '129.00', currency: 'EUR' }
  expect(receiver.received[0]?.data.order).toMatchObject(order)
  expect(receiver.received[0]?.text).not.toContain('Okafor')
})

test('never sends the people and the reason of an entry', async () => {
  const receiver = await openReceiver()
  await createWebhook(receiver, ['order.entry_added'])
  const { id } = await api.hold({ price: '129.00', note: 'Ms Okafor' })
  await api.end('complete', id)
  await api.post(`/store/orders/${id}/correct`, { price: '119.00', reason: 'wrong_price' })
  await receiver.until((received) => received.length === 2)
  const { order, entry } = receiver.received[1]?.data ?? {}
  expect(entry).toMatchObject({ kind: 'correction', orderId: id, paid: '-10.00', sales: '-10.00', pets: 0 })
  for (const name of ['seller', 'actor', 'reason']) expect(entry).not.toHaveProperty(name)
  expect(order).toMatchObject({ id, price: '129.00', netPrice: '119.00' })
  expect(receiver.received.map(({ text }) => text).join()).not.toMatch(/Okafor|wrong_price/)
})

test('a message that fails holds back later events of the same pet only, and is retried with the same id', async () => {
  const receiver = await openReceiver()
  const [bad, good] = [await api.addPet(), await api.addPet()]
  const webhook = await createWebhook(receiver)
  let failures = 0
  const goodArrived = Promise.withResolvers<void>()
  receiver.respond(async ({ data }) => {
    if (data.petId === good.id) goodArrived.resolve()
    if (data.petId !== bad.id || failures === 2) return 204
    failures += 1
    // The event of the other pet must arrive although this message has failed, and is being retried.
    if (failures === 2) await goodArrived.promise
    return 500
  })
  await rename(bad.id, 'One')
  await rename(bad.id, 'Two')
  await rename(good.id, 'Three')
  await receiver.until((received) => received.some(ofPet(good.id)))
  await receiver.until((received) => received.filter(ofPet(bad.id)).length === 4)
  const names = receiver.received
    .filter(ofPet(bad.id))
    .map(({ data }) => (data['pet'] as { name: string }).name)
  expect(names).toEqual(['One', 'One', 'One', 'Two'])
  const ids = receiver.received.filter(ofPet(bad.id)).map(({ id }) => id)
  expect(new Set(ids.slice(0, 3)).size).toBe(1)
  await until(async () => (await getWebhook(webhook)).waiting === 0)
  expect(await deliveriesOf(webhook, '&outcome=failed')).toMatchObject([
    { attempt: 2, responseStatus: 500 },
    { attempt: 1, responseStatus: 500 },
  ])
})

test('a redirect is a failure and is not followed', async () => {
  const [receiver, other] = [await openReceiver(), await openReceiver()]
  const webhook = await createWebhook(receiver)
  receiver.respond(() => ({ status: 307, headers: { location: other.url } }))
  await api.addPet()
  await until(async () => (await deliveriesOf(webhook)).length > 0)
  expect((await deliveriesOf(webhook)).at(-1)).toMatchObject({ outcome: 'failed', responseStatus: 307 })
  expect(other.received).toEqual([])
  await api.remove(`/webhooks/${webhook.id}`)
})

test('a receiver that fails for every pet gets one attempt at a time, and everything once it works', async () => {
  const [receiver, working] = [await openReceiver(), await openReceiver()]
  const webhook = await createWebhook(receiver, ['pet.created'])
  await createWebhook(working, ['pet.updated'])
  receiver.respond(() => 503)
  const pet = await api.addPet()
  await api.sql(`insert into pets (name, category_id) select 'Rex', 1 from generate_series(1, 59)`)
  let held = 0
  const release = Promise.withResolvers<void>()
  // Up to 16 attempts are in flight at first. After attempts for several pets have failed, all later ones are held.
  const holdLater = () => {
    const pets = new Set(receiver.received.map(({ data }) => data.petId))
    if (pets.size < 3 || deliverer.state().inFlight > 0) return false
    receiver.respond(async () => {
      held += 1
      await release.promise
      return 503
    })
    return true
  }
  await expect.poll(holdLater).toBe(true)
  await receiver.until(() => held > 0)
  // A second attempt would be sent before the event of the other webhook.
  await rename(pet.id, 'Max')
  await working.until(({ length }) => length === 1)
  expect(held).toBe(1)
  await until(async () => (await getWebhook(webhook)).failingSince !== undefined)
  receiver.respond(() => 204)
  release.resolve()
  await receiver.until((received) => received.filter(({ status }) => status === 204).length >= 60)
  const delivered = receiver.received.filter(({ status }) => status === 204).map(({ id }) => id)
  expect(new Set(delivered).size).toBe(60)
  await until(async () => (await getWebhook(webhook)).failingSince === undefined)
})

test('a webhook that is enabled again stays failing, unless it was paused', async () => {
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created'])
  receiver.respond(() => 503)
  await api.addPet()
  await until(async () => (await getWebhook(webhook)).failingSince !== undefined)
  const change = async (enabled: boolean) => {
    const { body } = await api.call('PATCH', `/v1/webhooks/${webhook.id}`, { body: { enabled } })
    return body
  }
  expect(await change(true)).toHaveProperty('failingSince')
  await receiver.until((received) => received.length >= 2)
  expect(await change(false)).toHaveProperty('failingSince')
  expect(await change(true)).not.toHaveProperty('failingSince')
})

test('410 disables the webhook; when it is enabled again, it gets the events that it missed', async () => {
  const [receiver, working] = [await openReceiver(), await openReceiver()]
  const webhook = await createWebhook(receiver, ['pet.created'])
  receiver.respond(() => 410)
  const pet = await api.addPet()
  await until(async () => !(await getWebhook(webhook)).enabled)
  expect(await getWebhook(webhook)).toMatchObject({ enabled: false, disabledReason: 'gone' })
  // The process that delivers to this webhook has also read the state of the other one.
  await createWebhook(working, ['pet.created', 'pet.updated'])
  const missed = await api.addPet()
  await rename(missed.id, 'Rex')
  // The second event of the pet is sent after its first one.
  await working.until((received) => received.filter(ofPet(missed.id)).length === 2)
  expect(receiver.received.length).toBe(1)
  expect((await api.post(`/webhooks/${webhook.id}/test`, {})).status).toBe(409)
  receiver.respond(() => 204)
  await api.call('PATCH', `/v1/webhooks/${webhook.id}`, { body: { enabled: true } })
  await receiver.until((received) => received.length === 3)
  expect(receiver.received.map(({ status }) => status)).toEqual([410, 204, 204])
  const delivered = receiver.received.slice(1).map(({ data }) => data.petId)
  expect(new Set(delivered)).toEqual(new Set([pet.id, missed.id]))
})

test('Retry-After pauses the whole webhook', async () => {
  const receiver = await openReceiver()
  await createWebhook(receiver, ['pet.created'])
  receiver.respond(() =>
    receiver.received.length === 0 ? { status: 429, headers: { 'retry-after': '1' } } : 204,
  )
  await api.addPet()
  await receiver.until((received) => received.length === 1)
  await api.addPet()
  await receiver.until((received) => received.length === 3)
  const [first, second] = receiver.received as [Received, Received]
  expect(second.at - first.at).toBeGreaterThan(950)
})

test('says when each message is sent again, and when the last one was delivered', async () => {
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created'])
  const path = `/webhooks/${webhook.id}`
  const newestOf = async (kind: string) =>
    (await deliveriesOf(webhook)).find((delivery) => delivery.kind === kind)
  receiver.respond(() => 500)
  await api.addPet()
  await until(async () => (await newestOf('event')) !== undefined)
  receiver.respond(() => ({ status: 503, headers: { 'retry-after': '3600' } }))
  await until(async () => (await newestOf('event'))?.responseStatus === 503)
  const event = (await newestOf('event')) as Delivery
  await api.post(`${path}/test`, {})
  await api.post(`${path}/deliveries/${event.id}/redeliver`, {})
  await until(async () => (await newestOf('test')) !== undefined)
  await until(async () => (await newestOf('redelivery')) !== undefined)

  const waiting = async () =>
    (await deliveriesOf(webhook)).filter(({ nextAttemptAt }) => nextAttemptAt !== undefined)
  const inAnHour = await waiting()
  // Earlier attempts of the event are in the list too.
  expect(inAnHour.map(({ kind }) => kind).toSorted()).toEqual(['event', 'redelivery', 'test'])
  for (const { at, nextAttemptAt = at } of inAnHour) {
    // The database and the process may read the clock in any order.
    expect(Date.parse(nextAttemptAt) - Date.parse(at)).toBeGreaterThan(3_590_000)
  }
  expect(await getWebhook(webhook)).not.toHaveProperty('lastDeliveredAt')

  await api.call('PATCH', `/v1${path}`, { body: { enabled: false } })
  expect(await waiting()).toEqual([])
  receiver.respond(() => 204)
  await api.call('PATCH', `/v1${path}`, { body: { enabled: true } })
  await until(async () => (await getWebhook(webhook)).waiting === 0)
  expect(await waiting()).toEqual([])
  const [newest] = (await deliveriesOf(webhook)) as [Delivery]
  expect(await getWebhook(webhook)).toMatchObject({ lastDeliveredAt: newest.at })
})

test('sends a test event, also while the receiver fails, and redelivers any message', async () => {
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created'])
  receiver.respond(({ type }) => (type === 'webhook.test' ? 204 : 500))
  for (let index = 0; index < 5; index += 1) await api.addPet()
  await receiver.until((received) => received.length >= 3)
  expect((await api.post(`/webhooks/${webhook.id}/test`, {})).body).toMatchObject({ id: webhook.id })
  await receiver.until((received) => received.some(({ type }) => type === 'webhook.test'))
  const message = receiver.received.find(({ type }) => type === 'webhook.test') as Received
  expect(message.data).toEqual({ webhookId: webhook.id })
  receiver.verify(message, webhook.secret)

  receiver.respond(() => 204)
  await until(async () => (await getWebhook(webhook)).waiting === 0)
  const delivered = await deliveriesOf(webhook, '&outcome=delivered')
  const { id, messageId } = delivered.find(({ kind }) => kind === 'event') as Delivery
  const count = receiver.received.length
  expect((await api.post(`/webhooks/${webhook.id}/deliveries/${id}/redeliver`, {})).status).toBe(202)
  await receiver.until((received) => received.length > count)
  expect(receiver.received.at(-1)?.id).toBe(messageId)
})

test('a redelivery that waits is skipped if the webhook no longer gets its type', async () => {
  const [receiver, other] = [await openReceiver(), await openReceiver()]
  const webhook = await createWebhook(receiver, ['order.placed'])
  await api.hold()
  await until(async () => (await deliveriesOf(webhook)).length === 1)
  const [delivery] = await deliveriesOf(webhook)
  receiver.respond(() => 500)
  expect((await api.post(`/webhooks/${webhook.id}/deliveries/${delivery?.id}/redeliver`, {})).status).toBe(
    202,
  )
  await receiver.until((received) => received.length > 1)
  await feed.sequence()
  const body = { url: other.url, types: ['pet.created'] }
  expect((await api.call('PATCH', `/v1/webhooks/${webhook.id}`, { body })).status).toBe(200)
  await until(async () => (await getWebhook(webhook)).waiting === 0)
  // The next event is sent after everything that waited.
  const pet = await api.addPet()
  await other.until((received) => received.some(ofPet(pet.id)))
  expect(other.received.map(({ type }) => type)).toEqual(['pet.created'])
  expect(await deliveriesOf(webhook, '&outcome=skipped')).toMatchObject([
    { kind: 'redelivery', failure: 'not_subscribed', messageId: delivery?.messageId },
  ])
})

test('after a change of the URL, the former receiver gets nothing more, and the new one everything that waits', async () => {
  const [former, receiver] = [await openReceiver(), await openReceiver()]
  const webhook = await createWebhook(former, ['pet.created'])
  const release = Promise.withResolvers<void>()
  former.respond(() => release.promise.then(() => 204))
  await api.sql(`insert into pets (name, category_id) select 'Rex', 1 from generate_series(1, 40)`)
  await former.until((received) => received.length === 16)
  await api.call('PATCH', `/v1/webhooks/${webhook.id}`, { body: { url: receiver.url } })
  await receiver.until((received) => received.length >= 40)
  release.resolve()
  const next = await api.addPet()
  await receiver.until((received) => received.some(ofPet(next.id)))
  expect(former.received).toHaveLength(16)
})

test('replays all events after a position, in order', async () => {
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created'])
  for (let index = 0; index < 20; index += 1) await api.addPet()
  await receiver.until((received) => received.length === 20)
  // Events of different pets can arrive in another order than that of the feed.
  const inOrder = receiver.received.toSorted(
    (one, other) => Number(one.data.petId) - Number(other.data.petId),
  )
  const after = inOrder[2]?.data.position
  const response = await api.post(`/webhooks/${webhook.id}/replay`, { after })
  expect(response.status, response.text).toBe(202)
  await receiver.until((received) => received.length >= 37)
  const replayed = receiver.received.slice(20).map(({ id }) => id)
  expect(new Set(replayed)).toEqual(new Set(inOrder.slice(3).map(({ id }) => id)))
  expect((await api.post(`/webhooks/${webhook.id}/replay`, { after: 'nonsense' })).status).toBe(400)
  expect((await api.post(`/webhooks/${webhook.id}/replay`, { after: '000000000000-1' })).status).toBe(410)
})

test('after a rotation, messages have both signatures until the overlap ends', async () => {
  const rotate = async (overlapSeconds: number) => {
    const receiver = await openReceiver()
    const webhook = await createWebhook(receiver, ['pet.created'])
    const rotated = await api.post(`/webhooks/${webhook.id}/rotate-secret`, { overlapSeconds })
    // The process that sends the test event has read the new secret.
    await api.post(`/webhooks/${webhook.id}/test`, {})
    await receiver.until((received) => received.length === 1)
    return { receiver, former: webhook.secret, secret: (rotated.body as { secret: string }).secret }
  }
  const [long, short] = [await rotate(3_600), await rotate(1)]
  const ofShort = async () => {
    const { id } = await api.addPet()
    for (const { receiver } of [long, short]) await receiver.until((received) => received.some(ofPet(id)))
    return short.receiver.received.find(ofPet(id)) as Received
  }
  const signatures = ({ headers }: Received) => String(headers['webhook-signature']).split(' ')
  await expect.poll(async () => signatures(await ofShort())).toHaveLength(1)
  const one = short.receiver.received.at(-1) as Received
  short.receiver.verify(one, short.secret)
  expect(() => short.receiver.verify(one, short.former)).toThrow()
  for (const both of long.receiver.received) {
    long.receiver.verify(both, long.secret)
    long.receiver.verify(both, long.former)
  }
})

// Webhooks are delivered in the order of each pet, with retries, by one process at a time.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startDeliverer } from '../support/deliveries.ts'
import { openFeed } from '../support/feed.ts'
import { openReceiver, type Received, type Receiver } from '../support/webhook-receiver.ts'

const feed = await openFeed()
const { api } = feed
startDeliverer(api.databaseUrl)

interface Webhook {
  id: number
  secret: string
  enabled: boolean
  position: string
  waiting: number
  disabledReason?: string
  failingSince?: string
}

interface Delivery {
  id: number
  messageId: string
  outcome: string
  attempt: number
  responseStatus?: number
  failure?: string
  kind: string
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

async function until(condition: () => Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error('the condition did not become true')
    await sleep(20)
  }
}

test('delivers the events of the chosen types, signed, with the position and without the actor', async () => {
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created', 'pet.deleted'])
  const pet = await api.addPet({ name: 'Größe "5" 🐕' })
  await rename(pet.id, 'Rex')
  await api.remove(`/pets/${pet.id}`)
  await receiver.until((received) => received.length >= 2)
  await sleep(200)
  expect(receiver.received.map(({ type }) => type)).toEqual(['pet.created', 'pet.deleted'])
  const [created] = receiver.received as [Received]
  receiver.verify(created, webhook.secret)
  expect(created.data).toEqual({
    position: created.id.slice('evt_'.length),
    petId: pet.id,
    pet: { ...pet },
  })
  expect(created.headers['content-type']).toBe('application/json')
  expect(Math.abs(Number(created.headers['webhook-timestamp']) - Date.now() / 1_000)).toBeLessThan(5)
  await until(async () => (await deliveriesOf(webhook)).length === 2)
  expect(await deliveriesOf(webhook)).toMatchObject([
    { outcome: 'delivered', attempt: 1, responseStatus: 204, messageId: receiver.received[1]?.id },
    { outcome: 'delivered', attempt: 1, responseStatus: 204, messageId: created.id },
  ])
})

test('never sends the note of an order', async () => {
  const receiver = await openReceiver()
  await createWebhook(receiver, ['order.placed'])
  await api.hold({ note: 'Ms Okafor, comes at noon' })
  await receiver.until((received) => received.length === 1)
  expect(receiver.received[0]?.data.order).toMatchObject({ status: 'open', placedBy: 'staff' })
  expect(receiver.received[0]?.text).not.toContain('Okafor')
})

test('a message that fails holds back later events of the same pet only, and is retried with the same id', async () => {
  const receiver = await openReceiver()
  const [bad, good] = [await api.addPet(), await api.addPet()]
  const webhook = await createWebhook(receiver)
  let failures = 0
  receiver.respond(({ data }) => (data.petId === bad.id && failures++ < 2 ? 500 : 204))
  await rename(bad.id, 'One')
  await rename(bad.id, 'Two')
  await rename(good.id, 'Three')
  await receiver.until((received) => received.some(ofPet(good.id)))
  await receiver.until((received) => received.filter(ofPet(bad.id)).length === 4, 30_000)
  const names = receiver.received
    .filter(ofPet(bad.id))
    .map(({ data }) => (data['pet'] as { name: string }).name)
  expect(names).toEqual(['One', 'One', 'One', 'Two'])
  const ids = receiver.received.filter(ofPet(bad.id)).map(({ id }) => id)
  expect(new Set(ids.slice(0, 3)).size).toBe(1)
  const last = receiver.received.filter(ofPet(bad.id)).at(-2)?.at ?? 0
  expect(receiver.received.find(ofPet(good.id))?.at).toBeLessThan(last)
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
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created'])
  receiver.respond(() => 503)
  for (let index = 0; index < 60; index += 1) await api.addPet()
  await receiver.until((received) => received.length >= 3)
  await sleep(300)
  // 16 at first, then one after each pause.
  expect(receiver.received.length).toBeLessThan(30)
  expect((await getWebhook(webhook)).failingSince).toBeDefined()
  receiver.respond(() => 204)
  await receiver.until((received) => received.filter(({ status }) => status === 204).length >= 60, 20_000)
  const delivered = receiver.received.filter(({ status }) => status === 204).map(({ id }) => id)
  expect(new Set(delivered).size).toBe(60)
  await until(async () => (await getWebhook(webhook)).failingSince === undefined)
})

test('410 disables the webhook; when it is enabled again, it gets the events that it missed', async () => {
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created'])
  receiver.respond(() => 410)
  const pet = await api.addPet()
  await until(async () => !(await getWebhook(webhook)).enabled)
  expect(await getWebhook(webhook)).toMatchObject({ enabled: false, disabledReason: 'gone' })
  const missed = await api.addPet()
  await sleep(200)
  expect(receiver.received.length).toBe(1)
  expect((await api.post(`/webhooks/${webhook.id}/test`, {})).status).toBe(409)
  receiver.respond(() => 204)
  await api.call('PATCH', `/v1/webhooks/${webhook.id}`, { body: { enabled: true } })
  await receiver.until((received) => received.length === 3)
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

test('sends a test event, also while the receiver fails, and redelivers any message', async () => {
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created'])
  receiver.respond(({ type }) => (type === 'webhook.test' ? 204 : 500))
  for (let index = 0; index < 5; index += 1) await api.addPet()
  await receiver.until((received) => received.length >= 3)
  expect((await api.post(`/webhooks/${webhook.id}/test`, {})).body).toMatchObject({ id: webhook.id })
  await receiver.until((received) => received.some(({ type }) => type === 'webhook.test'), 3_000)
  const message = receiver.received.find(({ type }) => type === 'webhook.test') as Received
  expect(message.data).toEqual({ webhookId: webhook.id })
  receiver.verify(message, webhook.secret)

  receiver.respond(() => 204)
  await until(async () => (await getWebhook(webhook)).waiting === 0, 20_000)
  const delivered = await deliveriesOf(webhook, '&outcome=delivered')
  const { id, messageId } = delivered.find(({ kind }) => kind === 'event') as Delivery
  const count = receiver.received.length
  expect((await api.post(`/webhooks/${webhook.id}/deliveries/${id}/redeliver`, {})).status).toBe(202)
  await receiver.until((received) => received.length > count, 3_000)
  expect(receiver.received.at(-1)?.id).toBe(messageId)
})

test('replays all events after a position, in order', async () => {
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created'])
  for (let index = 0; index < 20; index += 1) await api.addPet()
  await receiver.until((received) => received.length === 20)
  const third = receiver.received[2] as Received
  const response = await api.post(`/webhooks/${webhook.id}/replay`, { after: third.data.position })
  expect(response.status, response.text).toBe(202)
  await receiver.until((received) => received.length >= 37)
  const replayed = receiver.received.slice(20).map(({ id }) => id)
  expect(new Set(replayed)).toEqual(new Set(receiver.received.slice(3, 20).map(({ id }) => id)))
  expect((await api.post(`/webhooks/${webhook.id}/replay`, { after: 'nonsense' })).status).toBe(400)
  expect((await api.post(`/webhooks/${webhook.id}/replay`, { after: '000000000000-1' })).status).toBe(410)
})

test('after a rotation, messages have both signatures until the overlap ends', async () => {
  const receiver = await openReceiver()
  const webhook = await createWebhook(receiver, ['pet.created'])
  const rotated = await api.post(`/webhooks/${webhook.id}/rotate-secret`, { overlapSeconds: 3 })
  const { secret } = rotated.body as { secret: string }
  await sleep(1_100)
  await api.addPet()
  await receiver.until((received) => received.length === 1)
  const [both] = receiver.received as [Received]
  receiver.verify(both, secret)
  receiver.verify(both, webhook.secret)
  await sleep(3_000)
  await api.addPet()
  await receiver.until((received) => received.length === 2)
  const [, one] = receiver.received as [Received, Received]
  receiver.verify(one, secret)
  expect(() => receiver.verify(one, webhook.secret)).toThrow()
})

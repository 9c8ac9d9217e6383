// Several processes deliver: each webhook has one at a time, and no event is lost when a process ends or changes.
import { expect, onTestFinished, test, vi } from 'vitest'
import { claimWebhooks, releaseWebhooks, renewWebhooks } from '../../src/events/delivery/lease-queries.ts'
import { saveProgress } from '../../src/events/delivery/progress.ts'
import { LeaseLost, type Progress } from '../../src/events/delivery/queries.ts'
import { purgeEvents } from '../../src/events/feed/sequencer.ts'
import { openTestDeliverer, startDeliverer } from '../support/deliveries.ts'
import { openFeed } from '../support/feed.ts'
import { openReceiver, type Received, type Receiver } from '../support/webhook-receiver.ts'

const feed = await openFeed()
const { api } = feed

async function createWebhook({ url }: Receiver, types = ['pet.created']): Promise<{ id: number }> {
  await feed.sequence()
  const response = await api.post('/webhooks', { url, types })
  expect(response.status, response.text).toBe(201)
  return response.body as { id: number }
}

/** Returns the ids of the pets. */
async function addPets(count: number): Promise<number[]> {
  const ids: number[] = []
  while (ids.length < count) ids.push((await api.addPet()).id)
  return ids
}

const idsOf = ({ received }: Receiver) => received.map(({ id }) => id)
const petsOf = (received: Received[]) => received.map(({ data }) => Number(data.petId))
/** Events of different pets can arrive in any order. */
const sorted = (petIds: number[]) => petIds.toSorted((one, other) => one - other)

/** Starts a new epoch, and waits until the webhook is in it. */
async function startEpoch(webhookId: number): Promise<void> {
  await api.sql(`insert into event_epochs (after_number, starts_empty)
    select first_number + count - 1, false from event_numbers order by first_number desc limit 1`)
  const isInNewEpoch = () =>
    api.sql(
      `select from webhooks where id = $1
        and epoch = (select epoch from event_epochs order by id desc limit 1)`,
      [webhookId],
    )
  await expect.poll(isInNewEpoch).toHaveLength(1)
}

test('two processes do not deliver twice, and the second takes over when the first stops', async () => {
  const receivers = [await openReceiver(), await openReceiver(), await openReceiver()]
  for (const receiver of receivers) await createWebhook(receiver)
  const [first, second] = [startDeliverer(api.databaseUrl), startDeliverer(api.databaseUrl)]
  await addPets(30)
  for (const receiver of receivers) await receiver.until((received) => received.length >= 30)
  for (const receiver of receivers) expect(new Set(idsOf(receiver)).size).toBe(receiver.received.length)
  await first.stop()
  await addPets(10)
  for (const receiver of receivers) await receiver.until((received) => received.length >= 40)
  await second.stop()
  // Both have stopped, so nothing more is sent.
  for (const receiver of receivers) {
    expect(receiver.received.length).toBe(40)
    expect(new Set(idsOf(receiver)).size).toBe(40)
  }
})

test('a process that stopped without saving is followed by one that sends its last events again', async () => {
  const receiver = await openReceiver()
  const { id } = await createWebhook(receiver)
  const running = startDeliverer(api.databaseUrl)
  const petIds = await addPets(5)
  await receiver.until((received) => received.length === 5)
  await running.stop()
  const [{ number }] = (await api.sql('select number from webhooks where id = $1', [id])) as [
    { number: bigint },
  ]
  await api.sql('update webhooks set number = number - 3 where id = $1', [id])
  const next = startDeliverer(api.databaseUrl)
  await receiver.until((received) => received.length >= 8)
  // Waits for the attempts in flight.
  await next.stop()
  expect(sorted(petsOf(receiver.received.slice(5)))).toEqual(petIds.slice(2))
  expect(new Set(idsOf(receiver)).size).toBe(5)
  const [after] = (await api.sql('select number from webhooks where id = $1', [id])) as [{ number: bigint }]
  expect(after.number).toBe(number)
})

test('events that wait for a retry survive the end of the process, in the order of their pet', async () => {
  const receiver = await openReceiver()
  receiver.respond(() => 500)
  const { id } = await createWebhook(receiver, ['pet.created', 'pet.updated'])
  const running = startDeliverer(api.databaseUrl, [3_600])
  const pet = await api.addPet()
  for (const name of ['One', 'Two', 'Three']) await api.patch(pet.id, { name })
  const waiting = async () => ((await api.get(`/webhooks/${id}`)).body as { waiting: number }).waiting
  await expect.poll(waiting).toBe(4)
  await running.stop()
  expect(await waiting()).toBe(4)
  expect(receiver.received.length).toBe(1)
  receiver.respond(() => 204)
  await api.sql('update webhook_retries set due_at = now() where webhook_id = $1', [id])
  const before = receiver.received.length
  const next = startDeliverer(api.databaseUrl)
  await receiver.until((received) => received.length >= before + 4)
  await next.stop()
  const names = receiver.received.slice(before).map(({ data }) => (data['pet'] as { name: string }).name)
  expect(names).toEqual(['Biscuit', 'One', 'Two', 'Three'])
  expect(await waiting()).toBe(0)
})

test('a process that gets its lease back after another one had it does not send again what that one has sent', async () => {
  const receiver = await openReceiver()
  const { id } = await createWebhook(receiver)
  // This process cannot reach the database for a while: it does nothing between two calls of `run`.
  const cutOff = openTestDeliverer(api.databaseUrl)
  const runUntil = (isTrue: () => Promise<boolean> | boolean) =>
    expect.poll(async () => (await cutOff.run(), isTrue())).toBe(true)
  await addPets(2)
  const saved = () => api.sql('select from webhook_deliveries where webhook_id = $1', [id])
  await runUntil(async () => (await saved()).length === 2)
  await api.sql('update webhooks set leased_until = now() where id = $1', [id])
  const other = startDeliverer(api.databaseUrl)
  await addPets(5)
  await receiver.until(({ length }) => length >= 7)
  await other.stop()
  const now = performance.now.bind(performance)
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 20_000)
  onTestFinished(() => later.mockRestore())
  const [last] = await addPets(1)
  // The last event comes after all that would be sent again.
  await runUntil(() => petsOf(receiver.received).includes(last as number))
  await cutOff.stop()
  expect(new Set(idsOf(receiver)).size).toBe(receiver.received.length)
})

test('a test event is sent although the process could not read it at first', async () => {
  const receiver = await openReceiver()
  const { id } = await createWebhook(receiver)
  const running = startDeliverer(api.databaseUrl)
  await addPets(1)
  await receiver.until((received) => received.length === 1)
  running.failOnce('find_webhook_retries')
  await api.post(`/webhooks/${id}/test`, {})
  await receiver.until((received) => received.length === 2)
  await running.stop()
  expect(running.hasFailed()).toBe(true)
  expect(receiver.received.map(({ type }) => type)).toEqual(['pet.created', 'webhook.test'])
})

test('a process cannot save its progress without the lease, or after a caller changed the webhook', async () => {
  const receiver = await openReceiver()
  const created = await createWebhook(receiver)
  const { db, stop } = startDeliverer(api.databaseUrl)
  await stop()
  const id = BigInt(created.id)
  const [mine, other] = [
    '11111111-1111-1111-1111-111111111111',
    '22222222-2222-2222-2222-222222222222',
  ] as const
  const progress: Progress = {
    webhookId: id,
    restarts: 0n,
    position: { epoch: 'abcdef123456', number: 5n },
    done: [7n, 8n, 11n],
    failingSeconds: null,
    disable: undefined,
    newEpoch: undefined,
    deletedIds: [],
    deletedNumbers: [],
    retries: [],
    results: [],
  }
  expect(await claimWebhooks(db, mine, [id])).toEqual(new Set([id]))
  // The lease must not end before the test, however busy the host is.
  await api.sql(`update webhooks set leased_until = now() + interval '1 hour' where id = $1`, [id])
  expect(await claimWebhooks(db, other, [id])).toEqual(new Set())
  expect(await renewWebhooks(db, other, [id])).toEqual(new Set())
  expect(await renewWebhooks(db, mine, [id])).toEqual(new Set([id]))
  await expect(saveProgress(db, other, progress)).rejects.toThrow(LeaseLost)
  await saveProgress(db, mine, progress)
  await api.call('PATCH', `/v1/webhooks/${id}`, { body: { description: 'changed' } })
  await expect(saveProgress(db, mine, progress)).rejects.toThrow(LeaseLost)
  await releaseWebhooks(db, mine, [id])
  expect(await claimWebhooks(db, other, [id])).toEqual(new Set([id]))
  await api.remove(`/webhooks/${id}`)
})

test('after a new epoch, a redelivery has the id and the body of the first delivery', async () => {
  const receiver = await openReceiver()
  const { id } = await createWebhook(receiver)
  const running = startDeliverer(api.databaseUrl)
  await addPets(1)
  await receiver.until((received) => received.length === 1)
  const deliveries = async () => (await api.get(`/webhooks/${id}/deliveries`)).body as { id: number }[]
  await expect.poll(deliveries).toHaveLength(1)
  const [delivery] = await deliveries()
  await startEpoch(id)
  await api.post(`/webhooks/${id}/deliveries/${delivery?.id}/redeliver`, {})
  await receiver.until((received) => received.length === 2)
  await running.stop()
  const [first, second] = receiver.received
  expect(second).toMatchObject({ id: first?.id, text: first?.text })
  expect(await deliveries()).toMatchObject([
    { messageId: first?.id, kind: 'redelivery' },
    { messageId: first?.id },
  ])
})

test('continues with a new epoch, and after events that the retention has deleted', async () => {
  const receiver = await openReceiver()
  const { id } = await createWebhook(receiver)
  const running = startDeliverer(api.databaseUrl)
  await addPets(2)
  await receiver.until((received) => received.length === 2)
  await startEpoch(id)
  await addPets(2)
  await receiver.until((received) => received.length >= 4)
  await running.stop()
  const [, , newest] = await addPets(3)
  await feed.sequence()
  await purgeEvents(feed.db, 0)
  const later = await addPets(2)
  const next = startDeliverer(api.databaseUrl)
  await receiver.until((received) => received.length >= 7)
  await next.stop()
  // The purge keeps the newest event.
  expect(sorted(petsOf(receiver.received.slice(4)))).toEqual([newest, ...later])
})

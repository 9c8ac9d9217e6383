// The memory of `petstore deliver` has limits in bytes: of events, of waiting messages and of messages in flight.
import { expect, onTestFinished, test } from 'vitest'
import { openEventCache } from '../../src/events/delivery/event-cache.ts'
import { ATTEMPT_BYTES, MESSAGE_BYTES, type MemoryLimits } from '../../src/events/delivery/memory.ts'
import { openTotalSlots } from '../../src/events/delivery/total-slots.ts'
import type { EventRow } from '../../src/events/feed/queries.ts'
import { openTestDeliverer } from '../support/deliveries.ts'
import { openFeed } from '../support/feed.ts'
import { openReceiver, type Receiver } from '../support/webhook-receiver.ts'

const EPOCH = '0123456789ab'
/** An event of 1,512 bytes. */
const event = (number: number) => ({ number: BigInt(number), name: 'x'.repeat(500) }) as EventRow
const at = (number: number, epoch = EPOCH) => ({ epoch, number: BigInt(number) })

/** A cache of three events, and the numbers that it reads. */
function openCache() {
  const reads: bigint[][] = []
  const cache = openEventCache(async (numbers) => {
    reads.push([...numbers])
    return numbers.map((number) => (number > 90n ? undefined : event(Number(number))))
  }, 3 * 1_512)
  return { cache, reads }
}

test('keeps the newest events that fit, and reads the others in batches, each one once', async () => {
  const { cache, reads } = openCache()
  for (const number of [1, 2, 3, 4]) {
    cache.add(EPOCH, [event(number)])
    expect(cache.bytes()).toBe(Math.min(number, 3) * 1_512)
  }
  for (const number of [2, 3, 4]) expect((await cache.load(at(number)))?.number).toBe(BigInt(number))
  expect([reads, cache.bytes()]).toEqual([[], 0])
  // Two batches are in flight at once, so the later calls wait for the third one.
  const loaded = await Promise.all([1, 5, 6, 7, 6, 91].map((number) => cache.load(at(number))))
  expect(loaded.map((row) => row?.number)).toEqual([1n, 5n, 6n, 7n, 6n, undefined])
  expect(reads).toEqual([[1n], [5n], [6n, 7n, 91n]])
})

test('keeps an event until every webhook that has read it has sent it', async () => {
  const { cache, reads } = openCache()
  for (const _webhook of [1, 2]) cache.add(EPOCH, [event(1)])
  expect(cache.bytes()).toBe(1_512)
  await cache.load(at(1))
  expect(cache.bytes()).toBe(1_512)
  await cache.load(at(1))
  expect([cache.bytes(), reads]).toEqual([0, []])
})

test('never takes an event of another epoch with the same number', async () => {
  const { cache, reads } = openCache()
  cache.add(EPOCH, [event(1), event(2)])
  await cache.load(at(1, 'feedfeedfeed'))
  expect(reads).toEqual([[1n]])
  cache.add('feedfeedfeed', [event(1)])
  expect(cache.bytes()).toBe(1_512)
  await cache.load(at(2))
  expect(reads).toEqual([[1n], [2n]])
})

test('starts no attempt beyond the bytes in flight, and wakes those that wait in their order', () => {
  const slots = openTotalSlots(100, 2 * ATTEMPT_BYTES)
  const woken: number[] = []
  const take = (caller: number) => slots.take(() => woken.push(caller))
  expect([take(1), take(2), take(3), take(4)]).toEqual([true, true, false, false])
  slots.resize(ATTEMPT_BYTES, ATTEMPT_BYTES / 2)
  expect(woken).toEqual([])
  slots.resize(ATTEMPT_BYTES, ATTEMPT_BYTES / 2)
  expect(woken).toEqual([3, 4])
  expect([take(3), take(4), slots.taken()]).toEqual([true, false, 3])
  for (const held of [ATTEMPT_BYTES / 2, ATTEMPT_BYTES / 2, ATTEMPT_BYTES]) slots.release(held)
  expect([slots.taken(), slots.bytes()]).toEqual([0, 0])
  // A message that is larger than the limit is sent alone.
  slots.take(() => {})
  slots.resize(ATTEMPT_BYTES, 10 * ATTEMPT_BYTES)
  expect(take(5)).toBe(false)
  slots.release(10 * ATTEMPT_BYTES)
  expect(take(5)).toBe(true)
})

const PETS = 20
const CHANGES = 3
const DESCRIPTION_LENGTH = 2_000
/** Room for 60 messages, 3 attempts and 15 events. Each webhook gets 60 events of 8 kB. */
const MEMORY: MemoryLimits = { messages: 60 * MESSAGE_BYTES, sending: 3 * ATTEMPT_BYTES, events: 131_072 }

test('never exceeds its memory while receivers are down, and delivers everything once they are back', async () => {
  const feed = await openFeed()
  const { api } = feed
  const receivers: Receiver[] = []
  while (receivers.length < 3) receivers.push(await openReceiver())
  for (const { url } of receivers) {
    const { status } = await api.post('/webhooks', { url, types: ['pet.profile_updated'] })
    expect(status).toBe(201)
  }
  await api.sql(`insert into pets (name, category_id) select 'Pet', 1 from generate_series(1, $1::int)`, [
    PETS,
  ])
  for (let change = 0; change < CHANGES; change += 1)
    await api.sql(
      `insert into pet_profiles (pet_id, description) select id, $1::text || repeat('𠀀', $2) from pets
        on conflict (pet_id) do update set description = excluded.description`,
      [change, DESCRIPTION_LENGTH - 1],
    )
  await feed.sequence()
  const deliverer = openTestDeliverer(api.databaseUrl, undefined, MEMORY)
  onTestFinished(() => deliverer.stop())
  const highest = { messages: 0, sending: 0, events: 0 }
  const measure = () => {
    const { memoryBytes } = deliverer.state()
    for (const part of ['messages', 'sending', 'events'] as const)
      highest[part] = Math.max(highest[part], memoryBytes[part])
  }
  let areDown = true
  for (const receiver of receivers)
    receiver.respond(() => {
      measure()
      return areDown ? 500 : 204
    })
  const runUntil = (isTrue: () => boolean) =>
    expect.poll(async () => (await deliverer.run(), measure(), isTrue())).toBe(true)
  await runUntil(() => deliverer.state().failing === receivers.length)
  areDown = false
  const accepted = ({ received }: Receiver) => received.filter(({ status }) => status === 204)
  await runUntil(() => receivers.every((receiver) => accepted(receiver).length >= PETS * CHANGES))
  await deliverer.stop()
  for (const receiver of receivers) {
    const messages = accepted(receiver)
    expect(new Set(messages.map(({ id }) => id)).size).toBe(PETS * CHANGES)
    expect(messages.length).toBe(PETS * CHANGES)
    const changesOf = Map.groupBy(messages, ({ data }) => data.petId)
    for (const ofPet of changesOf.values()) {
      const changes = ofPet.map(({ data }) => (data['profile'] as { description: string }).description[0])
      expect(changes).toEqual(['0', '1', '2'])
    }
  }
  for (const part of ['messages', 'sending', 'events'] as const) {
    expect(highest[part], part).toBeGreaterThan(0)
    expect(highest[part], part).toBeLessThanOrEqual(MEMORY[part])
  }
})

// Waiting for a connection: the timeout, the length of the queue, and the connections reserved for reads.
import { Client } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { CONNECTION_WAIT_MS } from '../../src/db/connection/deadlines.ts'
import { openSlots, type WorkKind, writeSlots } from '../../src/db/connection/slots.ts'
import { createTestDatabase, openTestDatabase, untilBlocked } from '../support/database.ts'

const LIMITS = { size: 4, waitingMax: 10, waitMs: 60_000 }

function takeMany(slots: ReturnType<typeof openSlots>, kind: WorkKind, count: number) {
  return Promise.all(Array.from({ length: count }, () => slots.take(kind)))
}

test('a request waits for a free connection as long as its deadline allows', async () => {
  const databaseUrl = await createTestDatabase()
  const locker = new Client(databaseUrl)
  await locker.connect()
  onTestFinished(() => locker.end())
  await locker.query('select pg_advisory_lock(1)')
  const db = openTestDatabase(databaseUrl, 1, { connectionWaitMs: CONNECTION_WAIT_MS })
  const slow = db.read({ name: 'slow', text: 'select pg_advisory_lock(1)', values: [] })
  await untilBlocked(databaseUrl)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const waiting = db.read({ name: 'one', text: 'select 1 as one', values: [] })
  vi.advanceTimersByTime(CONNECTION_WAIT_MS - 1)
  await locker.query('select pg_advisory_unlock(1)')
  expect(await waiting).toEqual([{ one: 1 }])
  await slow
})

test('rejects with `overloaded` when no connection is free in time', async () => {
  const slots = openSlots({ ...LIMITS, size: 1, waitMs: 20 })
  const first = await slots.take('read')
  await expect(slots.take('read')).rejects.toMatchObject({ code: 'overloaded' })
  expect(slots.waiting()).toBe(0)
  first.leave()
  await slots.take('read')
})

test('rejects with `overloaded` at once when the queue is full', async () => {
  const slots = openSlots({ ...LIMITS, size: 1, waitingMax: 1 })
  const first = await slots.take('read')
  const second = slots.take('read')
  await expect(slots.take('read')).rejects.toMatchObject({ code: 'overloaded' })
  first.leave()
  await second
})

test('admits requests in order of arrival, but never more concurrent writes than writeSlots', async () => {
  const slots = openSlots(LIMITS)
  const writes = await takeMany(slots, 'write', writeSlots(LIMITS.size))
  const admitted: string[] = []
  const enter = (name: string, kind: WorkKind) => slots.take(kind).then(() => admitted.push(name))
  const waiting = [enter('write', 'write'), enter('first read', 'read'), enter('second read', 'read')]
  await waiting[1]
  expect(admitted).toEqual(['first read'])
  for (const slot of writes) slot.leave()
  await Promise.all(waiting)
  expect(admitted).toEqual(['first read', 'write', 'second read'])
})

test('rejects writes with `unavailable` while every write is unacknowledged, and admits them afterwards', async () => {
  const slots = openSlots(LIMITS)
  const writes = await takeMany(slots, 'write', writeSlots(LIMITS.size))
  const waiting = slots.take('write')
  for (const slot of writes) slot.markUnacknowledged()
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
  await expect(slots.take('write')).rejects.toMatchObject({ code: 'unavailable' })
  await slots.take('read')
  for (const slot of writes) slot.leave()
  expect(slots.unacknowledged()).toBe(0)
  await slots.take('write')
})

test.each([
  [1, 1],
  [2, 1],
  [4, 3],
  [10, 7],
  [200, 150],
])('with a pool size of %i, concurrent writes are limited to %i', (size, writes) => {
  expect(writeSlots(size)).toBe(writes)
})

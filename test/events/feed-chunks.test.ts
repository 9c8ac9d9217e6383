// The bytes of the events in memory: which streams share them, and how many are kept.
import { expect, test } from 'vitest'
import { type Chunk, type Filter, openChunks } from '../../src/events/feed/chunks.ts'
import type { EventRow } from '../../src/events/feed/queries.ts'
import { EVENT_TYPES } from '../../src/events/feed/schema.ts'
import { openFeedWindow } from '../../src/events/feed/window.ts'

const EVENTS = 2_000
const KEPT_BYTES_MAX = 4 * 1_024 * 1_024
const EVERYTHING: Filter = { types: EVENT_TYPES, showActors: true }
const epoch = '000000000000'

/** A new pet with a long name, so that a chunk has few events. */
const created = (number: bigint): EventRow => ({
  number,
  type: 'pet.created',
  at: new Date(0),
  petId: number,
  name: '🐈'.repeat(250),
  categoryId: 1n,
  status: 'available',
  changed: null,
  profile: null,
  actor: null,
  requestId: null,
  orderState: null,
  orderPlacedBy: null,
  orderPrice: null,
  entry: null,
  entrySeller: null,
})

/** A window on a feed to which the test adds events. */
async function keepEvents() {
  const rows: EventRow[] = []
  const window = openFeedWindow(async (_types, after, max) => ({
    epoch,
    afterNumber: 0n,
    startsEmpty: true,
    server: null,
    isStored: true,
    head: BigInt(rows.length),
    isFull: false,
    bytes: 0,
    rows: rows.slice(Number(after), Number(after) + max),
  }))
  const chunkAfter = openChunks(window)
  const add = async (count: number) => {
    for (let index = 0; index < count; index += 1) rows.push(created(BigInt(rows.length + 1)))
    await window.advance({ epoch, number: BigInt(rows.length) })
  }
  await add(0)
  await add(EVENTS)
  return { add, after: (number: bigint, filter: Filter) => chunkAfter({ epoch, number }, filter) }
}

test('streams at the same number with the same filter share the bytes', async () => {
  const { after } = await keepEvents()
  const { bytes } = after(7n, EVERYTHING)
  expect(bytes?.length).toBeGreaterThan(0)
  expect(after(7n, { ...EVERYTHING }).bytes).toBe(bytes)
  expect(after(7n, { ...EVERYTHING, showActors: false }).bytes).not.toBe(bytes)
})

test('a chunk ends after the event that reaches 32 KiB, and the next one continues there', async () => {
  const { after } = await keepEvents()
  const first = after(0n, EVERYTHING)
  const size = Buffer.byteLength(first.bytes ?? '')
  expect(size).toBeGreaterThanOrEqual(32_768)
  expect(size - 32_768).toBeLessThan((2 * size) / Number(first.next))
  expect(String(first.bytes).match(/^event: /gm)).toHaveLength(Number(first.next))
  expect(String(after(first.next, EVERYTHING).bytes)).toMatch(`id: ${epoch}-${first.next + 1n}\n`)
})

test('a chunk without wanted events has no bytes, and ends at the newest event', async () => {
  const { after } = await keepEvents()
  const chunk = after(0n, { types: ['order.placed'], showActors: true })
  expect(chunk).toEqual({ bytes: undefined, next: BigInt(EVENTS) })
})

test('a stream at the newest event gets the events that follow', async () => {
  const { add, after } = await keepEvents()
  const newest = BigInt(EVENTS)
  expect(after(newest, EVERYTHING)).toEqual({ bytes: undefined, next: newest })
  await add(1)
  expect(after(newest, EVERYTHING)).toMatchObject({ bytes: expect.any(Buffer), next: newest + 1n })
})

test('streams that start at many numbers with many filters leave a few megabytes in memory', async () => {
  const { after } = await keepEvents()
  const starts: [number: bigint, filter: Filter][] = Array.from({ length: EVENTS }, (_, index) => [
    BigInt(index),
    { types: ['pet.created', ...EVENT_TYPES.slice(index % EVENT_TYPES.length)], showActors: index % 2 === 0 },
  ])
  const chunks = starts.map((start) => ({ start, chunk: after(...start) }))
  expect(bytesOf(chunks)).toBeGreaterThan(10 * KEPT_BYTES_MAX)
  // A chunk that was kept is returned again. The newest come first, because each chunk that is built now replaces an old one.
  const kept = chunks.toReversed().filter(({ start, chunk }) => after(...start) === chunk)
  expect(kept.length).toBeGreaterThan(0)
  expect(bytesOf(kept)).toBeLessThan(KEPT_BYTES_MAX)
})

const bytesOf = (chunks: readonly { chunk: Chunk }[]) =>
  chunks.reduce((total, { chunk }) => total + (chunk.bytes?.length ?? 0), 0)

// The events in memory that streams share: what they share, and how many bytes are kept.
import { expect, test } from 'vitest'
import type { EventRow } from '../../src/events/feed/queries.ts'
import { type Chunk, type Filter, keepRecentEvents } from '../../src/events/feed/recent.ts'
import { EVENT_TYPES } from '../../src/events/feed/schema.ts'

const EVENTS = 2_000
const KEPT_BYTES_MAX = 4 * 1_024 * 1_024
const EVERYTHING: Filter = { types: EVENT_TYPES, showActors: true }

/** A new pet with a long name, so that a chunk has few events. */
const created = (number: bigint): EventRow => ({
  number,
  type: 'pet.created',
  at: new Date(0),
  petId: number,
  name: 'x'.repeat(500),
  categoryId: 1n,
  status: 'available',
  changed: null,
  apiKeyId: null,
  apiKeyName: null,
  requestId: null,
  orderState: null,
  orderPlacedBy: null,
})

function keepEvents() {
  const recent = keepRecentEvents('000000000000', 0n)
  recent.append(Array.from({ length: EVENTS }, (_, index) => created(BigInt(index + 1))))
  return recent
}

test('streams at the same number with the same filter share the bytes', () => {
  const recent = keepEvents()
  const { bytes } = recent.chunkAfter(7n, EVERYTHING)
  expect(bytes?.length).toBeGreaterThan(0)
  expect(recent.chunkAfter(7n, { ...EVERYTHING })?.bytes).toBe(bytes)
  expect(recent.chunkAfter(7n, { ...EVERYTHING, showActors: false }).bytes).not.toBe(bytes)
})

test('streams that start at many numbers with many filters leave a few megabytes in memory', () => {
  const recent = keepEvents()
  const starts: [number: bigint, filter: Filter][] = Array.from({ length: EVENTS }, (_, index) => [
    BigInt(index),
    { types: ['pet.created', ...EVENT_TYPES.slice(index % EVENT_TYPES.length)], showActors: index % 2 === 0 },
  ])
  const chunks = starts.map((start) => ({ start, chunk: recent.chunkAfter(...start) }))
  expect(bytesOf(chunks)).toBeGreaterThan(10 * KEPT_BYTES_MAX)
  // A chunk that was kept is returned again. The newest come first, because each chunk that is built now replaces an old one.
  const kept = chunks.toReversed().filter(({ start, chunk }) => recent.chunkAfter(...start) === chunk)
  expect(kept.length).toBeGreaterThan(0)
  expect(bytesOf(kept)).toBeLessThan(KEPT_BYTES_MAX)
})

const bytesOf = (chunks: readonly { chunk: Chunk }[]) =>
  chunks.reduce((total, { chunk }) => total + (chunk.bytes?.length ?? 0), 0)

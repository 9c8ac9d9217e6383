// The bytes that streams send, from the events in memory. Streams at the same number with the same filter share them.
import { stringifyJson } from '../../values/json.ts'
import { toEvent } from './feed.ts'
import type { Position } from './format.ts'
import type { EventRow } from './queries.ts'
import type { Event, EventType } from './schema.ts'
import type { FeedWindow } from './window.ts'

/** A chunk ends after the event that reaches this size. It limits what a slow reader keeps in memory. */
const CHUNK_BYTES = 32_768
/** Max chunks kept, so at most 2 MB and 64 events. Streams that keep up need one chunk for each filter. */
const CHUNKS_KEPT_MAX = 64

/** Which events a stream sends. Streams with equal filters share the bytes. */
export interface Filter {
  types: readonly EventType[]
  showActors: boolean
}

/** All wanted events up to the number `next`. `bytes` is undefined if there are none. */
export interface Chunk {
  bytes: Buffer | undefined
  next: bigint
}

/** Returns the next chunk after a position that the window covers. */
export type ChunkAfter = (position: Position, filter: Filter) => Chunk

export function writeEvent(event: Event): string {
  return `id: ${event.position}\nevent: ${event.type}\ndata: ${stringifyJson(event)}\n\n`
}

export function openChunks(window: FeedWindow): ChunkAfter {
  /** Those since the window changed, because most streams are at the same number. */
  const chunks = new Map<string, Chunk>()
  let newest: Position | undefined
  /** The texts of events that the window keeps. */
  const withActors = new WeakMap<EventRow, string>()
  const withoutActors = new WeakMap<EventRow, string>()

  function textOf(row: EventRow, epoch: string, showActors: boolean): string {
    const texts = showActors ? withActors : withoutActors
    const written = texts.get(row)
    if (written !== undefined) return written
    const text = writeEvent(toEvent(row, epoch, showActors))
    texts.set(row, text)
    return text
  }

  function buildChunk(position: Position, { types, showActors }: Filter): Chunk {
    const texts: string[] = []
    let size = 0
    let next = position.number
    for (const row of window.rowsAfter(position)) {
      next = row.number
      if (!types.includes(row.type)) continue
      const text = textOf(row, position.epoch, showActors)
      texts.push(text)
      size += Buffer.byteLength(text)
      if (size >= CHUNK_BYTES) break
    }
    return { bytes: texts.length === 0 ? undefined : Buffer.from(texts.join('')), next }
  }

  return (position, filter) => {
    if (newest !== window.newest()) {
      newest = window.newest()
      chunks.clear()
    }
    const key = `${position.number} ${filter.showActors} ${filter.types.join()}`
    const known = chunks.get(key)
    if (known !== undefined) return known
    const chunk = buildChunk(position, filter)
    // Clients choose where a stream starts and its types. A map iterates in the order of insertion.
    const [oldest] = chunks.keys()
    if (chunks.size >= CHUNKS_KEPT_MAX && oldest !== undefined) chunks.delete(oldest)
    chunks.set(key, chunk)
    return chunk
  }
}

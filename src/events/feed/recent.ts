// The newest events of the feed, in memory and as the text that streams send. Every stream that keeps up is served from
// here, so the database is read once for all of them.
import { stringifyJson } from '../../values/json.ts'
import { toEvent } from './feed.ts'
import type { EventRow } from './queries.ts'
import type { Event, EventType } from './schema.ts'

/** Max events kept. A stream further behind reads pages from the database. */
const KEPT_MAX = 2_000
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

export interface RecentEvents {
  epoch: string
  /** The number of the newest event that was read. */
  newest: () => bigint
  /** Whether all events after this number are kept. */
  covers: (number: bigint) => boolean
  /** Adds the events that follow the newest one, without gaps. */
  append: (rows: readonly EventRow[]) => void
  /** The next chunk after a number that `covers` accepts. */
  chunkAfter: (number: bigint, filter: Filter) => Chunk
}

export function writeEvent(event: Event): string {
  return `id: ${event.position}\nevent: ${event.type}\ndata: ${stringifyJson(event)}\n\n`
}

interface KeptEvent {
  row: EventRow
  /** The text with and without actors, rendered when first needed. */
  withActors?: string
  withoutActors?: string
}

export function keepRecentEvents(epoch: string, head: bigint): RecentEvents {
  /** Consecutive events. The first one has the number `before + 1`. */
  let kept: KeptEvent[] = []
  let before = head
  /** The newest chunks since the last append, because most streams are at the same number. */
  const chunks = new Map<string, Chunk>()

  const newest = () => before + BigInt(kept.length)

  function textOf(event: KeptEvent, showActors: boolean): string {
    if (showActors) {
      event.withActors ??= writeEvent(toEvent(event.row, epoch, true))
      return event.withActors
    }
    event.withoutActors ??= writeEvent(toEvent(event.row, epoch, false))
    return event.withoutActors
  }

  function buildChunk(number: bigint, { types, showActors }: Filter): Chunk {
    const texts: string[] = []
    let size = 0
    let index = Number(number - before)
    for (; index < kept.length && size < CHUNK_BYTES; index += 1) {
      const event = kept[index] as KeptEvent
      if (!types.includes(event.row.type)) continue
      const text = textOf(event, showActors)
      texts.push(text)
      size += text.length
    }
    const bytes = texts.length === 0 ? undefined : Buffer.from(texts.join(''))
    return { bytes, next: before + BigInt(index) }
  }

  return {
    epoch,
    newest,
    covers: (number) => number >= before,
    append: (rows) => {
      for (const row of rows) kept.push({ row })
      const surplus = Math.max(0, kept.length - KEPT_MAX)
      kept = kept.slice(surplus)
      before += BigInt(surplus)
      chunks.clear()
    },
    chunkAfter: (number, filter) => {
      const key = `${number} ${filter.showActors} ${filter.types.join()}`
      const known = chunks.get(key)
      if (known !== undefined) return known
      const chunk = buildChunk(number, filter)
      // Clients choose where a stream starts and its types. A map iterates in the order of insertion.
      const [oldest] = chunks.keys()
      if (chunks.size >= CHUNKS_KEPT_MAX && oldest !== undefined) chunks.delete(oldest)
      chunks.set(key, chunk)
      return chunk
    },
  }
}

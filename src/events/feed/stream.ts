// One stream of events: its position in the feed and its connection. Never skips or repeats a position.
import type { Writable } from 'node:stream'
import { type ChunkAfter, type Filter, writeEvent } from './chunks.ts'
import type { FeedPage } from './feed.ts'
import { parsePosition, type Position, writePosition } from './format.ts'
import type { FeedWindow } from './window.ts'

/** Max time to send what is buffered after the end of a stream. The connection is then closed. */
const FLUSHED_WITHIN_MS = 1_000
/** How long a client waits before it reconnects, unless the process is shutting down. */
const RETRY_MS = 1_000
/** A page ends after the event that reaches this size: a slow reader keeps at most this and one event in memory. */
export const PAGE_BYTES = 65_536
const KEEP_ALIVE = ': keep-alive\n\n'

export type Sink = Pick<
  Writable,
  'write' | 'end' | 'destroy' | 'on' | 'once' | 'writableNeedDrain' | 'writableLength' | 'closed'
>

export interface Stream {
  apiKeyId: bigint
  filter: Filter
  /** All wanted events up to this position were sent. */
  position: () => Position
  /**
   * Sends events of the window until the connection accepts no more. Returns false if the stream is too far behind: it
   * needs a page from the database.
   */
  pump: (window: FeedWindow, chunkAfter: ChunkAfter) => boolean
  /** Sends a page that starts at the position of the stream, or as much of it as fits into PAGE_BYTES. */
  send: (page: FeedPage) => void
  keepAlive: () => void
  /** Ends the stream. If `retryMs` is given, the client waits that long before it reconnects. */
  end: (retryMs?: number) => void
  /** Ends the stream at once, without what is buffered for a slow reader. */
  cut: () => void
}

export function startStream(apiKeyId: bigint, filter: Filter, first: FeedPage, sink: Sink): Stream {
  const { epoch } = first.next
  const start = writePage(first)
  let { number } = start
  let hasEnded = false

  function send(page: FeedPage): void {
    if (hasEnded) return
    const { text, number: next } = writePage(page)
    if (text !== '') sink.write(text)
    number = next
  }

  /** An `id` line without data triggers no event, but the client resumes from there. */
  const writeId = () => `id: ${writePosition({ epoch, number })}\n\n`

  // The client learns its position at once. If the connection is lost before the first event, it does not skip events.
  sink.write(`retry: ${RETRY_MS}\n\n${start.text}${writeId()}`)
  let announced = number

  return {
    apiKeyId,
    filter,
    position: () => ({ epoch, number }),
    send,
    pump: (window, chunkAfter) => {
      const newest = window.newest()
      if (hasEnded || newest?.epoch !== epoch) return true
      while (!sink.writableNeedDrain && number < newest.number) {
        const position = { epoch, number }
        if (!window.covers(position)) return false
        const { bytes, next } = chunkAfter(position, filter)
        if (bytes !== undefined) sink.write(bytes)
        number = next
      }
      return true
    },
    keepAlive: () => {
      // While bytes wait for a slow reader, more bytes would not help.
      if (hasEnded || sink.writableLength > 0) return
      sink.write(number === announced ? KEEP_ALIVE : writeId())
      announced = number
    },
    end: (retryMs) => {
      if (hasEnded) return
      hasEnded = true
      sink.end(retryMs === undefined ? undefined : `retry: ${retryMs}\n\n`)
      if (sink.writableLength > 0) setTimeout(() => sink.destroy(), FLUSHED_WITHIN_MS).unref()
    },
    cut: () => {
      hasEnded = true
      sink.end()
      if (sink.writableLength > 0) sink.destroy()
    },
  }
}

/** The text of the first events of the page, and the number up to which it has all wanted events. */
function writePage({ events, next }: FeedPage): { text: string; number: bigint } {
  const texts: string[] = []
  let size = 0
  for (const event of events) {
    const text = writeEvent(event)
    texts.push(text)
    size += Buffer.byteLength(text)
    const number = size < PAGE_BYTES ? undefined : parsePosition(event.position)?.number
    if (number !== undefined) return { text: texts.join(''), number }
  }
  return { text: texts.join(''), number: next.number }
}

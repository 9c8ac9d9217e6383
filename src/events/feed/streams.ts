// All open streams of this process: their limits, the reads that they share and keep-alive comments.
// The background job that numbers events calls `advance` after each run.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { watchApiKeys } from '../../access/api-keys/key-watch.ts'
import { AppError } from '../../contract/errors.ts'
import type { KeyWatch } from '../../contract/key-watch.ts'
import { limitConcurrency } from '../../contract/concurrency-limit.ts'
import type { Db } from '../../db/database.ts'
import { type Filter, openChunks } from './chunks.ts'
import { durableEvents, type FindDurableEvents } from './durable.ts'
import { type FeedPage, readEvents, type Start } from './feed.ts'
import type { FeedState } from './queries.ts'
import { PAGE_BYTES, type Sink, startStream, type Stream } from './stream.ts'
import { openFeedWindow } from './window.ts'

export const STREAMS_PER_KEY_MAX = 100
export const KEEP_ALIVE_EVERY_MS = 5_000
/** Events that one query reads for a stream that is behind. This limits the memory that a slow reader takes. */
const OWN_PAGE = 200
/** Max concurrent queries for streams that are behind, so that they release connections for requests. */
const OWN_READS_MAX = 2
/** Writing to all streams pauses after this time, because requests wait meanwhile. */
const SLICE_MS = 2
/** On shutdown, clients wait a random time in this range, so that they do not all reconnect at once. */
const RECONNECT_MS = { min: 100, max: 1_000 }

export interface EventStreamsOptions {
  db: Db
  findEvents?: FindDurableEvents
  max: number
  perKeyMax?: number
  keepAliveEveryMs?: number
  /** Default: its own, which reads from `db`. */
  keys?: KeyWatch
  onCount?: (open: number) => void
  /** Called for each failed read. The streams stay open, and the read is retried. */
  onFailure?: OnFailure
}

/** What streams read: the events of those that are behind, and whether the keys of all streams are valid. */
export const STREAM_READS = ['events', 'api_keys'] as const
export type StreamRead = (typeof STREAM_READS)[number]
type OnFailure = (read: StreamRead, error: unknown) => void

export interface EventStreams {
  /**
   * Opens a stream. Rejects it if a limit is reached or the start is not available. Otherwise calls `connect`, which
   * returns undefined if the client has gone.
   */
  open: (apiKeyId: bigint, start: Start, filter: Filter, connect: () => Sink | undefined) => Promise<void>
  hasOpen: () => boolean
  /** Sends the events up to the head of the feed to all streams. */
  advance: (state: FeedState) => Promise<void>
  /** Ends all streams, because the process is shutting down. Later streams are rejected. */
  close: () => void
}

export function openEventStreams({
  db,
  findEvents = durableEvents(db),
  max,
  perKeyMax = STREAMS_PER_KEY_MAX,
  keepAliveEveryMs = KEEP_ALIVE_EVERY_MS,
  onCount = () => {},
  onFailure = () => {},
  keys = watchApiKeys(db, (error) => onFailure('api_keys', error)),
}: EventStreamsOptions): EventStreams {
  const streams = new Set<Stream>()
  const concurrency = limitConcurrency('streams', { max, perKeyMax })
  const { readFirst, pump, advance, forget } = openSending(streams, findEvents, onFailure)
  const keepAlives = openKeepAlives(streams, keepAliveEveryMs)
  let isClosed = false

  function count(): void {
    keepAlives.setRunning(streams.size > 0)
    onCount(streams.size)
  }

  function add(stream: Stream, sink: Sink, release: () => void): void {
    streams.add(stream)
    const unwatch = keys.add(stream.apiKeyId, stream.cut)
    sink.on('drain', () => pump(stream))
    sink.once('close', () => {
      streams.delete(stream)
      unwatch()
      forget(stream)
      release()
      count()
    })
    count()
    pump(stream)
  }

  return {
    hasOpen: () => streams.size > 0,
    advance,
    open: async (apiKeyId, start, filter, connect) => {
      if (isClosed) throw new AppError('unavailable')
      const release = concurrency.acquire(apiKeyId)
      try {
        const first = await readFirst(start, filter)
        if (isClosed) throw new AppError('unavailable')
        const sink = connect()
        if (sink === undefined || sink.closed) return release()
        add(startStream(apiKeyId, filter, first, sink), sink, release)
      } catch (error) {
        release()
        throw error
      }
    },
    close: () => {
      isClosed = true
      const { min, max: longest } = RECONNECT_MS
      for (const stream of streams) stream.end(Math.round(min + Math.random() * (longest - min)))
    },
  }
}

/** Sends events to all streams: those in memory, or pages from the database to a stream that is further behind. */
function openSending(streams: ReadonlySet<Stream>, findEvents: FindDurableEvents, onFailure: OnFailure) {
  const window = openFeedWindow(findEvents, () => forEachStream(streams, pump))
  const chunkAfter = openChunks(window)
  const ownPages = openOwnPages(findEvents, pump, onFailure)

  function pump(stream: Stream): void {
    if (!ownPages.isReading(stream) && !stream.pump(window, chunkAfter)) ownPages.add(stream)
  }

  /** Clients that reconnect get 410. */
  function endInvalid(stream: Stream): void {
    const [position, newest] = [stream.position(), window.newest()]
    if (newest?.epoch !== position.epoch || position.number > newest.number) stream.end()
  }

  const endUnlessOf = (epoch: string) => (stream: Stream) => {
    if (stream.position().epoch !== epoch) stream.end()
  }

  return {
    pump,
    /** The stream was closed. */
    forget: ownPages.remove,
    /** The first page. Its read also checks that the start is available; events in memory always are. */
    readFirst: async (start: Start, filter: Filter): Promise<FeedPage> => {
      if (typeof start === 'object' && window.covers(start)) return { events: [], next: start }
      return readEvents(findEvents, start, { ...filter, limit: OWN_PAGE, maxBytes: PAGE_BYTES })
    },
    advance: async ({ epoch, head }: FeedState): Promise<void> => {
      if (streams.size === 0) return window.clear()
      // Since a stream was opened, a new epoch may have begun that an empty window does not notice.
      if (window.newest() === undefined) await forEachStream(streams, endUnlessOf(epoch))
      const areValid = await window.advance({ epoch, number: head })
      await forEachStream(streams, areValid ? pump : endInvalid)
    },
  }
}

async function forEachStream(streams: ReadonlySet<Stream>, work: (stream: Stream) => void): Promise<void> {
  let startedAt = performance.now()
  for (const stream of streams) {
    work(stream)
    if (performance.now() - startedAt < SLICE_MS) continue
    await nextTurn()
    startedAt = performance.now()
  }
}

/** Sends keep-alive comments while a stream is open. */
function openKeepAlives(streams: ReadonlySet<Stream>, everyMs: number) {
  let timer: NodeJS.Timeout | undefined
  const send = () => forEachStream(streams, (stream) => stream.keepAlive())

  return {
    setRunning: (isRunning: boolean): void => {
      if (isRunning === (timer !== undefined)) return
      clearInterval(timer)
      timer = isRunning ? setInterval(() => void send(), everyMs).unref() : undefined
    },
  }
}

/** Reads pages from the database for the streams that are too far behind for the window. */
function openOwnPages(findEvents: FindDurableEvents, pump: (stream: Stream) => void, onFailure: OnFailure) {
  const waiting = new Set<Stream>()
  const reading = new Set<Stream>()
  let reads = 0

  async function readPages(): Promise<void> {
    reads += 1
    for (const stream of waiting) {
      waiting.delete(stream)
      reading.add(stream)
      const page = await readPage(stream)
      const isOpen = reading.delete(stream)
      if (page === undefined || !isOpen) continue
      stream.send(page)
      pump(stream)
    }
    reads -= 1
  }

  async function readPage(stream: Stream): Promise<FeedPage | undefined> {
    try {
      return await readEvents(findEvents, stream.position(), {
        ...stream.filter,
        limit: OWN_PAGE,
        maxBytes: PAGE_BYTES,
      })
    } catch (error) {
      // After any other failure, the next call of `advance` tries again.
      if (error instanceof AppError && error.code === 'events_expired') stream.end()
      else onFailure('events', error)
      return undefined
    }
  }

  return {
    isReading: (stream: Stream) => reading.has(stream),
    add: (stream: Stream): void => {
      waiting.add(stream)
      if (reads < OWN_READS_MAX) void readPages()
    },
    remove: (stream: Stream): void => {
      waiting.delete(stream)
      reading.delete(stream)
    },
  }
}

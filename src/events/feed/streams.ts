// All open streams of this process: their limits, the reads that they share, keep-alive comments and key checks.
// The background job that numbers events calls `advance` after each run.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { findValidApiKeyIds } from '../../access/api-keys/queries.ts'
import { AppError } from '../../contract/errors.ts'
import type { Db } from '../../db/database.ts'
import { durableEvents, type FindDurableEvents } from './durable.ts'
import { type FeedPage, readEvents, type Start } from './feed.ts'
import type { FeedState } from './queries.ts'
import { type Filter, keepRecentEvents, type RecentEvents } from './recent.ts'
import { EVENT_TYPES, LATEST } from './schema.ts'
import { type Sink, startStream, type Stream } from './stream.ts'

export const STREAMS_PER_KEY_MAX = 100
export const KEEP_ALIVE_EVERY_MS = 5_000
/** A stream ends within this time and one query after its key was revoked or has expired. */
const KEYS_CHECKED_EVERY_MS = 500
/** Events that one query reads for all streams. */
const SHARED_PAGE = 1_000
/** Events that one query reads for a stream that is behind. This limits the memory that a slow reader takes. */
const OWN_PAGE = 200
/** Max concurrent queries for streams that are behind, so that they leave connections for requests. */
const OWN_READS_MAX = 2
/** Writing to all streams pauses after this time, because requests wait meanwhile. */
const SLICE_MS = 2
/** On shutdown, clients wait a random time in this range, so that they do not all reconnect at once. */
const RECONNECT_MS = { min: 100, max: 1_000 }
const LIMIT_RETRY_SECONDS = 5

export interface EventStreamsOptions {
  db: Db
  findEvents?: FindDurableEvents
  max: number
  perKeyMax?: number
  keepAliveEveryMs?: number
  onCount?: (open: number) => void
  /** Called for each failed read. The streams stay open, and the read is retried. */
  onFailure?: (read: StreamRead, error: unknown) => void
}

/** What streams read: the events of those that are behind, and whether the keys of all streams are valid. */
export const STREAM_READS = ['events', 'api_keys'] as const
export type StreamRead = (typeof STREAM_READS)[number]

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
}: EventStreamsOptions): EventStreams {
  const streams = new Set<Stream>()
  const places = limitPlaces(max, perKeyMax)
  let recent: RecentEvents | undefined
  let isClosed = false
  let timers: NodeJS.Timeout[] = []

  /** Streams that wait for a page of their own, and those whose page is being read. */
  const behind = new Set<Stream>()
  const reading = new Set<Stream>()
  let ownReads = 0

  function pump(stream: Stream): void {
    if (recent === undefined || reading.has(stream) || stream.pump(recent)) return
    behind.add(stream)
    if (ownReads < OWN_READS_MAX) void readOwnPages()
  }

  async function readOwnPages(): Promise<void> {
    ownReads += 1
    for (const stream of behind) {
      behind.delete(stream)
      reading.add(stream)
      const page = await readOwnPage(stream)
      reading.delete(stream)
      if (page === undefined || !streams.has(stream)) continue
      stream.send(page)
      pump(stream)
    }
    ownReads -= 1
  }

  async function readOwnPage(stream: Stream): Promise<FeedPage | undefined> {
    try {
      return await readEvents(findEvents, stream.position(), { ...stream.filter, limit: OWN_PAGE })
    } catch (error) {
      // After any other failure, the next call of `advance` tries again.
      if (error instanceof AppError && error.code === 'events_expired') stream.end()
      else onFailure('events', error)
      return undefined
    }
  }

  async function forEachStream(work: (stream: Stream) => void): Promise<void> {
    let startedAt = performance.now()
    for (const stream of streams) {
      work(stream)
      if (performance.now() - startedAt < SLICE_MS) continue
      await nextTurn()
      startedAt = performance.now()
    }
  }

  async function advance(state: FeedState): Promise<void> {
    if (streams.size === 0) {
      recent = undefined
      return
    }
    recent ??= keepRecentEvents(state.epoch, state.head)
    // The head can move back after a failover without synchronous replication. Clients then find out when they reconnect.
    if (state.epoch !== recent.epoch || state.head < recent.newest()) return restart(state)
    for (let current = recent; current.newest() < state.head; ) {
      const { epoch, head, rows } = await findEvents(EVENT_TYPES, current.newest(), SHARED_PAGE)
      if (epoch !== current.epoch) return restart({ epoch, head })
      // Without the next event, because it was purged, each stream reads on its own and finds out.
      if (rows[0]?.number === current.newest() + 1n) current.append(rows)
      else recent = current = keepRecentEvents(epoch, head)
      await forEachStream(pump)
    }
    await forEachStream(pump)
  }

  /** Ends the streams of the former epoch. Clients that reconnect get 410. */
  async function restart({ epoch, head }: Pick<FeedState, 'epoch' | 'head'>): Promise<void> {
    recent = keepRecentEvents(epoch, head)
    await forEachStream((stream) => {
      const position = stream.position()
      if (position.epoch !== epoch || position.number > head) stream.end()
    })
  }

  async function checkKeys(): Promise<void> {
    const ids = [...new Set([...streams].map(({ apiKeyId }) => apiKeyId))]
    // While the database is unavailable, streams stay open, but they send nothing new.
    const valid = await findValidApiKeyIds(db, ids).catch((error: unknown) => {
      onFailure('api_keys', error)
      return undefined
    })
    if (valid === undefined) return
    for (const stream of streams) if (!valid.has(stream.apiKeyId)) stream.cut()
  }

  function runTimers(): void {
    if (streams.size > 0 && timers.length === 0) {
      timers = [
        setInterval(() => void forEachStream((stream) => stream.keepAlive()), keepAliveEveryMs).unref(),
        setInterval(() => void checkKeys(), KEYS_CHECKED_EVERY_MS).unref(),
      ]
    } else if (streams.size === 0) {
      for (const timer of timers) clearInterval(timer)
      timers = []
    }
    onCount(streams.size)
  }

  /** The first page. Its read also checks that the start is available; events in memory always are. */
  async function readFirst(start: Start, filter: Filter): Promise<FeedPage> {
    const isPosition = start !== LATEST && start !== 'start'
    const isRecent = isPosition && recent?.epoch === start.epoch && recent.covers(start.number)
    if (isRecent && start.number <= (recent?.newest() ?? 0n)) return { events: [], next: start }
    return readEvents(findEvents, start, { ...filter, limit: OWN_PAGE })
  }

  return {
    hasOpen: () => streams.size > 0,
    advance,
    open: async (apiKeyId, start, filter, connect) => {
      if (isClosed) throw new AppError('unavailable')
      const leave = places.take(apiKeyId)
      try {
        const first = await readFirst(start, filter)
        if (isClosed) throw new AppError('unavailable')
        const sink = connect()
        if (sink === undefined || sink.closed) return leave()
        const stream = startStream(apiKeyId, filter, first, sink)
        streams.add(stream)
        sink.on('drain', () => pump(stream))
        sink.once('close', () => {
          streams.delete(stream)
          behind.delete(stream)
          leave()
          runTimers()
        })
        runTimers()
        pump(stream)
      } catch (error) {
        leave()
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

/** Counts streams in total and per key, including those that are about to start. */
function limitPlaces(max: number, perKeyMax: number) {
  const perKey = new Map<bigint, number>()
  let total = 0

  return {
    /** Throws if a limit is reached. Otherwise returns the function that ends the count, once. */
    take: (apiKeyId: bigint): (() => void) => {
      const ofKey = perKey.get(apiKeyId) ?? 0
      if (ofKey >= perKeyMax) {
        throw new AppError('rate_limited', {
          headers: {
            'retry-after': String(LIMIT_RETRY_SECONDS),
            'ratelimit-policy': `"streams";q=${perKeyMax};w=${LIMIT_RETRY_SECONDS}`,
            ratelimit: `"streams";r=0;t=${LIMIT_RETRY_SECONDS}`,
          },
        })
      }
      if (total >= max) throw new AppError('overloaded')
      total += 1
      perKey.set(apiKeyId, ofKey + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        total -= 1
        const left = (perKey.get(apiKeyId) ?? 1) - 1
        if (left === 0) perKey.delete(apiKeyId)
        else perKey.set(apiKeyId, left)
      }
    },
  }
}

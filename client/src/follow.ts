// Follows the feed: reads the stream of events, and reconnects at the position of the last event that the consumer got.
import { abortedBy, type FailedAttempt, failureOf } from './attempt.ts'
import { backoffMs, type CallOptions, sleep, type Transport } from './call.ts'
import { PetstoreError } from './errors.ts'
import { readJson } from './ids.ts'
import type { ListEventsQuery, StoreEvent } from './interface.ts'
import type { EventPage } from './store-event.ts'

export interface FollowOptions extends CallOptions {
  /** Yield the events after this position; `latest` stands for the newest event. Default: the start of the feed. */
  after?: string | undefined
  /** Yield only events of these types. */
  type?: ListEventsQuery['type']
  /** Max time without a byte from the service, which sends one every 5 seconds. Default: 15,000. */
  timeoutMs?: number | undefined
  /** Timeout of the first connection. After that, the iteration reconnects until you end it. Default: 60,000. */
  deadlineMs?: number | undefined
  /**
   * Called with each position up to which your loop is done: when it asks for the event after it, and when the feed has
   * moved on without an event for you. Store the position, and pass it as `after` when your program starts again.
   */
  onPosition?: ((position: string) => void | Promise<void>) | undefined
  /** Called each time that a connection is open: at first, and after each reconnection. */
  onConnect?: (() => void) | undefined
  /** Called when the connection is lost or cannot be opened, before the iteration reconnects. */
  onReconnect?: ((error: PetstoreError) => void) | undefined
}

type ListEvents = (query: ListEventsQuery, options: CallOptions) => Promise<EventPage>

/** The reason for which `return` ends the iteration without an error. */
const CLOSED = Symbol('closed')

export function iterateEvents(
  transport: Transport,
  list: ListEvents,
  options: FollowOptions,
): AsyncIterator<StoreEvent, void, undefined> {
  const closing = new AbortController()
  const events = follow(transport, list, options, closing)
  return {
    next: () => events.next(),
    // A generator does not return while its `next` waits. Aborting ends that wait, and closes the connection at once.
    return: () => {
      closing.abort(CLOSED)
      return events.return()
    },
  }
}

interface Progress {
  /** The position of the last event that the consumer got. */
  position: string | undefined
  /** The service has sent a part of the stream at least once. */
  isConnected: boolean
  /** How long the service asks readers to wait before they reconnect. */
  retryMs: number
  /** Attempts to connect since the last event. */
  attempts: number
}

async function* follow(
  transport: Transport,
  list: ListEvents,
  options: FollowOptions,
  closing: AbortController,
): AsyncGenerator<StoreEvent, void, undefined> {
  const { signal } = closing
  const { after, timeoutMs, deadlineMs = transport.deadlineMs, onPosition, onReconnect } = options
  const abort = () => closing.abort(options.signal?.reason)
  options.signal?.addEventListener('abort', abort)
  if (options.signal?.aborted) abort()
  const deadlineAt = performance.now() + deadlineMs
  const progress: Progress = { position: after, isConnected: false, retryMs: 0, attempts: 1 }
  try {
    if (after === 'latest') {
      // Without a position, a reader that reconnects before its first event would miss the events in between.
      progress.position = (await list({ after, limit: 1 }, { signal, timeoutMs, deadlineMs })).next
      await onPosition?.(progress.position)
    }
    for (; ; progress.attempts += 1) {
      const failed = yield* readConnection(transport, progress, options, signal)
      if (signal.aborted) throw new PetstoreError(abortedBy(signal))
      const error = new PetstoreError(failed)
      const waitMs = Math.max(failed.retryAfterMs, progress.retryMs) + backoffMs(progress.attempts)
      const isLate = !progress.isConnected && performance.now() + waitMs >= deadlineAt
      if (!failed.isTemporary || isLate) throw error
      onReconnect?.(error)
      await sleep(waitMs, signal)
    }
  } catch (error) {
    if (signal.reason !== CLOSED) throw error
  } finally {
    options.signal?.removeEventListener('abort', abort)
  }
}

/** Yields the events of one connection, and returns why it ended. */
async function* readConnection(
  transport: Transport,
  progress: Progress,
  { type, timeoutMs, onPosition, onConnect }: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<StoreEvent, FailedAttempt, undefined> {
  const query = { after: progress.position, type }
  let isOpen = false
  for await (const part of transport.openStream('/events/stream', query, { signal, timeoutMs })) {
    if ('failed' in part) return part.failed
    if (!isOpen) onConnect?.()
    isOpen = true
    for (const { id, data, retryMs } of part) {
      if (signal.aborted) break
      progress.isConnected = true
      progress.retryMs = retryMs ?? progress.retryMs
      if (data) {
        const event = readEvent(data)
        progress.attempts = 1
        progress.position = event.position
        yield event
      } else if (id && id !== progress.position) progress.position = id
      else continue
      await onPosition?.(progress.position)
    }
  }
  return failureOf(undefined, { requestId: undefined, signal, timedOutMs: undefined })
}

function readEvent(data: string): StoreEvent {
  try {
    const event = readJson(data) as StoreEvent
    if (typeof event.position === 'string') return event
  } catch {}
  throw new PetstoreError({
    code: 'unexpected_answer',
    message: 'The stream contains data that is no event.',
  })
}

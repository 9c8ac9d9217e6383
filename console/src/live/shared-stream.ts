// One event stream per browser: browsers allow six connections to a host, so one tab reads the stream and passes the
// events on to the other tabs. The lock of the Web Locks API decides which one. If that tab is closed, another tab gets
// the lock and continues at the last position.
import { type Petstore, PetstoreError, type StoreEvent } from '@petstore/client'

export interface StreamHandlers {
  onEvent: (event: StoreEvent) => void
  /** Events may have been missed: read everything again. */
  onGap: () => void
  onState: (state: StreamState) => void
  /** The stream has ended with an error that a retry cannot fix. */
  onError: (error: PetstoreError) => void
}

export type StreamState = 'connecting' | 'live' | 'reconnecting'

/** Pause after a failure that the client does not retry any more. */
const RETRY_AFTER_MS = 2_000

type Message = { event: StoreEvent } | { state: StreamState } | { gap: true } | { hello: true }

/** Reads the shared stream of all tabs with this session until the signal is aborted. */
export async function readSharedStream(
  store: Petstore,
  sessionId: string,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  // Without HTTPS, browsers have no Web Locks. Then each tab reads its own stream while it is visible.
  if (!('locks' in navigator)) return readWhileVisible(store, handlers, signal)
  const channel = new BroadcastChannel(`petstore-events-${sessionId}`)
  signal.addEventListener('abort', () => channel.close())
  let position: string | undefined
  let state: StreamState = 'connecting'
  let isLeader = false

  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if ('hello' in data && isLeader) channel.postMessage({ state } satisfies Message)
    if ('state' in data) handlers.onState(data.state)
    if ('gap' in data) handlers.onGap()
    if ('event' in data) {
      position = data.event.position
      handlers.onEvent(data.event)
    }
  })
  channel.postMessage({ hello: true } satisfies Message)

  const send = (message: Message) => {
    if (!signal.aborted) channel.postMessage(message)
  }
  await navigator.locks
    .request(`petstore-events-${sessionId}`, { signal }, async () => {
      isLeader = true
      const shared: StreamHandlers = {
        ...handlers,
        onEvent: (event) => {
          position = event.position
          handlers.onEvent(event)
          send({ event })
        },
        onGap: () => {
          handlers.onGap()
          send({ gap: true })
        },
        onState: (next) => {
          state = next
          handlers.onState(next)
          send({ state: next })
        },
      }
      await readStream(store, () => position, shared, signal)
    })
    .catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
}

/** Reads the stream, from the last known position if there is one, until an error that a retry cannot fix. */
async function readStream(
  store: Petstore,
  lastPosition: () => string | undefined,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  let isPositionLost = false
  while (!signal.aborted) {
    const after = (isPositionLost ? undefined : lastPosition()) ?? 'latest'
    let isGapReported = after !== 'latest'
    const onConnect = () => {
      handlers.onState('live')
      // The pages may have read their data before the stream began.
      if (!isGapReported) handlers.onGap()
      isGapReported = true
    }
    const onReconnect = () => handlers.onState('reconnecting')
    try {
      for await (const event of store.events.follow({ after, signal, onConnect, onReconnect })) {
        isPositionLost = false
        handlers.onEvent(event)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof PetstoreError)) throw error
      isPositionLost = error.code === 'events_expired'
      const isTemporary = isPositionLost || error.status === undefined || error.status >= 500
      if (!isTemporary) return handlers.onError(error)
      handlers.onState('reconnecting')
      await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS))
    }
  }
}

async function readWhileVisible(
  store: Petstore,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  let position: string | undefined
  while (!signal.aborted) {
    await visible(signal)
    const hidden = new AbortController()
    const stop = () => {
      if (document.visibilityState === 'hidden') hidden.abort()
    }
    document.addEventListener('visibilitychange', stop)
    const onEvent = (event: StoreEvent) => {
      position = event.position
      handlers.onEvent(event)
    }
    await readStream(
      store,
      () => position,
      { ...handlers, onEvent },
      AbortSignal.any([signal, hidden.signal]),
    )
    document.removeEventListener('visibilitychange', stop)
    if (!hidden.signal.aborted) return
  }
}

function visible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (document.visibilityState === 'hidden' && !signal.aborted) return
      document.removeEventListener('visibilitychange', check)
      resolve()
    }
    document.addEventListener('visibilitychange', check)
    signal.addEventListener('abort', check)
    check()
  })
}

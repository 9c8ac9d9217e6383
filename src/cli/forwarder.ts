// Posts events of the feed to a URL on the machine of a developer, signed like the messages of `petstore deliver`. The
// developer chose the URL, so every address is allowed.
import { sleep } from '../../client/src/call.ts'
import { writeJson } from '../../client/src/ids.ts'
import type { StoreEvent } from '../../client/src/petstore.ts'
import { toEventBody } from '../events/delivery/message.ts'
import { EVENT_MESSAGE_PREFIX } from '../events/webhooks/rules.ts'
import { messageHeaders } from '../events/webhooks/signature.ts'

/** As long as `petstore deliver` waits. */
const FORWARD_TIMEOUT_MS = 15_000
/** After the last pause and one more attempt, the event is given up: a developer does not want to wait for hours. */
const PAUSES_MS: readonly number[] = [1_000, 3_000, 10_000]

export interface ForwardOptions {
  url: string
  secret: Buffer
  signal: AbortSignal
  pausesMs?: readonly number[] | undefined
  onAttempt: (attempt: ForwardAttempt) => Promise<void>
}

/** The fields of a delivery in the API, except for its id. */
export interface ForwardAttempt {
  messageId: string
  kind: 'event'
  type: string
  position: string
  petId: string
  attempt: number
  outcome: 'delivered' | 'failed' | 'given_up'
  responseStatus: number | undefined
  failure: string | undefined
  durationMs: number
  at: string
  /** The pause before the next attempt; undefined if there is none. */
  retryMs: number | undefined
}

/**
 * Sends an event until the receiver accepts it, or all attempts have failed. Returns whether the receiver accepted it.
 * Returns early if the signal is aborted.
 */
export async function forwardEvent(event: StoreEvent, options: ForwardOptions): Promise<boolean> {
  const { signal, pausesMs = PAUSES_MS, onAttempt } = options
  const { position, type, petId } = event
  const id = EVENT_MESSAGE_PREFIX + position
  const body = writeJson(toEventBody(event))
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now()
    const { responseStatus, failure } = await post(id, body, options)
    if (signal.aborted) return false
    const isDelivered = responseStatus !== undefined && responseStatus >= 200 && responseStatus < 300
    const retryMs = isDelivered ? undefined : pausesMs[attempt - 1]
    await onAttempt({
      messageId: id,
      kind: 'event',
      type,
      position,
      petId,
      attempt,
      outcome: isDelivered ? 'delivered' : retryMs === undefined ? 'given_up' : 'failed',
      responseStatus,
      failure,
      durationMs: Math.round(performance.now() - startedAt),
      at: new Date().toISOString(),
      retryMs,
    })
    if (retryMs === undefined) return isDelivered
    await sleep(retryMs, signal)
    if (signal.aborted) return false
  }
}

interface PostResult {
  responseStatus?: number
  failure?: string
}

async function post(id: string, body: string, { url, secret, signal }: ForwardOptions): Promise<PostResult> {
  const timeout = AbortSignal.timeout(FORWARD_TIMEOUT_MS)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: messageHeaders(id, body, [secret]),
      body,
      redirect: 'manual',
      signal: AbortSignal.any([timeout, signal]),
    })
    // Only the status counts. The receiver may send a body without end.
    await response.body?.cancel()
    return { responseStatus: response.status }
  } catch (error) {
    return { failure: timeout.aborted ? 'timeout' : failureOf(error) }
  }
}

/** The same words as in the deliveries of `petstore deliver`. */
function failureOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code === 'ECONNREFUSED') return 'connection_refused'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'dns_failed'
  if (/CERT|^ERR_(TLS|SSL)/.test(code)) return 'tls_failed'
  return code.startsWith('HPE_') ? 'malformed_response' : 'connection_lost'
}

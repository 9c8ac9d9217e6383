// Reads one connection of a stream. follow.ts reconnects.
import { type FailedAttempt, failureOf, readResponse, TIMER_MS_MAX } from './attempt.ts'
import { PetstoreError } from './errors.ts'
import { type Message, messageParser } from './sse.ts'

export interface StreamOptions {
  fetch: typeof fetch
  /** Max time without a byte. The time in which the caller does not read does not count. */
  timeoutMs: number
  signal: AbortSignal
}

/** Yields the messages of each chunk, then the reason for the end of the stream. Closes the connection when the caller stops reading. */
export async function* readStream(
  url: string,
  headers: Headers,
  { fetch, timeoutMs, signal }: StreamOptions,
): AsyncGenerator<Message[] | { failed: FailedAttempt }, void, undefined> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal.reason)
  const requestId = headers.get('x-request-id') ?? undefined
  let timedOutMs: number | undefined
  const withTimeout = async <Value>(wait: Promise<Value>): Promise<Value> => {
    const onTimeout = () => {
      timedOutMs = timeoutMs
      controller.abort()
    }
    const timer = setTimeout(onTimeout, Math.min(timeoutMs, TIMER_MS_MAX))
    return wait.finally(() => clearTimeout(timer))
  }

  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    const init = { method: 'GET', headers, redirect: 'manual', signal: controller.signal } as const
    const response = await withTimeout(fetch(url, init))
    if (!isStream(response)) {
      const result = readResponse(response, await withTimeout(response.text()), requestId)
      yield 'failed' in result ? result : { failed: unexpected(response, requestId) }
      return
    }
    const parse = messageParser()
    // Also drops a byte order mark.
    const decoder = new TextDecoder()
    const reader = response.body.getReader()
    for (;;) {
      const { done, value } = await withTimeout(reader.read())
      if (done) throw new Error('The service has closed the stream.')
      yield parse(decoder.decode(value, { stream: true }))
    }
  } catch (cause) {
    if (cause instanceof PetstoreError) throw cause
    yield { failed: failureOf(cause, { requestId, signal, timedOutMs }) }
  } finally {
    signal.removeEventListener('abort', abort)
    controller.abort()
  }
}

function isStream(response: Response): response is Response & { body: ReadableStream<Uint8Array> } {
  const type = response.headers.get('content-type') ?? ''
  return response.status === 200 && response.body !== null && /^text\/event-stream\b/.test(type)
}

/** A successful response that is not a stream comes from another server, such as a proxy with a login page. */
function unexpected({ status }: Response, requestId: string | undefined): FailedAttempt {
  return {
    code: 'unexpected_answer',
    message: `The response with status ${status} is not a stream of events.`,
    status,
    requestId,
    mayHaveTakenEffect: false,
    isTemporary: false,
    retryAfterMs: 0,
  }
}

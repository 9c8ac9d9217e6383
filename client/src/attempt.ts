// One request and its answer, or why there is none, and what that says about its effect.
import type { Failure } from './errors.ts'
import { readJson } from './ids.ts'

export interface FailedAttempt extends Failure {
  /** Whether the request may have been carried out all the same. */
  mayHaveHappened: boolean
  /** Whether another attempt may end better. */
  isPassing: boolean
  /** What the service asked to wait. */
  retryAfterMs: number
}

/** Headers are those of the answer, where there was one. */
export type Attempt = { value: unknown; headers: Headers } | { failed: FailedAttempt; headers?: Headers }

export interface AttemptOptions {
  fetch: typeof fetch
  timeoutMs: number
  signal: AbortSignal | undefined
}

/** Errors of a runtime that could not connect, so that nothing was sent. A browser does not tell. */
const NOT_CONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused)$/
/** What the service answers with 503 when it has surely changed nothing. */
const NOTHING_HAPPENED = /^(?:unavailable|overloaded)$/
/** The first attempt, which we gave up, is still being worked on. */
const STILL_RUNNING = 'idempotency_key_in_use'
/** Answers of the service, or of a proxy before it, that pass. 500 is a fault, and would be one again. */
const PASSING_STATUSES = new Set([408, 429, 502, 503, 504])
/** What a timer can hold; beyond it a timer would end at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1

export async function attempt(
  url: string,
  init: RequestInit & { headers: Headers },
  { fetch, timeoutMs, signal }: AttemptOptions,
): Promise<Attempt> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  const timer = setTimeout(() => controller.abort(), Math.min(timeoutMs, TIMER_MS_MAX))
  signal?.addEventListener('abort', abort)
  const requestId = init.headers.get('x-request-id') ?? undefined
  try {
    // Petstore never redirects; following would carry the request, and a POST as a GET, to somebody else.
    const response = await fetch(url, { ...init, redirect: 'manual', signal: controller.signal })
    return read(response, await response.text(), requestId)
  } catch (cause) {
    const failed = { requestId, cause, mayHaveHappened: true, isPassing: true, retryAfterMs: 0 }
    if (signal?.aborted) return { failed: { ...failed, ...abortedBy(signal), isPassing: false } }
    if (controller.signal.aborted) {
      return {
        failed: { ...failed, code: 'timeout', message: `No answer within ${Math.ceil(timeoutMs)} ms.` },
      }
    }
    const message = 'The service could not be reached, or the connection broke before its answer had come.'
    return { failed: { ...failed, code: 'network_error', message, mayHaveHappened: !wasNotSent(cause) } }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

export function abortedBy(signal: AbortSignal): Failure {
  return { code: 'aborted', message: 'The call was aborted.', cause: signal.reason }
}

function read(response: Response, text: string, requestId: string | undefined): Attempt {
  const { status, headers, ok } = response
  const body = parse(text)
  if (ok && (status === 204 || body !== undefined)) return { value: body, headers }
  const error = isError(body, status) ? body : undefined
  const code = error?.code ?? 'unexpected_answer'
  return {
    headers,
    failed: {
      code,
      message: error?.message ?? `The answer, with status ${status}, is not one of Petstore's.`,
      status,
      details: error?.details,
      requestId: headers.get('x-request-id') ?? requestId,
      // What was refused did not happen; a success that cannot be read, or a fault, may have.
      mayHaveHappened: (ok || status >= 500 || code === STILL_RUNNING) && !NOTHING_HAPPENED.test(code),
      isPassing: PASSING_STATUSES.has(status) || code === STILL_RUNNING,
      retryAfterMs: retryAfterMs(headers),
    },
  }
}

function parse(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

/** An Error body of Petstore carries the status of its answer; that of a proxy does not. */
function isError(body: unknown, status: number): body is Failure {
  const error = body as Failure | undefined | null
  return status >= 400 && error?.status === status && typeof error.code === 'string'
}

/** RFC 9110: seconds, or a date. */
function retryAfterMs(headers: Headers): number {
  const value = headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return ms > 0 ? ms : 0
}

function wasNotSent(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  return NOT_CONNECTED.test(String(code ?? cause?.code))
}

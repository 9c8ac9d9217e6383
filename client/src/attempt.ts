// Sends one request. Classifies a failure: can it be retried, and may the request have taken effect?
import type { Failure } from './errors.ts'
import { readJson } from './ids.ts'

export interface FailedAttempt extends Failure {
  /** True if the request may have taken effect in spite of the failure. */
  mayHaveTakenEffect: boolean
  /** True if another attempt may succeed. */
  isTemporary: boolean
  /** The delay that the service requests with `Retry-After`, or 0. */
  retryAfterMs: number
}

/** `headers` are the response headers, if there was a response. */
export type Attempt =
  | { value: unknown; headers: Headers }
  | { file: Response; headers: Headers }
  | { failed: FailedAttempt; headers?: Headers }

export interface AttemptOptions {
  fetch: typeof fetch
  timeoutMs: number
  signal: AbortSignal | undefined
  /** Whether a success is a file, which is returned unread. */
  isFile: boolean
}

/** Error codes of Node, Deno and Bun for a failed connection: nothing was sent. Browsers do not report the reason. */
const NOT_CONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused)$/
/** Error codes of 503 responses that guarantee that nothing was changed. */
const NOTHING_CHANGED = /^(?:unavailable|overloaded)$/
/** Error code that means: the service is still processing an earlier attempt, whose response did not arrive. */
const STILL_RUNNING = 'idempotency_key_in_use'
/** Statuses of temporary errors, from the service or a proxy. 500 reports a defect, so a retry would fail too. */
const TEMPORARY_STATUSES = new Set([408, 429, 502, 503, 504])
/** The max delay of setTimeout. With a longer delay, the timer would fire at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1

export async function attempt(
  url: string,
  init: RequestInit & { headers: Headers },
  { fetch, timeoutMs, signal, isFile }: AttemptOptions,
): Promise<Attempt> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  const timer = setTimeout(() => controller.abort(), Math.min(timeoutMs, TIMER_MS_MAX))
  signal?.addEventListener('abort', abort)
  const requestId = init.headers.get('x-request-id') ?? undefined
  try {
    // Petstore never redirects. Following a redirect could send the API key to another server, and a POST as a GET.
    const response = await fetch(url, { ...init, redirect: 'manual', signal: controller.signal })
    if (isFile && isExport(response)) return { file: response, headers: response.headers }
    return readResponse(response, await response.text(), requestId)
  } catch (cause) {
    const timedOutMs = controller.signal.aborted ? timeoutMs : undefined
    return { failed: failureOf(cause, { requestId, signal, timedOutMs }) }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** Classifies what `fetch` throws. `timedOutMs` is the timeout, if it was reached. */
export function failureOf(
  cause: unknown,
  {
    requestId,
    signal,
    timedOutMs,
  }: {
    requestId: string | undefined
    signal: AbortSignal | undefined
    timedOutMs: number | undefined
  },
): FailedAttempt {
  const failed = { requestId, cause, mayHaveTakenEffect: true, isTemporary: true, retryAfterMs: 0 }
  if (signal?.aborted) return { ...failed, ...abortedBy(signal), isTemporary: false }
  if (timedOutMs !== undefined) {
    return { ...failed, code: 'timeout', message: `No response within ${Math.ceil(timedOutMs)} ms.` }
  }
  const message = 'Cannot reach the service, or the connection was lost before the response was complete.'
  return { ...failed, code: 'network_error', message, mayHaveTakenEffect: !wasNotSent(cause) }
}

export function abortedBy(signal: AbortSignal): Failure {
  return { code: 'aborted', message: 'The call was aborted.', cause: signal.reason }
}

export function readResponse(response: Response, text: string, requestId: string | undefined): Attempt {
  const { status, headers, ok } = response
  const body = parse(text)
  if (ok && (status === 204 || body !== undefined)) return { value: body, headers }
  const error = isError(body, status) ? body : undefined
  const code = error?.code ?? 'unexpected_answer'
  return {
    headers,
    failed: {
      code,
      message: error?.message ?? `The response with status ${status} is not a valid Petstore response.`,
      status,
      details: error?.details,
      requestId: headers.get('x-request-id') ?? requestId,
      // A rejected request had no effect. A request with a 5xx, or a success with an unreadable body, may have had one.
      mayHaveTakenEffect: (ok || status >= 500 || code === STILL_RUNNING) && !NOTHING_CHANGED.test(code),
      isTemporary: TEMPORARY_STATUSES.has(status) || code === STILL_RUNNING,
      retryAfterMs: retryAfterMs(headers),
    },
  }
}

/** A success of another type comes from another server, such as a proxy with a login page. */
function isExport({ ok, body, headers }: Response): boolean {
  const type = headers.get('content-type') ?? ''
  return ok && body !== null && /^(?:text\/csv|application\/x-ndjson)\b/.test(type)
}

function parse(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

/** The body of a Petstore error contains the status of the response. Error bodies of proxies do not. */
function isError(body: unknown, status: number): body is Failure {
  const error = body as Failure | undefined | null
  return status >= 400 && error?.status === status && typeof error.code === 'string'
}

/** `Retry-After` is a number of seconds or a date (RFC 9110). */
function retryAfterMs(headers: Headers): number {
  const value = headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return ms > 0 ? ms : 0
}

function wasNotSent(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  return NOT_CONNECTED.test(String(code ?? cause?.code))
}

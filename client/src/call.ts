// A call: attempts until one succeeds, one says no for good, or the time is up. Repeats a change only where
// that cannot make it twice.
import { abortedBy, attempt, TIMER_MS_MAX } from './attempt.ts'
import { type Deprecation, noteDeprecation } from './deprecation.ts'
import { PetstoreError } from './errors.ts'
import { writeJson, writeQuery } from './ids.ts'
import type { ErrorCode, Operations } from './interface.ts'

export interface PetstoreOptions {
  /** Where the service is, with `/v1`. In a browser it may be relative. */
  baseUrl: string | URL
  apiKey: string
  /** How long one attempt may take: 15 seconds, longer than the service takes to say that it is stuck. */
  timeoutMs?: number | undefined
  /** How long a call may take with all its attempts, or one page of a list: a minute. */
  deadlineMs?: number | undefined
  /** Told once for each deprecated operation and process; `console.warn` unless you give another. */
  onDeprecated?: ((deprecation: Deprecation) => void) | undefined
  /** Instead of the global `fetch`. */
  fetch?: typeof fetch | undefined
}

export interface CallOptions {
  /** Ends the call, also while it waits for its next attempt or between pages. */
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  deadlineMs?: number | undefined
}

export interface Call<Name extends keyof Operations> {
  operation: Name
  method: Operations[Name]['method']
  path: Operations[Name]['path']
  query?: Operations[Name]['query'] | undefined
  body?: Operations[Name]['body'] | undefined
  headers?: Record<string, string | undefined>
  /** Whether it does no harm a second time, so that it may be repeated after an attempt that may have succeeded. */
  idempotent: boolean
  /** The error that, after such an attempt, says that all is done. */
  doneBy?: ErrorCode
}

export interface ApiResponse<Value> {
  value: Value
  headers: Headers
}

export type Send = <Name extends keyof Operations>(
  call: Call<Name>,
  options: CallOptions | undefined,
) => Promise<ApiResponse<Operations[Name]['response']>>

const TIMEOUT_MS = 15_000
const DEADLINE_MS = 60_000
const BACKOFF_FIRST_MS = 200
const BACKOFF_MAX_MS = 5_000

export function sender(given: PetstoreOptions): Send {
  if (!given.apiKey) throw new TypeError('apiKey is missing.')
  const baseUrl = String(given.baseUrl).replace(/\/+$/, '')
  const authorization = `Bearer ${given.apiKey}`
  // Throws now, and not at every call, what no request could be made of.
  void new Request(baseUrl, { headers: { authorization } })
  // oxlint-disable-next-line no-console -- the one place where a developer looks; `onDeprecated` takes it elsewhere.
  const { onDeprecated = ({ message }: Deprecation) => console.warn(message) } = given

  return async (call, options = {}) => {
    const { signal } = options
    const timeoutMs = options.timeoutMs ?? given.timeoutMs ?? TIMEOUT_MS
    const endsAt = performance.now() + (options.deadlineMs ?? given.deadlineMs ?? DEADLINE_MS)
    const url = baseUrl + call.path + writeQuery(call.query)
    const body = call.body && writeJson(call.body)
    const id = randomId()
    let outcomeUnknown = false
    let before: PetstoreError | undefined

    for (let number = 1; ; number += 1) {
      if (signal?.aborted) throw new PetstoreError(abortedBy(signal), outcomeUnknown)
      const headers = headersOf({
        authorization,
        accept: 'application/json',
        'content-type': body && 'application/json',
        'x-request-id': `${id}.${number}`,
        ...call.headers,
      })
      const result = await attempt(
        url,
        { method: call.method, headers, body: body ?? null },
        {
          fetch: given.fetch ?? fetch,
          timeoutMs: Math.min(timeoutMs, endsAt - performance.now()),
          signal,
        },
      )
      if (result.headers) noteDeprecation(call.operation, result.headers, onDeprecated)
      if ('value' in result) return result as ApiResponse<never>

      const { failed } = result
      if (outcomeUnknown && failed.code === call.doneBy) {
        return { value: undefined, headers: new Headers() }
      }
      outcomeUnknown ||= failed.mayHaveHappened && call.method !== 'GET'
      const waitMs = failed.retryAfterMs + backoffMs(number)
      const isLast = !failed.isPassing || performance.now() + waitMs >= endsAt
      if (isLast || (outcomeUnknown && !call.idempotent)) {
        // A time-out alone says little: what came before it says why.
        const cause = failed.code === 'timeout' ? (before ?? failed.cause) : failed.cause
        throw new PetstoreError({ ...failed, cause }, outcomeUnknown)
      }
      before = new PetstoreError(failed)
      await sleep(waitMs, signal)
    }
  }
}

/** A new one each time, for the logs and as an idempotency key. `randomUUID` exists on secure pages alone. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Exponential, with full jitter: those who failed together do not come back together. */
function backoffMs(attempts: number): number {
  return Math.random() * Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (attempts - 1))
}

function headersOf(values: Record<string, string | undefined>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(values)) if (value !== undefined) headers.set(name, value)
  return headers
}

/** Also over when the signal is aborted. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.min(ms, TIMER_MS_MAX))
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}

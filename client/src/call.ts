// Sends a request and retries it until it succeeds, fails permanently, or reaches its deadline. A request that
// may have taken effect is retried only if it is idempotent.
import { abortedBy, attempt, TIMER_MS_MAX } from './attempt.ts'
import { type Deprecation, reportDeprecation } from './deprecation.ts'
import { PetstoreError } from './errors.ts'
import { readBytes } from './file.ts'
import { type IgnoredFields, reportIgnoredFields } from './ignored-fields.ts'
import { writeJson, writeQuery } from './ids.ts'
import type { ErrorCode, Operations } from './interface.ts'
import { readStream } from './stream.ts'

export interface PetstoreOptions {
  /** Address of the service, with or without `/v1`. In a browser it can be relative. */
  baseUrl: string | URL
  apiKey: string
  /** Timeout of one attempt. Default: 15,000, which is longer than the response timeout of the service. */
  timeoutMs?: number | undefined
  /** Timeout of a call with all its attempts. For a list, the timeout of each page. Default: 60,000. */
  deadlineMs?: number | undefined
  /** Called once per process for each deprecated operation that you call. Default: `console.warn` with the message. */
  onDeprecated?: ((deprecation: Deprecation) => void) | undefined
  /** Called if the service ignored fields of a new pet, such as misspelt ones. Default: `console.warn` with the message. */
  onIgnoredFields?: ((ignored: IgnoredFields) => void) | undefined
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch | undefined
}

export interface CallOptions {
  /** Aborts the call, even while it waits before its next attempt. Also aborts a list between two pages. */
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  deadlineMs?: number | undefined
}

export interface OnceOptions extends CallOptions {
  /** Set a key to retry the call safely after your process crashed. Valid for 24 hours. Default: a new key per call. */
  idempotencyKey?: string | undefined
}

export interface Call<Name extends keyof Operations> {
  operation: Name
  method: Operations[Name]['method']
  path: Operations[Name]['path']
  query?: Operations[Name]['query'] | undefined
  body?: Operations[Name]['body'] | undefined
  headers?: Record<string, string | undefined>
  /** True if a retry is safe even if an earlier attempt took effect. */
  idempotent: boolean
  /** If an earlier attempt may have taken effect, this error code means that it did. */
  successCode?: ErrorCode
  /** True if the response is a file instead of JSON. Its value is what `readBytes` returns. */
  isFile?: true
}

export interface ApiResponse<Value> {
  value: Value
  headers: Headers
}

export type Send = <Name extends keyof Operations>(
  call: Call<Name>,
  options: CallOptions | undefined,
) => Promise<ApiResponse<Operations[Name]['response']>>

/** Opens one connection to a stream of the service. */
export type OpenStream = (
  path: string,
  query: object,
  options: { signal: AbortSignal; timeoutMs: number | undefined },
) => ReturnType<typeof readStream>

/** What the client needs to send requests. */
export interface Transport {
  send: Send
  openStream: OpenStream
  deadlineMs: number
}

const TIMEOUT_MS = 15_000
const DEADLINE_MS = 60_000
const BACKOFF_FIRST_MS = 200
const BACKOFF_MAX_MS = 5_000

export function transportOf(defaults: PetstoreOptions): Transport {
  if (!defaults.apiKey) throw new TypeError('apiKey is missing.')
  const service: Service = {
    ...defaults,
    // The service has every operation below `/v1`.
    baseUrl: `${String(defaults.baseUrl).replace(/(\/v1)?\/*$/, '')}/v1`,
    authorization: `Bearer ${defaults.apiKey}`,
    timeoutMs: defaults.timeoutMs ?? TIMEOUT_MS,
    deadlineMs: defaults.deadlineMs ?? DEADLINE_MS,
    onDeprecated: defaults.onDeprecated ?? warn,
    onIgnoredFields: defaults.onIgnoredFields ?? warn,
  }
  const { baseUrl, authorization, deadlineMs } = service
  // If the address or the key is invalid, throw here instead of at every call.
  void new Request(baseUrl, { headers: { authorization } })
  return {
    send: (call, options) => sendWithRetries(service, call, options),
    openStream: (path, query, { signal, timeoutMs }) => {
      const accept = 'text/event-stream'
      const headers = headersOf({ authorization, accept, 'x-request-id': randomId() })
      return readStream(baseUrl + path + writeQuery(query), headers, {
        fetch: service.fetch ?? fetch,
        timeoutMs: timeoutMs ?? service.timeoutMs,
        signal,
      })
    },
    deadlineMs,
  }
}

function warn({ message }: { message: string }): void {
  // oxlint-disable-next-line no-console -- the default; `onDeprecated` and `onIgnoredFields` replace it.
  console.warn(message)
}

/** The options of the client, with their defaults. */
interface Service {
  baseUrl: string
  authorization: string
  timeoutMs: number
  deadlineMs: number
  onDeprecated: (deprecation: Deprecation) => void
  onIgnoredFields: (ignored: IgnoredFields) => void
  fetch?: typeof fetch | undefined
}

async function sendWithRetries<Name extends keyof Operations>(
  service: Service,
  call: Call<Name>,
  options: CallOptions = {},
): Promise<ApiResponse<Operations[Name]['response']>> {
  const { signal, timeoutMs = service.timeoutMs, deadlineMs = service.deadlineMs } = options
  const deadlineAt = performance.now() + deadlineMs
  const url = service.baseUrl + call.path + writeQuery(call.query)
  const body = call.body && writeJson(call.body)
  const id = randomId()
  let outcomeUnknown = false
  let previous: PetstoreError | undefined

  for (let number = 1; ; number += 1) {
    if (signal?.aborted) throw new PetstoreError(abortedBy(signal), outcomeUnknown)
    const headers = headersOf({
      authorization: service.authorization,
      accept: call.isFile ? '*/*' : 'application/json',
      'content-type': body && 'application/json',
      'x-request-id': `${id}.${number}`,
      ...call.headers,
    })
    const result = await attempt(
      url,
      { method: call.method, headers, body: body ?? null },
      {
        fetch: service.fetch ?? fetch,
        timeoutMs: Math.min(timeoutMs, deadlineAt - performance.now()),
        signal,
        isFile: call.isFile ?? false,
      },
    )
    if (result.headers) {
      reportDeprecation(call.operation, result.headers, service.onDeprecated)
      reportIgnoredFields(call.operation, result.headers, service.onIgnoredFields)
    }
    if ('file' in result) return { ...result, value: readBytes(result.file, { timeoutMs, signal }) }
    if ('value' in result) return result as ApiResponse<never>

    const { failed } = result
    if (outcomeUnknown && failed.code === call.successCode) {
      return { value: undefined as never, headers: new Headers() }
    }
    outcomeUnknown ||= failed.mayHaveTakenEffect && call.method !== 'GET'
    const waitMs = failed.retryAfterMs + backoffMs(number)
    const isLast = !failed.isTemporary || performance.now() + waitMs >= deadlineAt
    if (isLast || (outcomeUnknown && !call.idempotent)) {
      // The previous error explains a timeout better than the timeout itself.
      const cause = failed.code === 'timeout' ? (previous ?? failed.cause) : failed.cause
      throw new PetstoreError({ ...failed, cause }, outcomeUnknown)
    }
    previous = new PetstoreError(failed)
    await sleep(waitMs, signal)
  }
}

/** Makes request ids and idempotency keys. `crypto.randomUUID` exists only in secure contexts (HTTPS). */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Exponential backoff with full jitter, so that clients that failed at the same time do not retry together. */
export function backoffMs(attempts: number): number {
  return Math.random() * Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (attempts - 1))
}

function headersOf(values: Record<string, string | undefined>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(values)) if (value !== undefined) headers.set(name, value)
  return headers
}

/** Resolves early if the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
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

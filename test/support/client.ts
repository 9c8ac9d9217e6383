// The HTTP client of the tests. It checks every response against openapi.json, and every header against its grammar. It
// imports nothing from src.
import { afterAll } from 'vitest'
import { countBusyRetries, retryWhileBusy } from './load.ts'
import { checkResponse } from './responses.ts'

export interface Target {
  /** Without `/v1`. */
  origin: string
  apiKey: string
}

export interface ClientOptions {
  /** Retries a request that the service rejects because the host is busy, so that tests see only other responses. */
  retriesBusy?: boolean
}

export interface CallOptions {
  headers?: Record<string, string>
  /** Text and bytes are sent unchanged, anything else as JSON. */
  body?: unknown
  /** Replaces the client's key; null sends none. */
  apiKey?: string | null
}

export interface TestResponse {
  status: number
  headers: Headers
  text: string
  /** The parsed body, with integers of 16 digits or more as bigints; undefined without a body. */
  body: unknown
}

export interface TestClient {
  origin: string
  /** Any request. The path starts with `/`; `/v1` is not added. */
  call: (method: string, path: string, options?: CallOptions) => Promise<TestResponse>
  /** GET under `/v1`. */
  get: (path: string, options?: CallOptions) => Promise<TestResponse>
  /** POST under `/v1`, as JSON. */
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<TestResponse>
}

export function openTestClient(
  { origin, apiKey }: Target,
  { retriesBusy = false }: ClientOptions = {},
): TestClient {
  if (retriesBusy) reportBusyRetries()

  function call(method: string, path: string, options: CallOptions = {}): Promise<TestResponse> {
    const attempt = () => send(method, path, options)
    return retriesBusy ? retryWhileBusy(attempt) : attempt()
  }

  async function send(method: string, path: string, options: CallOptions): Promise<TestResponse> {
    const key = options.apiKey === undefined ? apiKey : options.apiKey
    const isRaw = typeof options.body === 'string' || options.body instanceof Uint8Array
    const fetched = await fetch(origin + path, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined
        ? {}
        : { body: isRaw ? (options.body as string) : JSON.stringify(options.body) }),
    })
    const text = isStream(fetched.headers) ? await readStart(fetched) : await fetched.text()
    const response = { status: fetched.status, headers: fetched.headers, text, body: parseExactly(text) }
    checkResponse({ method, path, ...response })
    return response
  }
  return {
    origin,
    call,
    get: (path, options) => call('GET', `/v1${path}`, options),
    post: (path, body, headers = {}) => call('POST', `/v1${path}`, { body, headers }),
  }
}

/** `fetch` that does not return the responses of a busy service, for tests that count attempts. */
export const fetchUnlessBusy: typeof fetch = async (input, init) => {
  const send = async () => {
    const response = await fetch(input, init)
    const { status } = response
    return {
      response,
      status,
      body: status === 503 ? parseExactly(await response.clone().text()) : undefined,
    }
  }
  return (await retryWhileBusy(send)).response
}

/** Prints how often the tests of this file retried a request, so that a service that is often busy is noticed. */
export function reportBusyRetries(): void {
  const before = countBusyRetries()
  afterAll(() => {
    const retries = countBusyRetries() - before
    if (retries > 0) console.log(`retried ${retries} requests, because the host was busy`)
  })
}

function isStream(headers: Headers): boolean {
  return headers.get('content-type') === 'text/event-stream'
}

/** Reads the first bytes of a stream, which has no end, and closes it. */
async function readStart({ body }: Response): Promise<string> {
  for await (const chunk of body ?? []) return new TextDecoder().decode(chunk)
  return ''
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

export function parseExactly(text: string): unknown {
  const keepDigits: Reviver = (_key, value, { source = '' }) =>
    typeof value === 'number' && /^-?\d{16,}$/.test(source) ? BigInt(source) : value
  try {
    return (JSON.parse as (text: string, reviver: Reviver) => unknown)(text, keepDigits)
  } catch {
    return undefined
  }
}

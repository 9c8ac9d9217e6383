// How every test talks to the service: a small client that checks each answer against openapi.json and
// each header against its own grammar, whatever the test itself looks at. Imports no source.
import { checkResponse } from './responses.ts'

export interface Target {
  /** Without `/v1`. */
  origin: string
  apiKey: string
}

export interface CallOptions {
  headers?: Record<string, string>
  /** Text and bytes go as they are, anything else as JSON. */
  body?: unknown
  /** Another key than the client's, or none at all. */
  apiKey?: string | null
}

export interface TestResponse {
  status: number
  headers: Headers
  text: string
  /** The JSON of the body, with integers beyond 2^53 as bigints; undefined without a body. */
  body: unknown
}

export interface TestClient {
  origin: string
  /** Any request; the path starts with `/`, and `/v1` is not added. */
  call: (method: string, path: string, options?: CallOptions) => Promise<TestResponse>
  /** GET under `/v1`. */
  get: (path: string, options?: CallOptions) => Promise<TestResponse>
  /** POST under `/v1`, as JSON. */
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<TestResponse>
}

export function openTestClient({ origin, apiKey }: Target): TestClient {
  async function call(method: string, path: string, options: CallOptions = {}): Promise<TestResponse> {
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
    const text = await fetched.text()
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

// An HTTP client with keep-alive: counts every response, and reports those that are not documented.
import { setTimeout as sleep } from 'node:timers/promises'
import { type HttpResponse, openHttpClient, type TrustedServer } from '../parts/http-client.ts'
import type { Random } from '../parts/random.ts'
import type { Violations } from '../parts/violations.ts'
import { changedNothing, type OperationName, undocumented } from './documented.ts'

/** Longer than every timeout of the service, so that the service decides how a request ends. */
const REQUEST_TIMEOUT_MS = 20_000
const SOCKETS_MAX = 64
const WAIT_MAX_MS = 1_000
/** Wait before a retry if the response has no Retry-After, for example after a lost connection. */
const WAIT_DEFAULT_MS = 300

export interface Reply {
  /** Undefined if no response arrived. */
  status: number | undefined
  /** Status and error code, such as "201", "503 unavailable" or "network ECONNRESET". */
  result: string
  /** Whether the request was certainly executed, certainly not executed, or neither is known. */
  outcome: 'done' | 'notDone' | 'unknown'
  body: unknown
  /** The version in the ETag header; undefined if the response has none. */
  version: number | undefined
  /** The path of the next page; undefined if the response has no Link to it. */
  next: string | undefined
  /** How long to wait before a retry. */
  waitMs: number
}

export interface Request {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  body?: Record<string, unknown>
  headers?: Record<string, string>
}

export interface Client {
  send: (operation: OperationName, request: Request) => Promise<Reply>
  /** Responses by operation and result since the last call. */
  takeCounts: () => Record<string, number>
  responses: () => number
  close: () => void
}

interface ClientOptions {
  baseUrl: string
  apiKey: string
  violations: Violations
  trusted?: TrustedServer
}

export function openClient({ baseUrl, apiKey, violations, trusted }: ClientOptions): Client {
  const http = openHttpClient({
    origin: `${baseUrl.replace(/\/+(v1\/?)?$/, '')}/v1`,
    apiKey,
    socketsMax: SOCKETS_MAX,
    timeoutMs: REQUEST_TIMEOUT_MS,
    trusted,
  })
  let counts: Record<string, number> = {}
  let responses = 0

  async function send(operation: OperationName, what: Request): Promise<Reply> {
    const reply = await http.send(what).then((response) => {
      const received = toReply(response)
      reportUndocumented(operation, received, response)
      return received
    }, withoutResponse)
    const counted = `${operation} ${reply.result}`
    counts[counted] = (counts[counted] ?? 0) + 1
    responses += 1
    return reply
  }

  function reportUndocumented(operation: OperationName, { result }: Reply, response: HttpResponse): void {
    const { headers, text } = response
    const problem = undocumented(operation, result, headers['retry-after'])
    if (problem === undefined) return
    const subject = String(headers['x-request-id'] ?? responses)
    violations.add({ kind: 'undocumented', subject, text: `${problem} (${subject}): ${text.slice(0, 200)}` })
  }

  return {
    send,
    takeCounts: () => {
      const taken = counts
      counts = {}
      return taken
    },
    responses: () => responses,
    close: http.close,
  }
}

function toReply({ status, headers, text }: HttpResponse): Reply {
  const body = parse(text)
  const code = (body as { code?: unknown } | undefined)?.code
  const result = status < 300 ? `${status}` : `${status} ${String(code)}`
  const retryAfter = headers['retry-after']
  const unfinished = changedNothing(result) ? 'notDone' : 'unknown'
  return {
    status,
    result,
    outcome: status < 300 ? 'done' : unfinished,
    body,
    // Of a response without a version, such as an order, the ETag is a hash.
    version: versionIn(headers.etag),
    next: /<[^>]*\/v1(\/[^>]*)>; rel="next"/.exec(String(headers['link']))?.[1],
    waitMs: Math.min(WAIT_MAX_MS, retryAfter === undefined ? WAIT_DEFAULT_MS : Number(retryAfter) * 1000),
  }
}

function withoutResponse(error: NodeJS.ErrnoException): Reply {
  return {
    status: undefined,
    result: `network ${error.code ?? error.name}`,
    outcome: 'unknown',
    body: undefined,
    version: undefined,
    next: undefined,
    waitMs: WAIT_DEFAULT_MS,
  }
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Waits between half of the time and all of it, so that clients that failed together do not retry together. */
export function waitPolitely(reply: Reply, random: Random): Promise<void> {
  return sleep(reply.waitMs * (0.5 + random() / 2))
}

function versionIn(etag: string | undefined): number | undefined {
  const [, version] = /^"(\d+)"$/.exec(etag ?? '') ?? []
  return version === undefined ? undefined : Number(version)
}

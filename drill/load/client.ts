// An HTTP client with keep-alive: counts every response, and reports those that are not documented.
// Knows nothing about pets or orders.
import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { Violations } from '../violations.ts'
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
}

interface Raw {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

export function openClient({ baseUrl, apiKey, violations }: ClientOptions): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX })
  const origin = baseUrl.replace(/\/+(v1\/?)?$/, '')
  let counts: Record<string, number> = {}
  let responses = 0

  function exchange({ method, path, body, headers }: Request): Promise<Raw> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const sent = request(
        `${origin}/v1${path}`,
        {
          agent,
          method,
          // Also limits a response that arrives byte by byte, which the timeout of a socket does not.
          signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
          headers: {
            authorization: `Bearer ${apiKey}`,
            ...(text !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(text),
            }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString(),
            }),
          )
        },
      )
      sent.on('error', reject)
      sent.end(text)
    })
  }

  async function send(operation: OperationName, what: Request): Promise<Reply> {
    const reply = await exchange(what).then(
      (raw) => toReply(operation, raw),
      (error: NodeJS.ErrnoException): Reply => ({
        status: undefined,
        result: `network ${error.code ?? error.name}`,
        outcome: 'unknown',
        body: undefined,
        version: undefined,
        next: undefined,
        waitMs: WAIT_DEFAULT_MS,
      }),
    )
    const counted = `${operation} ${reply.result}`
    counts[counted] = (counts[counted] ?? 0) + 1
    responses += 1
    return reply
  }

  function toReply(operation: OperationName, { status, headers, text }: Raw): Reply {
    const body = parse(text)
    const code = (body as { code?: unknown } | undefined)?.code
    const requestId = headers['x-request-id']
    const result = status < 300 ? `${status}` : `${status} ${String(code)}`
    const retryAfter = headers['retry-after']
    const problem = undocumented(operation, result, retryAfter)
    if (problem !== undefined) {
      const subject = String(requestId ?? responses)
      violations.add({
        kind: 'undocumented',
        subject,
        text: `${problem} (${subject}): ${text.slice(0, 200)}`,
      })
    }
    const unfinished = changedNothing(result) ? 'notDone' : 'unknown'
    return {
      status,
      result,
      outcome: status < 300 ? 'done' : unfinished,
      body,
      version: headers.etag === undefined ? undefined : Number(headers.etag.replaceAll('"', '')),
      next: /<[^>]*\/v1(\/[^>]*)>; rel="next"/.exec(String(headers['link']))?.[1],
      waitMs: Math.min(WAIT_MAX_MS, retryAfter === undefined ? WAIT_DEFAULT_MS : Number(retryAfter) * 1000),
    }
  }

  return {
    send,
    takeCounts: () => {
      const taken = counts
      counts = {}
      return taken
    },
    responses: () => responses,
    close: () => agent.destroy(),
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

// Sends webhooks to URLs that callers chose. Nothing that a receiver does can throw an error here, hold a connection beyond
// the timeout, or make the sender connect to a blocked address. `serve` must not import this file.
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { addressRule } from '../webhooks/addresses.ts'
import {
  ConnectionFault,
  type Connections,
  isBlockedLiteral,
  type Lookup,
  lookUpInDns,
  openConnections,
} from './connections.ts'
import type { FailureReason, SendOutcome } from './outcome.ts'
import { parseRetryAfter } from './retry-after.ts'
import { limitPerOrigin } from './origin-limit.ts'

/** For everything from the DNS query to the response. */
const SEND_TIMEOUT_MS = 15_000
export const RESPONSE_HEADERS_MAX_BYTES = 16_384
/** The body is discarded. A connection with a longer body is closed. */
export const RESPONSE_BODY_MAX_BYTES = 1_024
/** The status counts even if its body never ends, so the sender does not wait for the body longer than this. */
const RESPONSE_BODY_TIMEOUT_MS = 1_000
/** Max responses such as `103 Early Hints` before the real one. */
const INFORMATION_MAX = 10

export interface SenderOptions {
  /** Addresses and ranges, such as `10.0.0.0/8`, that can be used although they are not public, also over HTTP. */
  allowedNetworks: readonly string[]
  /** For each host and port. Further calls of `send` wait, which counts against their timeout. */
  connectionsPerHostMax: number
  /** Replaces DNS in tests. */
  lookup?: Lookup
  /** Replaces the time after which an idle connection is closed. */
  idleTimeoutMs?: number
}

export interface SendRequest {
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  timeoutMs?: number
  /** Cancels the request. The outcome is then the failure `aborted`. */
  signal?: AbortSignal
}

export interface Sender {
  /** Sends one POST request. Never throws. May send it twice, if the receiver closed an idle connection in the same moment. */
  send(delivery: SendRequest): Promise<SendOutcome>
  /** Cancels all requests in flight and closes all connections. */
  close(): Promise<void>
}

/** The outcome of one attempt. `stale` means that an idle connection was closed before it could be used. */
type Result = SendOutcome | FailureReason | 'stale'

export function openSender(options: SenderOptions): Sender {
  const { allowedNetworks, connectionsPerHostMax, lookup = lookUpInDns, idleTimeoutMs } = options
  const rule = addressRule(allowedNetworks)
  const originLimit = limitPerOrigin(connectionsPerHostMax)
  const connections: Record<string, Connections> = {
    'http:': openConnections('http:', rule, lookup, idleTimeoutMs),
    'https:': openConnections('https:', rule, lookup, idleTimeoutMs),
  }
  const inFlight = new Map<AbortController, Promise<Result>>()
  let isClosed = false

  async function attempt(delivery: SendRequest, startedAt: number, stop: AbortSignal): Promise<Result> {
    const url = parseTarget(delivery.url)
    const agents = connections[url?.protocol ?? '']
    if (url === undefined || agents === undefined) return 'invalid_request'
    if (isBlockedLiteral(hostOf(url), rule, url.protocol)) return 'address_blocked'
    if (!(await originLimit.acquire(url.origin, stop))) return stop.reason
    try {
      return await exchangeTwice({ url, delivery, startedAt, stop }, agents)
    } finally {
      originLimit.release(url.origin)
    }
  }

  async function attemptWithin(delivery: SendRequest, startedAt: number): Promise<Result> {
    const { signal, timeoutMs = SEND_TIMEOUT_MS } = delivery
    if (isClosed || signal?.aborted === true) return 'aborted'
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort('timeout'), timeoutMs)
    const abort = () => stop.abort('aborted')
    signal?.addEventListener('abort', abort)
    const attempting = attempt(delivery, startedAt, stop.signal)
    inFlight.set(stop, attempting)
    try {
      return await attempting
    } finally {
      inFlight.delete(stop)
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  return {
    async send(delivery) {
      const startedAt = performance.now()
      const result = await attemptWithin(delivery, startedAt)
      return toOutcome(result, performance.now() - startedAt)
    },
    async close() {
      isClosed = true
      const ending = [...inFlight.values()]
      for (const stop of inFlight.keys()) stop.abort('aborted')
      await Promise.all(ending)
      for (const { reusing, fresh } of Object.values(connections)) {
        reusing.destroy()
        fresh.destroy()
      }
    },
  }
}

function toOutcome(result: Result, durationMs: number): SendOutcome {
  if (typeof result === 'object') return result
  return { kind: 'failure', reason: result === 'stale' ? 'connection_lost' : result, durationMs }
}

interface Exchange {
  url: URL
  delivery: SendRequest
  startedAt: number
  /** Its reason is the FailureReason. */
  stop: AbortSignal
}

/** A receiver closes idle connections at any time, also when a request is on its way. Such a request is sent once more. */
async function exchangeTwice(exchange: Exchange, { reusing, fresh }: Connections): Promise<Result> {
  const result = await exchangeOver(reusing, exchange)
  return result === 'stale' ? exchangeOver(fresh, exchange) : result
}

function exchangeOver(agent: Connections['reusing'], exchange: Exchange): Promise<Result> {
  const { url, delivery, startedAt, stop } = exchange
  if (stop.aborted) return Promise.resolve(stop.reason)
  return new Promise((resolve) => {
    let outcome: SendOutcome | undefined
    const finish = (result: Result) => {
      stop.removeEventListener('abort', onStop)
      // Once there is a status, later errors do not count.
      resolve(outcome ?? result)
    }
    const onStop = () => {
      finish(stop.reason)
      request?.destroy()
    }
    const request = openRequest(url, delivery, agent)
    if (request === undefined) return finish('invalid_request')
    stop.addEventListener('abort', onStop)
    let bytesBefore = 0
    request.once('socket', ({ bytesRead }) => {
      bytesBefore = bytesRead
    })
    request.on('error', (error) => finish(reasonOf(error, request, bytesBefore)))
    request.on('close', () => finish('connection_lost'))
    limitInformation(request, () => finish('malformed_response'))
    request.on('response', (response) => {
      outcome = outcomeOf(response, performance.now() - startedAt)
      discardBody(request, response, () => finish('connection_lost'))
    })
    request.end(delivery.body)
  })
}

/** Redirects are not followed: node:http returns them like any other response. */
function openRequest(
  url: URL,
  { headers }: SendRequest,
  agent: Connections['reusing'],
): ClientRequest | undefined {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  try {
    return request(url, { method: 'POST', headers, agent, maxHeaderSize: RESPONSE_HEADERS_MAX_BYTES })
  } catch {
    return undefined
  }
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage, durationMs: number): SendOutcome {
  const retryAfterSeconds = parseRetryAfter(headers['retry-after'], Date.now())
  const response = { kind: 'response', status: statusCode, durationMs } as const
  return retryAfterSeconds === undefined ? response : { ...response, retryAfterSeconds }
}

/** Reads the body, because the connection can be reused only after its end. */
function discardBody(request: ClientRequest, response: IncomingMessage, onEnd: () => void): void {
  const timer = setTimeout(() => request.destroy(), RESPONSE_BODY_TIMEOUT_MS)
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > RESPONSE_BODY_MAX_BYTES) request.destroy()
  })
  // The body is incomplete, which does not matter.
  response.on('error', () => {})
  response.on('close', () => {
    clearTimeout(timer)
    onEnd()
  })
}

/** Ignores a few responses such as `103 Early Hints`. Rejects `101 Switching Protocols`, which the sender did not ask for. */
function limitInformation(request: ClientRequest, onFault: () => void): void {
  let count = 0
  request.on('information', () => {
    count += 1
    if (count <= INFORMATION_MAX) return
    onFault()
    request.destroy()
  })
  request.on('upgrade', (_response, socket) => {
    onFault()
    socket.destroy()
  })
}

const NO_ROUTE = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EACCES', 'EPERM'])

function reasonOf(error: Error & { code?: string }, request: ClientRequest, bytesBefore: number): Result {
  const { code = '' } = error
  const { socket } = request
  if (error instanceof ConnectionFault) return error.reason
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return request.reusedSocket && socket?.bytesRead === bytesBefore ? 'stale' : 'connection_lost'
  }
  if (code === 'ECONNREFUSED') return 'connection_refused'
  if (code === 'ETIMEDOUT') return 'timeout'
  if (NO_ROUTE.has(code)) return 'unreachable'
  if (code.startsWith('HPE_')) return 'malformed_response'
  const isUntrusted = socket !== null && 'authorizationError' in socket && socket.authorizationError !== null
  return isUntrusted || /^(EPROTO$|ERR_SSL_|ERR_TLS_)/.test(code) ? 'tls_failed' : 'connection_lost'
}

/** A user name and a password would become an Authorization header. */
function parseTarget(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.username === '' && url.password === '' ? url : undefined
}

/** Without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

// Sends JSON requests with an API key over keep-alive connections.
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { text } from 'node:stream/consumers'

export interface HttpRequest {
  method: string
  path: string
  body?: object | undefined
  headers?: Record<string, string> | undefined
}

export interface HttpResponse {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

export interface HttpClient {
  /** Rejects if no response arrives, or only a part of it. */
  send: (request: HttpRequest) => Promise<HttpResponse>
  close: () => void
}

interface HttpClientOptions {
  origin: string
  apiKey: string
  socketsMax: number
  /** Default: none. Also limits a response that arrives byte by byte, which the timeout of a socket does not. */
  timeoutMs?: number
  trusted?: TrustedServer | undefined
}

/** A server whose certificate Node does not trust, at an address that its certificate does not name. */
export interface TrustedServer {
  /** As PEM. */
  ca: string
  servername: string
}

export function openHttpClient(options: HttpClientOptions): HttpClient {
  const { origin, apiKey, socketsMax, timeoutMs, trusted } = options
  const { Agent, request } = origin.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: socketsMax, ...trusted })

  async function send({ method, path, body, headers }: HttpRequest): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const sending = request(origin + path, {
      agent,
      method,
      ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }),
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
    })
    sending.on('response', resolve).on('error', reject)
    sending.end(body && JSON.stringify(body))
    const response = await promise
    return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }
  }

  return { send, close: () => agent.destroy() }
}

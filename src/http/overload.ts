// Rejects requests beyond a max number in flight, before Fastify sees them. Rejecting is much cheaper than responding,
// so the process stays responsive under overload. Writes have a lower max, so reads continue while writes wait for a
// synchronous standby of PostgreSQL.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Connections, countRequest } from './connections.ts'
import { corsHeaders } from './cors.ts'
import { bareError } from './errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { requestId } from './request-id.ts'

const READ_METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface OverloadOptions {
  inFlightMax: number
  corsOrigins: readonly string[]
  /** Origin of the URLs in headers. If the origin is empty, the URLs start with `/`. */
  publicUrl: string
  metrics: Metrics
  /** While true, every response has `Connection: close`. */
  isDraining: () => boolean
}

/** Max number of writes among the requests in flight. */
export function writesInFlightMax(inFlightMax: number): number {
  return Math.ceil(inFlightMax * 0.75)
}

/**
 * Admits or rejects a request. Returns true if it is admitted: it then counts as in flight until its response closes.
 * Returns false if it is rejected: the 503 response has then already been sent.
 */
export type Admit = (request: IncomingMessage, response: ServerResponse) => boolean

export function overloadGuard(connections: Connections, options: OverloadOptions): Admit {
  const { inFlightMax, corsOrigins, publicUrl, metrics, isDraining } = options
  const rejection = bareError('overloaded', publicUrl)
  /** As alternating names and values, like the CORS headers. */
  const rejectionHeaders = Object.entries(rejection.headers).flat()
  const corsHeadersFor = corsHeaders(corsOrigins)
  const writesMax = writesInFlightMax(inFlightMax)

  /** Preflights are never rejected: the web page would see a network error instead of 503. */
  const isPreflight = ({ method }: IncomingMessage) => method === 'OPTIONS' && corsOrigins.length > 0

  function reject(request: IncomingMessage, response: ServerResponse): void {
    if (isDraining()) response.setHeader('connection', 'close')
    response.writeHead(rejection.status, [
      ...rejectionHeaders,
      ...corsHeadersFor(request.headers.origin),
      'x-request-id',
      requestId(request),
    ])
    response.end(rejection.json)
    // The request is not routed, so its operation is unknown. It took almost no time.
    metrics.observeRequest('none', rejection.status, 0)
    metrics.countError('overloaded')
  }

  return (request, response) => {
    const isWrite = !READ_METHODS.has(request.method)
    const isFull = connections.inFlight >= inFlightMax || (isWrite && connections.writesInFlight >= writesMax)
    if (isFull && !isPreflight(request)) {
      reject(request, response)
      return false
    }
    countRequest(connections, response, isWrite)
    return true
  }
}

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

export interface OverloadLimits {
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

/** Returns true if the request is admitted. Otherwise, the 503 response has already been sent. */
export type Admit = (request: IncomingMessage, response: ServerResponse) => boolean

export function overloadGuard(connections: Connections, limits: OverloadLimits): Admit {
  const { inFlightMax, corsOrigins, publicUrl, metrics, isDraining } = limits
  const rejection = bareError('overloaded', publicUrl)
  const rejectionHeaders = Object.entries(rejection.headers).flat()
  const writesMax = writesInFlightMax(inFlightMax)
  const headersFor = corsHeaders(corsOrigins)

  /** Preflights are never rejected: the web page would see a network error instead of 503. */
  const isPreflight = ({ method }: IncomingMessage) => method === 'OPTIONS' && corsOrigins.length > 0

  return (request, response) => {
    const isWrite = !READ_METHODS.has(request.method)
    const isFull = connections.inFlight >= inFlightMax || (isWrite && connections.writesInFlight >= writesMax)
    if (isFull && !isPreflight(request)) {
      if (isDraining()) response.setHeader('connection', 'close')
      const id = ['x-request-id', requestId(request)]
      response.writeHead(rejection.status, [
        ...rejectionHeaders,
        ...headersFor(request.headers.origin),
        ...id,
      ])
      response.end(rejection.json)
      metrics.observeRequest('none', rejection.status, 0)
      metrics.countError('overloaded')
      return false
    }
    countRequest(connections, response, isWrite)
    return true
  }
}

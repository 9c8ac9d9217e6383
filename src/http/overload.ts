// Rejects requests beyond a max number in flight, before Fastify sees them. Rejecting is much cheaper than responding,
// so the process stays responsive under overload. Writes have a lower max, so reads continue while writes wait for a
// synchronous standby of PostgreSQL.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
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

/** For each server, the listener that ends the count of a read. */
const endsOfReads = new WeakMap<Server, () => void>()

/** Ends the count of a read whose response stays open, such as a stream. */
export function stopCounting(server: Server, response: ServerResponse): void {
  const endRead = endsOfReads.get(server)
  if (endRead === undefined || !response.listeners('close').includes(endRead)) return
  response.off('close', endRead)
  endRead()
}

export function overloadGuard(server: Server, limits: OverloadLimits): Admit {
  const { inFlightMax, corsOrigins, publicUrl, metrics, isDraining } = limits
  const rejection = bareError('overloaded', publicUrl)
  const rejectionHeaders = Object.entries(rejection.headers).flat()
  const writesMax = writesInFlightMax(inFlightMax)
  let inFlight = 0
  let writes = 0
  const endRead = () => {
    inFlight -= 1
  }
  const endWrite = () => {
    inFlight -= 1
    writes -= 1
  }
  endsOfReads.set(server, endRead)
  const headersFor = corsHeaders(corsOrigins)

  /** Preflights are never rejected: the web page would see a network error instead of 503. */
  const isPreflight = ({ method }: IncomingMessage) => method === 'OPTIONS' && corsOrigins.length > 0

  return (request, response) => {
    const isWrite = !READ_METHODS.has(request.method)
    const isFull = inFlight >= inFlightMax || (isWrite && writes >= writesMax)
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
    inFlight += 1
    if (isWrite) writes += 1
    // The event also fires if the client closes the connection before the response.
    response.on('close', isWrite ? endWrite : endRead)
    return true
  }
}

// Limits for pages. They need no API key and may be large, so slow clients must block neither the API nor the pages of others.
import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { clientAddress } from '../http/client-address.ts'
import { networkOf } from '../values/ip-address.ts'

export interface PageLimits {
  /** Max requests for pages and files in flight. A further request ends one of them. */
  inFlightMax: number
  /** Timeout for sending a response, after which the connection is closed. */
  takenWithinMs: number
}

/**
 * Pages can use one eighth of the limit for all requests in flight. One minute is enough to download the largest file,
 * compressed, at 20 kB/s.
 */
export const PAGE_LIMITS: PageLimits = { inFlightMax: 100, takenWithinMs: 60_000 }

/**
 * Admits every request, and ends a download if there are too many. If the new request were rejected instead, 100 slow
 * downloads would make the console unavailable. A page leaves at once: only files that exceed the buffers of the socket
 * stay in flight.
 */
export function limitPages(app: FastifyInstance, { inFlightMax, takenWithinMs }: PageLimits): void {
  /** The network of each client, the oldest response first. */
  const inFlight = new Map<ServerResponse, string>()

  app.addHook('onRequest', (request, { raw: response }, done) => {
    if (inFlight.size >= inFlightMax) endOne(inFlight)
    inFlight.set(response, networkOf(clientAddress(request)))
    const timer = setTimeout(() => response.destroy(), takenWithinMs).unref()
    // `close` is also emitted if the client disconnects.
    response.once('close', () => {
      inFlight.delete(response)
      clearTimeout(timer)
    })
    done()
  })
}

/** Ends the oldest response of the network with the most responses, so that one client does not end those of others. */
function endOne(inFlight: Map<ServerResponse, string>): void {
  const counts = new Map<string, number>()
  for (const network of inFlight.values()) counts.set(network, (counts.get(network) ?? 0) + 1)
  const most = Math.max(...counts.values())
  for (const [response, network] of inFlight) {
    if (counts.get(network) !== most) continue
    inFlight.delete(response)
    response.destroy()
    return
  }
}

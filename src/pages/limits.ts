// Limits for pages. They need no API key and may be large, so slow clients must not block requests to the API.
// Knows nothing about the content of the pages.
import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors.ts'

export interface PageLimits {
  /** Max requests for pages and files in flight; further requests are rejected with 503. */
  inFlightMax: number
  /** Timeout for sending a response, after which the connection is closed. */
  takenWithinMs: number
}

/**
 * Pages can use one eighth of the limit for all requests in flight. One minute is enough to download the largest file,
 * compressed, at 20 kB/s.
 */
export const PAGE_LIMITS: PageLimits = { inFlightMax: 100, takenWithinMs: 60_000 }

export function limitPages(app: FastifyInstance, { inFlightMax, takenWithinMs }: PageLimits): void {
  let inFlight = 0

  app.addHook('onRequest', (_request, reply, done) => {
    if (inFlight >= inFlightMax) return done(new AppError('overloaded'))
    inFlight += 1
    const timer = setTimeout(() => reply.raw.destroy(), takenWithinMs).unref()
    // `close` is also emitted if the client disconnects.
    reply.raw.once('close', () => {
      inFlight -= 1
      clearTimeout(timer)
    })
    done()
  })
}

// Anybody may ask for pages, and some are large. Readers who take their time must leave room for whoever asks for data.
import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors.ts'

export interface PageLimits {
  /** How many pages and files may be under way before the next is answered 503. */
  inFlightMax: number
  /** How long a reader may take for one; then the connection is closed. */
  takenWithinMs: number
}

/** An eighth of all requests that may be under way, and a minute: the largest file then needs 20 kB a second. */
export const PAGE_LIMITS: PageLimits = { inFlightMax: 100, takenWithinMs: 60_000 }

export function limitPages(app: FastifyInstance, { inFlightMax, takenWithinMs }: PageLimits): void {
  let inFlight = 0

  app.addHook('onRequest', (_request, reply, done) => {
    if (inFlight >= inFlightMax) return done(new AppError('overloaded'))
    inFlight += 1
    const late = setTimeout(() => reply.raw.destroy(), takenWithinMs).unref()
    // Also where the reader went away.
    reply.raw.once('close', () => {
      inFlight -= 1
      clearTimeout(late)
    })
    done()
  })
}

// Responds with 503 to requests that have no response after a timeout. One timer checks all requests in flight.
// Fastify's `handlerTimeout` creates a timer and a signal per request. They took a fifteenth of the time of a read.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { AppError } from '../errors.ts'

const CHECKED_EVERY_MS = 1_000
const WRITE_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export function limitResponseTime(app: FastifyInstance, timeoutMs: number): void {
  /** Responses in the order in which the requests arrived, so the oldest come first. */
  const inFlight = new Set<FastifyReply>()

  app.addHook('onRequest', (_request, reply, done) => {
    inFlight.add(reply)
    done()
  })
  app.addHook('onResponse', (_request, reply, done) => {
    inFlight.delete(reply)
    done()
  })

  function endTimedOut(): void {
    for (const reply of inFlight) {
      if (reply.elapsedTime < timeoutMs) return
      // Delete the reply even if it was sent: if the client has closed the connection, onResponse may never run.
      inFlight.delete(reply)
      if (reply.sent) continue
      const isWrite = WRITE_METHODS.has(reply.request.method)
      reply.send(new AppError(isWrite ? 'outcome_unknown' : 'unavailable'))
    }
  }

  const timer = setInterval(endTimedOut, Math.min(CHECKED_EVERY_MS, timeoutMs)).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

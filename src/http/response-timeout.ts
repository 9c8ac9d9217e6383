// No request waits for ever: one that has no answer yet when its time is over gets one.
// One timer watches them all. Fastify's own `handlerTimeout` makes a timer and a signal for each request, which
// took a fifteenth of the time of a read.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { AppError } from '../errors.ts'

const CHECKED_EVERY_MS = 1_000
const CHANGING_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export function limitResponseTime(app: FastifyInstance, mostMs: number): void {
  /** In the sequence of their arrival, so the oldest come first. */
  const inFlight = new Set<FastifyReply>()

  app.addHook('onRequest', (_request, reply, done) => {
    inFlight.add(reply)
    done()
  })
  app.addHook('onResponse', (_request, reply, done) => {
    inFlight.delete(reply)
    done()
  })

  function endOldOnes(): void {
    for (const reply of inFlight) {
      if (reply.elapsedTime < mostMs) return
      // Also when it was answered: a client who went away leaves no other sign.
      inFlight.delete(reply)
      if (reply.sent) continue
      const changing = CHANGING_METHODS.has(reply.request.method)
      reply.send(new AppError(changing ? 'outcome_unknown' : 'unavailable'))
    }
  }

  const timer = setInterval(endOldOnes, Math.min(CHECKED_EVERY_MS, mostMs)).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

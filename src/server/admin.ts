// The listener for operators: whether the process lives, whether it may be sent requests, and its figures.
import fastify, { type FastifyInstance } from 'fastify'
import { sendClientError, sendError } from '../http/errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { DATA_HEADERS } from '../http/security-headers.ts'
import { rejectUnknownRoutes } from '../http/unknown-routes.ts'

export interface Readiness {
  ready: boolean
  /** In words, for the person who asks why not. */
  reason: string
}

export interface AdminOptions {
  metrics: Metrics
  readiness: () => Readiness
}

export function buildAdminApp({ metrics, readiness }: AdminOptions): FastifyInstance {
  const app = fastify({ logger: false, forceCloseConnections: true, clientErrorHandler: sendClientError })
  app.setErrorHandler(sendError)
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(DATA_HEADERS)
  })
  rejectUnknownRoutes(app)

  // Never asks the database: a failover must not make an orchestrator restart every instance.
  app.get('/live', async () => ({ live: true }))

  app.get('/ready', async (_request, reply) => {
    const state = readiness()
    return reply.code(state.ready ? 200 : 503).send(state)
  })

  app.get('/metrics', async (_request, reply) => {
    reply.type(metrics.registry.contentType)
    return metrics.registry.metrics()
  })

  return app
}

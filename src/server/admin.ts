// The admin endpoints for operators: liveness, readiness and metrics.
// The admin endpoints have a port of their own.
import fastify, { type FastifyInstance } from 'fastify'
import { clientErrorSender, errorSender } from '../http/errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { DATA_HEADERS } from '../http/security-headers.ts'
import { rejectUnknownRoutes } from '../http/unknown-routes.ts'

export interface Readiness {
  ready: boolean
  /** Why the process is ready or not ready, as text for operators. */
  reason: string
}

export interface AdminOptions {
  metrics: Pick<Metrics, 'registry'>
  readiness: () => Readiness
}

export function buildAdminApp({ metrics, readiness }: AdminOptions): FastifyInstance {
  // The admin port has no page of errors.
  const clientErrorHandler = clientErrorSender(undefined)
  const app = fastify({ logger: false, forceCloseConnections: true, clientErrorHandler })
  app.setErrorHandler(errorSender(undefined))
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(DATA_HEADERS)
  })
  rejectUnknownRoutes(app)

  // Does not query the database, so that an orchestrator does not restart every instance during a failover.
  app.get('/live', async () => ({ live: true }))

  app.get('/ready', async (_request, reply) => {
    const state = readiness()
    return reply.code(state.ready ? 200 : 503).send(state)
  })

  app.get('/metrics', async ({ headers }, reply) => {
    if (headers.accept?.includes('application/json')) return metrics.registry.getMetricsAsJSON()
    reply.type(metrics.registry.contentType)
    return metrics.registry.metrics()
  })

  return app
}

// One line and one measurement for every answered request.
import type { FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    'x-sunset'?: string
  }
}

export function logRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { schema, url: route } = request.routeOptions
    const operation = schema?.operationId ?? 'none'
    metrics.observeRequest(operation, reply.statusCode, reply.elapsedTime / 1000)
    // The route, not the address: a query string may hold anything.
    request.log.info(
      {
        requestId: request.id,
        method: request.method,
        route,
        operation,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        // As a number: the log would take ten times as long over a bigint.
        apiKeyId: request.caller === null ? undefined : Number(request.caller.id),
      },
      'request',
    )
    done()
  })
}

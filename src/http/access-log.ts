// One line and one measurement for every answered request.
import type { FastifyInstance } from 'fastify'
import { type Log, timeNow } from '../telemetry/log.ts'
import { clientAddress } from './client-address.ts'
import type { Metrics } from '../telemetry/metrics.ts'

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    'x-sunset'?: string
  }
}

const INFO = 30

interface AccessLogOptions {
  log: Log
  metrics: Metrics
  logClientAddress: boolean
}

export function logRequests(
  app: FastifyInstance,
  { log, metrics, logClientAddress }: AccessLogOptions,
): void {
  if (logClientAddress) {
    app.addHook('onRequest', (request, _reply, done) => {
      // A socket remembers its address only if it was read before the connection was lost.
      void request.raw.socket.remoteAddress
      done()
    })
  }
  app.addHook('onResponse', (request, reply, done) => {
    const { schema, url: route } = request.routeOptions
    const operation = schema?.operationId ?? 'none'
    const ms = reply.elapsedTime
    metrics.observeRequest(operation, reply.statusCode, ms / 1000)
    if (log.isLevelEnabled('info')) {
      // Put together by hand, which takes a third of what the logger would. The request id was checked when it
      // came in, and all else is a number or our own word; the route, not the address, which may hold anything.
      log.writeLine(
        `{"level":${INFO},"time":"${timeNow()}","requestId":"${request.id}","method":"${request.method}",` +
          (route === undefined ? '' : `"route":"${route}",`) +
          `"operation":"${operation}","status":${reply.statusCode},"ms":${Math.round(ms * 10) / 10},` +
          (request.caller === null ? '' : `"apiKeyId":${request.caller.id},`) +
          (logClientAddress ? `"clientAddress":"${clientAddress(request)}",` : '') +
          '"msg":"request"}',
      )
    }
    done()
  })
}

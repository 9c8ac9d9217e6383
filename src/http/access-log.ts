// Writes one log line and records one metric for every response.
// Logs the route pattern, never the URL, headers or body.
import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify'
import type { ErrorCode } from '../contract/errors.ts'
import { type Log, timeNow } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Tracing } from '../telemetry/tracing/tracing.ts'
import { clientAddress } from './client-address.ts'

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    'x-sunset'?: string
  }
  interface FastifyRequest {
    /** The code of the error response; null without an error. */
    errorCode: ErrorCode | null
  }
}

const INFO = 30

interface AccessLogOptions {
  log: Log
  metrics: Metrics
  logClientAddress: boolean
  tracing?: Tracing | undefined
}

export function logRequests(
  app: FastifyInstance,
  { log, metrics, logClientAddress, tracing }: AccessLogOptions,
): void {
  app.decorateRequest('errorCode', null)
  if (logClientAddress) {
    app.addHook('onRequest', (request, _reply, done) => {
      // Node caches the address when it is first read. After the connection is lost, only the cached address remains.
      void request.raw.socket.remoteAddress
      done()
    })
  }

  /** `on`: the event that calls this function. A stream is recorded when it closes, any other response when it finishes. */
  function record(request: FastifyRequest, reply: FastifyReply, on: 'finish' | 'close'): void {
    const { schema, url: route, config } = request.routeOptions
    const isStream = config.isStream === true && reply.statusCode === 200
    if (isStream !== (on === 'close')) return
    const operation = schema?.operationId ?? 'none'
    const ms = reply.elapsedTime
    if (!isStream) metrics.observeRequest(operation, reply.statusCode, ms / 1000)
    if (request.errorCode !== null) metrics.countError(request.errorCode)
    if (log.isLevelEnabled('info')) {
      // String concatenation takes a third of the time of Pino. No value needs escaping: request-id.ts validates
      // the request id, and the other values are numbers, IP addresses or constants such as the route pattern.
      log.writeLine(
        `{"level":${INFO},"time":"${timeNow()}","requestId":"${request.id}","method":"${request.method}",` +
          (route === undefined ? '' : `"route":"${route}",`) +
          `"operation":"${operation}","status":${reply.statusCode},"ms":${Math.round(ms * 10) / 10},` +
          (request.caller === null ? '' : `"apiKeyId":${request.caller.id},`) +
          (tracing === undefined ? '' : `"traceId":"${request.trace?.traceId}",`) +
          (logClientAddress ? `"clientAddress":"${clientAddress(request)}",` : '') +
          '"msg":"request"}',
      )
    }
  }

  app.addHook('onResponse', (request, reply, done) => {
    record(request, reply, 'finish')
    done()
  })
  // If the client closes the connection of a stream, Fastify does not call onResponse.
  app.addHook('onRoute', (route) => {
    if (route.config?.isStream !== true) return
    const recordOnClose: preHandlerHookHandler = (request, reply, done) => {
      reply.raw.once('close', () => record(request, reply, 'close'))
      done()
    }
    route.preHandler = [recordOnClose, ...[route.preHandler ?? []].flat()]
  })
}

// The HTTP server under Fastify. Every request passes the same checks before Fastify routes it. This includes requests
// with an Expect header, for which Node emits another event instead of 'request'.
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { connectionsOf, noteRequest } from './connections.ts'
import { clientErrorSender } from './errors.ts'
import { overloadGuard, type OverloadLimits } from './overload.ts'
import { resetStalledConnections } from './stalled-responses.ts'

export interface ServerLimits extends OverloadLimits {
  connectionsMax: number
  /** A connection is reset if its client accepts no bytes of the response for this long. */
  stalledAfterMs: number
  http: ServerOptions
}

export function openServer(route: RequestListener, limits: ServerLimits): Server {
  const server = createServer(limits.http)
  server.maxConnections = limits.connectionsMax
  const admit = overloadGuard(connectionsOf(server), limits)
  const serve =
    (awaitsContinue: boolean): RequestListener =>
    (request, response) => {
      noteRequest(request, response)
      if (!admit(request, response)) return
      if (awaitsContinue) response.writeContinue()
      route(request, response)
    }
  server.on('request', serve(false))
  // By default, Node rejects an unknown expectation with an empty body. A server may ignore the expectation (RFC 9110).
  server.on('checkExpectation', serve(false))
  server.on('checkContinue', serve(true))
  const sendClientError = clientErrorSender(limits.publicUrl)
  server.on('connect', (_request, socket) => sendClientError(new Error('CONNECT'), socket as Socket))
  resetStalledConnections(server, limits.stalledAfterMs)
  return server
}

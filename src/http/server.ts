// The HTTP server under Fastify. Every request passes the same checks before Fastify routes it. This includes requests
// with an Expect header, for which Node emits another event instead of 'request'.
import { createServer, type RequestListener, type Server, type ServerOptions as NodeOptions } from 'node:http'
import type { Socket } from 'node:net'
import { connectionsOf, noteRequest } from './connections.ts'
import { clientErrorSender } from './errors.ts'
import { type Admit, overloadGuard, type OverloadOptions } from './overload.ts'
import { resetStalledConnections } from './stalled-responses.ts'

/** How long the client of a CONNECT request has to read its response and to close the connection. */
const CLOSED_AFTER_MS = 1_000

export interface ServerOptions extends OverloadOptions {
  connectionsMax: number
  /** A connection is reset if its client accepts no bytes of the response for this long. */
  stalledAfterMs: number
  /** Passed to Node as they are. */
  http: NodeOptions
}

/** `route` is the handler of Fastify. Fastify itself adds the listener for malformed HTTP. */
export function openServer(route: RequestListener, options: ServerOptions): Server {
  const server = createServer(options.http)
  server.maxConnections = options.connectionsMax
  const admit = overloadGuard(connectionsOf(server), options)

  /** If it returns false, the request has got 503. */
  const isAdmitted: Admit = (request, response) => {
    noteRequest(request, response)
    return admit(request, response)
  }
  const serve: RequestListener = (request, response) => {
    if (isAdmitted(request, response)) route(request, response)
  }

  server.on('request', serve)
  // By default, Node rejects an unknown expectation with an empty body. A server may ignore the expectation (RFC 9110).
  server.on('checkExpectation', serve)
  // The client sends its body only after `100 Continue`.
  server.on('checkContinue', (request, response) => {
    if (!isAdmitted(request, response)) return
    response.writeContinue()
    route(request, response)
  })
  // CONNECT is rejected as malformed_request (400). Node provides no response for it, only the socket.
  const rejectMalformed = clientErrorSender(options.publicUrl)
  server.on('connect', (_request, socket) => {
    rejectMalformed(new Error('CONNECT'), socket as Socket)
    closeSoon(socket as Socket)
  })
  resetStalledConnections(server, options.stalledAfterMs)
  return server
}

/**
 * Node has left the socket of a CONNECT request to us: it neither reads it nor closes it after a timeout. Discards what the
 * client still sends, so that the client can read the response, and then closes the connection.
 */
function closeSoon(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), CLOSED_AFTER_MS)
  socket.once('close', () => clearTimeout(timer))
  socket.resume()
}

// Starts a span for every request, and ends it with the response. The names follow the stable conventions of OpenTelemetry
// for HTTP. A span never contains a query string, a header except User-Agent, a body or an API key.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Attributes, endSpan, type Trace, type Tracing } from '../telemetry/tracing/tracing.ts'
import { containsApiKey } from './request-id.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined if tracing is off. */
    trace?: Trace | null
  }
}

/** A longer User-Agent is left out. */
const USER_AGENT_MAX = 128
const KNOWN_METHODS = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
])

/** Call this function before you add other hooks, so that their work belongs to the span. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.decorateRequest('trace', null)
  app.addHook('onRequest', (request, reply, done) => {
    const trace = tracing.startRequest(nameOf(request), request.headers)
    request.trace = trace
    // The hook onResponse does not run if the client closes the connection before the response.
    if (trace.span !== undefined) reply.raw.once('close', () => endRequestSpan(request, reply))
    // Fastify keeps this context while it reads the body.
    tracing.run(trace.span, done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    endRequestSpan(request, reply)
    done()
  })
}

/** Does nothing if the request is not sampled, or if its span has ended. A stream calls it as soon as it has begun. */
export function endRequestSpan(request: FastifyRequest, reply: FastifyReply): void {
  const span = request.trace?.span
  if (span?.isRecording() !== true) return
  span.setAttributes(attributesOf(request, reply))
  const hasFailed = reply.raw.headersSent && reply.statusCode >= 500
  endSpan(span, hasFailed ? (request.errorCode ?? String(reply.statusCode)) : undefined)
}

/** Node rejects methods that it does not know, but knows many that no route has. */
function methodOf({ method }: FastifyRequest): string {
  return KNOWN_METHODS.has(method) ? method : '_OTHER'
}

function nameOf(request: FastifyRequest): string {
  const method = KNOWN_METHODS.has(request.method) ? request.method : 'HTTP'
  const route = request.routeOptions.url
  return route === undefined ? method : `${method} ${route}`
}

function attributesOf(request: FastifyRequest, reply: FastifyReply): Attributes {
  const userAgent = request.headers['user-agent'] ?? ''
  const [path = '/'] = request.url.split(/[?#]/, 1)
  const isShown = userAgent !== '' && userAgent.length <= USER_AGENT_MAX && !containsApiKey(userAgent)
  return {
    'http.request.method': methodOf(request),
    'http.route': request.routeOptions.url,
    'url.path': containsApiKey(path) ? undefined : path,
    'url.scheme': request.protocol,
    'server.address': request.hostname || undefined,
    'server.port': request.port ?? undefined,
    'user_agent.original': isShown ? userAgent : undefined,
    'http.response.status_code': reply.raw.headersSent ? reply.statusCode : undefined,
    'petstore.operation': request.routeOptions.schema?.operationId,
    'petstore.request_id': request.id,
  }
}

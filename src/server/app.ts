// The application: every route, and the hooks and limits around them.
import type { IncomingMessage } from 'node:http'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import type { VerifyApiKey } from '../access/api-keys/api-keys.ts'
import { describeOtherEnvironment } from '../access/api-keys/format.ts'
import type { Usage } from '../access/api-keys/usage.ts'
import { signInRoutes, type SignInServices } from '../access/sign-in/routes.ts'
import { AppError } from '../contract/errors.ts'
import type { FreshHolds } from '../contract/fresh-holds.ts'
import { RESPONSE_TIMEOUT_MS } from '../db/connection/deadlines.ts'
import { logRequests } from '../http/access-log.ts'
import { authenticate, authorise, requireDeclaredScope } from '../http/authentication.ts'
import { allowOrigins } from '../http/cors.ts'
import { makeDecodable } from '../http/decodable-url.ts'
import { clientErrorSender, errorSender } from '../http/errors.ts'
import { showFreshHolds } from '../http/fresh-holds.ts'
import { countHeader } from '../http/headers.ts'
import { acceptJsonBodies, BODY_LIMIT_BYTES } from '../http/json-body.ts'
import { returnNotModified } from '../http/conditional-reads.ts'
import { documentErrors, requireDeclaredRetry, withSchemaTypes } from '../http/operation.ts'
import { addressLimiter, callerLimiter } from '../http/rate-limit.ts'
import { requestId } from '../http/request-id.ts'
import { limitResponseBytes } from '../http/response-bytes.ts'
import { limitResponseTime } from '../http/response-timeout.ts'
import { DATA_HEADERS } from '../http/security-headers.ts'
import { rejectUndeclared } from '../http/strict-requests.ts'
import { buildSerializer } from '../http/serialization.ts'
import { openServer, type ServerOptions } from '../http/server.ts'
import { STALLED_AFTER_MS } from '../http/stalled-responses.ts'
import { traceRequests } from '../http/tracing.ts'
import { rejectUnknownRoutes } from '../http/unknown-routes.ts'
import { buildValidator } from '../http/validation.ts'
import { PAGE_LIMITS, type PageLimits } from '../pages/limits.ts'
import { notFoundPage } from '../pages/not-found-page.ts'
import { pageRoutes } from '../pages/routes.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Tracing } from '../telemetry/tracing/tracing.ts'
import { OPERATIONS, type Services } from './features.ts'
import { describeInterface } from './openapi.ts'

export const HEADERS_TIMEOUT_MS = 5_000
export const REQUEST_TIMEOUT_MS = 10_000
/** Longer than the usual idle timeout of a load balancer (60 s), so that the load balancer closes connections first. */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000
/**
 * Max number of requests in flight. Further requests are rejected with 503. A process handles this many requests in a
 * fifth of a second. A rejection takes a third of the time of a normal response. With a max of 400, an overloaded process
 * spent half of its time on rejections.
 */
export const REQUESTS_IN_FLIGHT_MAX = 800
/** Max number of open connections. Further connections are closed at once. */
export const CONNECTIONS_MAX = 2_000
const CONNECTIONS_CHECKED_EVERY_MS = 1_000
export const HEADERS_LIMIT_BYTES = 16_384

export type AppOptions = Services &
  SignInServices & {
    verifyApiKey: VerifyApiKey
    holds: FreshHolds
    usage: Usage
    rateLimitPerSecond: number
    corsOrigins: readonly string[]
    trustProxy: readonly string[]
    logClientAddress: boolean
    /** Max requests per second that fail authentication from one client address; 0 means no limit. */
    unauthenticatedLimitPerSecond: number
    /** A request without a response after this time gets 503. Default: RESPONSE_TIMEOUT_MS. */
    responseTimeoutMs?: number
    /** Max time to receive the headers of a request. Default: HEADERS_TIMEOUT_MS. */
    headersTimeoutMs?: number
    /** Max time to receive a request. Default: REQUEST_TIMEOUT_MS. */
    requestTimeoutMs?: number
    /** Max number of requests in flight; further requests get 503. Default: REQUESTS_IN_FLIGHT_MAX. */
    inFlightMax?: number
    /** A connection is reset if its client accepts no bytes of the response for this long. Default: STALLED_AFTER_MS. */
    stalledAfterMs?: number
    pageLimits?: PageLimits
    /** While true, every response has `Connection: close`. */
    isDraining: () => boolean
    metrics: Metrics
    log: Log
    /** Undefined if tracing is off. */
    tracing?: Tracing | undefined
  }

export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const app = openFastify(options)
  app.decorateRequest('caller', null)
  app.setErrorHandler(errorSender(options.publicUrl))
  if (options.tracing !== undefined) traceRequests(app, options.tracing)
  logRequests(app, options)
  limitResponseTime(app, options.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS)
  // Synchronous hooks use a callback, because promises took a tenth of the time of a request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done(isWellFormed(request.raw) ? undefined : new AppError('malformed_request'))
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (options.isDraining()) reply.header('connection', 'close')
    done()
  })
  // Otherwise, app.close() would wait until all clients have closed their streams, and have read their exports.
  app.addHook('preClose', async () => {
    options.eventStreams.close()
    options.petExports.close()
  })
  await allowOrigins(app, options.corsOrigins)
  await describeInterface(app, options.publicUrl)
  const showErrors = errorSender(options.publicUrl, notFoundPage())
  await app.register((pages) => {
    pages.setErrorHandler(showErrors)
    return pageRoutes(pages, options.pageLimits ?? PAGE_LIMITS, options.settings)
  })
  await app.register(
    (auth) => {
      auth.setErrorHandler(showErrors)
      return signInRoutes(auth, options)
    },
    { prefix: '/auth' },
  )
  await app.register((v1) => v1Routes(v1, options), { prefix: '/v1' })
  await app.ready()
  return app
}

/** Fastify with our server, limits, log and compilers, still without hooks and routes. */
function openFastify(options: AppOptions): FastifyInstance {
  const app = fastify({
    loggerInstance: options.log,
    // access-log.ts logs requests instead.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    bodyLimit: BODY_LIMIT_BYTES,
    serverFactory: (route) => openServer(route, serverOptions(options)),
    return503OnClosing: false,
    // No path parameter can exceed this limit, so an id that is too long returns 404 instead of 414.
    routerOptions: { maxParamLength: HEADERS_LIMIT_BYTES },
    rewriteUrl: ({ url = '/' }) => makeDecodable(url),
    clientErrorHandler: clientErrorSender(options.publicUrl),
    // The casts are necessary, because Fastify's types describe only its default compilers.
    schemaController: {
      compilersFactory: {
        buildValidator: buildValidator as never,
        buildSerializer: buildSerializer as never,
      },
    },
  }) as unknown as FastifyInstance
  // A child logger for each request costs more than the log line itself. The log lines include the request id instead.
  app.setChildLoggerFactory((logger) => logger)
  return app
}

function serverOptions(options: AppOptions): ServerOptions {
  return {
    ...options,
    inFlightMax: options.inFlightMax ?? REQUESTS_IN_FLIGHT_MAX,
    stalledAfterMs: options.stalledAfterMs ?? STALLED_AFTER_MS,
    connectionsMax: CONNECTIONS_MAX,
    http: {
      requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      headersTimeout: options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECKED_EVERY_MS,
      maxHeaderSize: HEADERS_LIMIT_BYTES,
      // If a request has no Host header, Node would respond without a body. A hook of `buildApp` sends an error body.
      requireHostHeader: false,
    },
  }
}

/**
 * Adds the routes under /v1. Unknown paths require a key too, so that a client without a key cannot find out which
 * paths exist.
 */
async function v1Routes(app: FastifyInstance, options: AppOptions): Promise<void> {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(DATA_HEADERS)
    done()
  })
  const { unauthenticatedLimitPerSecond: failuresMax, environment } = options
  const failureLimiter = failuresMax > 0 ? addressLimiter(failuresMax) : undefined
  const limitRate = callerLimiter(options.rateLimitPerSecond)
  const explainInvalidApiKey = (text: string) => describeOtherEnvironment(text, environment)
  app.addHook('onRequest', authenticate({ ...options, explainInvalidApiKey, limitRate, failureLimiter }))
  app.addHook('onRequest', authorise)
  acceptJsonBodies(app)
  limitResponseBytes(app, options.responseBytes)
  rejectUnknownRoutes(app)
  requireDeclaredScope(app)
  requireDeclaredRetry(app)
  rejectUndeclared(app)
  showFreshHolds(app, options.holds)
  documentErrors(app)
  returnNotModified(app)
  const v1 = withSchemaTypes(app)
  for (const addOperation of OPERATIONS) addOperation(v1, options)
}

/**
 * Returns false for requests that violate RFC 9112 although Node accepts them: HTTP/0.9, several Host headers, or no
 * Host header in HTTP/1.1.
 */
function isWellFormed(request: IncomingMessage): boolean {
  const hosts = countHeader(request, 'host')
  return request.httpVersion === '1.1' ? hosts === 1 : request.httpVersion === '1.0' && hosts <= 1
}

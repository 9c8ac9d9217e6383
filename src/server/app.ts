// The application: every route by name, and what surrounds them. No port, no signal, no environment.
import type { IncomingMessage } from 'node:http'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import type { VerifyApiKey } from '../api-keys/api-keys.ts'
import {
  type ApiKeyServices,
  createApiKeyRoute,
  getOwnApiKeyRoute,
  listApiKeysRoute,
  revokeApiKeyRoute,
  rotateApiKeyRoute,
} from '../api-keys/routes.ts'
import type { Usage } from '../api-keys/usage.ts'
import { type CategoryServices, listCategoriesRoute, putCategoryRoute } from '../categories/routes.ts'
import { RESPONSE_TIMEOUT_MS } from '../deadlines.ts'
import { AppError } from '../errors.ts'
import { getPetHistoryRoute, type HistoryServices } from '../history/routes.ts'
import { getInventoryRoute, type InventoryServices } from '../inventory/routes.ts'
import type { Log } from '../telemetry/log.ts'
import {
  cancelOrderRoute,
  completeOrderRoute,
  getOrderRoute,
  listOrdersRoute,
  type OrderServices,
  placeOrderRoute,
} from '../orders/routes.ts'
import {
  createPetRoute,
  deletePetRoute,
  getPetRoute,
  listPetsRoute,
  type PetServices,
  updatePetRoute,
} from '../pets/routes.ts'
import { logRequests } from '../http/access-log.ts'
import { authenticate, authorise, requireScope } from '../http/authentication.ts'
import { allowOrigins } from '../http/cors.ts'
import { sendClientError, sendError } from '../http/errors.ts'
import { acceptJsonBodies, BODY_LIMIT_BYTES } from '../http/json-body.ts'
import { makeDecodable } from '../http/decodable-url.ts'
import { countHeader } from '../http/headers.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { describeInterface } from './openapi.ts'
import { documentErrors, withSchemaTypes } from '../http/operation.ts'
import { pageRoutes } from '../pages/routes.ts'
import { PAGE_LIMITS, type PageLimits } from '../pages/limits.ts'
import { rateLimiter } from '../http/rate-limit.ts'
import { requestId } from '../http/request-id.ts'
import { DATA_HEADERS } from '../http/security-headers.ts'
import { openServer } from '../http/server.ts'
import { STALLED_AFTER_MS } from '../http/stalled-responses.ts'
import { limitResponseTime } from '../http/response-timeout.ts'
import { unauthenticatedLimiter } from '../http/unauthenticated-limit.ts'
import { buildSerializer } from '../http/serialization.ts'
import { rejectUnknownRoutes } from '../http/unknown-routes.ts'
import { buildValidator } from '../http/validation.ts'

export const HEADERS_TIMEOUT_MS = 5_000
export const REQUEST_TIMEOUT_MS = 10_000
/** Longer than the usual 60 s of a balancer: the side that closes first must not be ours. */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000
/**
 * More requests at a time than this are refused. Answered one after the other, these take a fifth of a second. With
 * half as many, a flood left the process refusing half of its time: a refusal costs a third of an answer.
 */
export const REQUESTS_IN_FLIGHT_MAX = 800
/** Beyond it a new connection is closed at once. */
export const CONNECTIONS_MAX = 2_000
const CONNECTIONS_CHECKED_EVERY_MS = 1_000
export const HEADERS_LIMIT_BYTES = 16_384

/** The table of contents of /v1. */
export const OPERATIONS = [
  listPetsRoute,
  createPetRoute,
  getPetRoute,
  updatePetRoute,
  deletePetRoute,
  getPetHistoryRoute,
  listCategoriesRoute,
  putCategoryRoute,
  placeOrderRoute,
  listOrdersRoute,
  getOrderRoute,
  completeOrderRoute,
  cancelOrderRoute,
  getInventoryRoute,
  getOwnApiKeyRoute,
  listApiKeysRoute,
  createApiKeyRoute,
  rotateApiKeyRoute,
  revokeApiKeyRoute,
]

export interface AppOptions
  extends ApiKeyServices,
    CategoryServices,
    HistoryServices,
    InventoryServices,
    OrderServices,
    PetServices {
  verifyApiKey: VerifyApiKey
  usage: Usage
  rateLimitPerSecond: number
  corsOrigins: readonly string[]
  trustProxy: readonly string[]
  logClientAddress: boolean
  /** Requests per second and client address that may fail authentication; 0 is no limit. */
  unauthenticatedLimitPerSecond: number
  /** How long a request may take before it is answered 503. */
  responseTimeoutMs?: number
  /** How many requests may be under way before the next is answered 503. */
  inFlightMax?: number
  /** How long a client may accept nothing of its response before its connection is reset. */
  stalledAfterMs?: number
  pageLimits?: PageLimits
  /** While true, every answer asks the client to close its connection. */
  isDraining: () => boolean
  metrics: Metrics
  log: Log
}

export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: options.log,
    // Our own line for each request is in access-log.ts.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    bodyLimit: BODY_LIMIT_BYTES,
    serverFactory: (route) =>
      openServer(route, {
        ...options,
        inFlightMax: options.inFlightMax ?? REQUESTS_IN_FLIGHT_MAX,
        stalledAfterMs: options.stalledAfterMs ?? STALLED_AFTER_MS,
        connectionsMax: CONNECTIONS_MAX,
        http: {
          requestTimeout: REQUEST_TIMEOUT_MS,
          keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
          headersTimeout: HEADERS_TIMEOUT_MS,
          connectionsCheckingInterval: CONNECTIONS_CHECKED_EVERY_MS,
          maxHeaderSize: HEADERS_LIMIT_BYTES,
          // Node would answer with an empty body; the hook below does it in our shape.
          requireHostHeader: false,
        },
      }),
    return503OnClosing: false,
    // The longest address that fits into the headers is a parameter too: 404, not 414.
    routerOptions: { maxParamLength: HEADERS_LIMIT_BYTES },
    rewriteUrl: ({ url = '/' }) => makeDecodable(url),
    clientErrorHandler: sendClientError,
    // Its type speaks of Ajv's own compiler; Fastify calls it with the route's schema and part.
    schemaController: {
      compilersFactory: {
        buildValidator: buildValidator as never,
        buildSerializer: buildSerializer as never,
      },
    },
  }) as unknown as FastifyInstance

  // A logger of its own for each request would cost more than its line: the lines name the request instead.
  app.setChildLoggerFactory((logger) => logger)

  app.decorateRequest('caller', null)
  app.setErrorHandler(sendError)
  logRequests(app, options)
  limitResponseTime(app, options.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS)
  // Hooks that wait for nothing take a callback: a promise for each would cost a tenth of a request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done(isWellFormed(request.raw) ? undefined : new AppError('malformed_request'))
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (options.isDraining()) reply.header('connection', 'close')
    done()
  })
  await allowOrigins(app, options.corsOrigins)
  await describeInterface(app)
  await app.register((pages) => pageRoutes(pages, options.pageLimits ?? PAGE_LIMITS))
  await app.register((v1) => v1Routes(v1, options), { prefix: '/v1' })
  await app.ready()
  return app
}

/** Everything that needs a key: also what does not exist, so that nobody without one learns which paths do. */
async function v1Routes(app: FastifyInstance, options: AppOptions): Promise<void> {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(DATA_HEADERS)
    done()
  })
  const { unauthenticatedLimitPerSecond: failuresMax, clock } = options
  const unauthenticated = failuresMax > 0 ? unauthenticatedLimiter(failuresMax, clock) : undefined
  const limitRate = rateLimiter(options.rateLimitPerSecond)
  app.addHook('onRequest', authenticate({ ...options, limitRate, unauthenticated }))
  app.addHook('onRequest', authorise)
  acceptJsonBodies(app)
  rejectUnknownRoutes(app)
  requireScope(app)
  documentErrors(app)
  const v1 = withSchemaTypes(app)
  for (const addOperation of OPERATIONS) addOperation(v1, options)
}

/** What Node lets pass and RFC 9112 does not: HTTP/0.9, and anything but one Host in HTTP/1.1. */
function isWellFormed(request: IncomingMessage): boolean {
  const hosts = countHeader(request, 'host')
  return request.httpVersion === '1.1' ? hosts === 1 : request.httpVersion === '1.0' && hosts <= 1
}

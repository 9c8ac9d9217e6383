// HTTP routes for signing in, under /auth. They need no API key, and are the only routes that use a cookie.
// Contains no SQL; the steps are in sign-ins.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../contract/errors.ts'
import type { Db } from '../../db/database.ts'
import { afterClose } from '../../http/after-close.ts'
import { clientAddress } from '../../http/client-address.ts'
import { cookieHeader, readCookie } from '../../http/cookies.ts'
import { errorSender } from '../../http/errors.ts'
import { acceptJsonBodies } from '../../http/json-body.ts'
import { withSchemaTypes } from '../../http/operation.ts'
import { SIGN_IN_PAGE } from '../../http/page-addresses.ts'
import { addressLimiter } from '../../http/rate-limit.ts'
import { DATA_HEADERS } from '../../http/security-headers.ts'
import { rejectUnknownRoutes } from '../../http/unknown-routes.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Environment } from '../api-keys/format.ts'
import type { IdentityProvider } from './provider.ts'
import {
  HAND_OVER_SECONDS,
  SIGN_IN_ERRORS,
  SIGN_IN_SECONDS,
  SignInError,
  type SignInErrorCode,
} from './rules.ts'
import { PersonalApiKeySchema, ProviderSchema } from './schema.ts'
import { finishSignIn, issuePersonalApiKey, startSignIn } from './sign-ins.ts'

export interface SignInServices {
  db: Db
  publicUrl: string
  environment: Environment
  clock: () => Date
  metrics: Pick<Metrics, 'countSignIn'>
  /** Undefined if people sign in with an API key only. */
  identityProvider?: IdentityProvider | undefined
}

/** Max requests of a sign-in per minute and client address. A sign-in takes three, and an office may share one address. */
export const REQUESTS_PER_MINUTE_MAX = 300
/** Max requests of sign-ins in flight, so that a slow provider does not delay the requests of the API. */
export const IN_FLIGHT_MAX = 100
const BODY_MAX_BYTES = 1_024
const COOKIE = 'petstore_sign_in'
const FINISHED = `${SIGN_IN_PAGE}#done`
const CAUSES_MAX = 3
/** Codes such as ECONNREFUSED and invalid_grant, which can be logged. */
const SAFE_CODE = /^[\w.-]{1,64}$/

export async function signInRoutes(app: FastifyInstance, services: SignInServices): Promise<void> {
  const { identityProvider: provider, publicUrl } = services
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(DATA_HEADERS)
    done()
  })
  acceptJsonBodies(app)
  rejectUnknownRoutes(app)
  for (const outcome of ['signed_in', ...Object.keys(SIGN_IN_ERRORS)])
    services.metrics.countSignIn(outcome, 0)

  withSchemaTypes(app).get(
    '/provider',
    { schema: { hide: true, operationId: 'getSignInProvider', response: { 200: ProviderSchema } } },
    async () => ({
      provider: provider === undefined ? null : { name: provider.name, startUrl: `${publicUrl}/auth/start` },
    }),
  )
  if (provider === undefined) return
  await app.register(async (limited) => {
    limitSignIns(limited)
    redirectRoutes(limited, provider, services)
    keyRoute(limited, services)
  })
}

/**
 * Limits the requests of each client address, and those in flight. A request whose body is still arriving is not in flight:
 * clients that send their body slowly would keep others from signing in.
 */
function limitSignIns(app: FastifyInstance): void {
  const limiter = addressLimiter(REQUESTS_PER_MINUTE_MAX, 60)
  let inFlight = 0

  app.addHook('onRequest', async (request) => limiter.count(clientAddress(request)))
  app.addHook('preHandler', (_request, reply, done) => {
    if (inFlight >= IN_FLIGHT_MAX) return done(new AppError('overloaded'))
    inFlight += 1
    // A response also closes if the client disconnects.
    afterClose(reply.raw, () => {
      inFlight -= 1
    })
    done()
  })
}

/** The browser goes to the identity provider, and returns from it. Errors lead to the sign-in page. */
function redirectRoutes(app: FastifyInstance, provider: IdentityProvider, services: SignInServices): void {
  const { db, publicUrl, clock } = services
  const cookie = cookieOf(publicUrl)
  const verifying = new Set<string>()
  const redirectUri = `${publicUrl}/auth/callback`
  // HEAD requests must not start or finish a sign-in.
  const options = { exposeHeadRoute: false, errorHandler: redirectWithError(services) }

  app.get(
    '/start',
    { ...options, schema: { hide: true, operationId: 'startSignIn' } },
    async (request, reply) => {
      const { returnTo } = request.query as Record<string, unknown>
      const started = await startSignIn(provider, {
        redirectUri,
        returnTo: typeof returnTo === 'string' ? returnTo : undefined,
        now: clock(),
      })
      const { address, cookie: value } = started
      return reply.header('set-cookie', cookie.set(value, SIGN_IN_SECONDS)).redirect(address, 303)
    },
  )

  app.get(
    '/callback',
    { ...options, schema: { hide: true, operationId: 'finishSignIn' } },
    async (request, reply) => {
      const address = new URL(redirectUri)
      address.search = /\?.*$/s.exec(request.url)?.[0] ?? ''
      const sealed = cookie.read(request)
      if (sealed === undefined) throw new SignInError('sign_in_expired')
      const step = { address, cookie: sealed, now: clock(), verifying }
      const finished = await finishSignIn(db, provider, step)
      return reply
        .header('set-cookie', cookie.set(finished.secret, HAND_OVER_SECONDS))
        .redirect(FINISHED, 303)
    },
  )
}

/** The page fetches the key. Only pages of this origin can: they alone can send the header without a preflight. */
function keyRoute(app: FastifyInstance, { db, publicUrl, environment, metrics }: SignInServices): void {
  const cookie = cookieOf(publicUrl)

  withSchemaTypes(app).post(
    '/key',
    {
      bodyLimit: BODY_MAX_BYTES,
      schema: { hide: true, operationId: 'issuePersonalApiKey', response: { 201: PersonalApiKeySchema } },
    },
    async (request, reply) => {
      const { origin, 'x-petstore-sign-in': marker } = request.headers
      if (origin !== publicUrl || marker !== '1') throw new AppError('sign_in_rejected')
      const secret = cookie.read(request)
      if (secret === undefined) throw new AppError('sign_in_expired')
      const { issued, role, returnTo } = await issuePersonalApiKey(db, environment, secret)
      metrics.countSignIn('signed_in')
      // Names neither the person nor the key. The list of API keys shows the name of the actor.
      request.log.info(
        { requestId: request.id, apiKeyId: issued.id, actorId: issued.actorId, role },
        'signed in',
      )
      const { id, actorId, text: key, name, scopes, expiresAt } = issued
      return (
        reply
          .header('set-cookie', cookie.set('', 0))
          .code(201)
          // A personal key always expires.
          .send({ id, actorId, key, name, role, scopes, expiresAt: expiresAt as Date, returnTo })
      )
    },
  )
}

function cookieOf(publicUrl: string) {
  const isSecure = publicUrl.startsWith('https:')
  return {
    read: (request: FastifyRequest) => readCookie(request, COOKIE, isSecure),
    set: (value: string, maxAgeSeconds: number) =>
      cookieHeader(COOKIE, value, maxAgeSeconds, { path: '/auth', isSecure }),
  }
}

/** The code for the sign-in page; undefined if the request is malformed and no page sent it. */
function codeOf(error: Error): SignInErrorCode | undefined {
  if (error instanceof SignInError) return error.code
  if (!(error instanceof AppError)) return 'unavailable'
  if (error.code === 'rate_limited' || error.code === 'overloaded') return error.code
  return error.status >= 500 ? 'unavailable' : undefined
}

function redirectWithError({ metrics, publicUrl }: SignInServices) {
  const sendError = errorSender(publicUrl)
  return (error: Error & { code: string }, request: FastifyRequest, reply: FastifyReply): void => {
    const outcome = codeOf(error)
    if (outcome === undefined) return sendError(error, request, reply)
    metrics.countSignIn(outcome)
    const facts = { requestId: request.id, outcome }
    if (!(error instanceof SignInError || error instanceof AppError)) {
      request.log.error({ ...facts, err: error }, 'sign-in failed')
    } else if (outcome !== 'rate_limited') {
      request.log.warn({ ...facts, cause: causesOf(error) }, 'sign-in failed')
    }
    reply.redirect(`${SIGN_IN_PAGE}?error=${outcome}`, 303)
  }
}

/** Names the errors that led to this one by their codes. Their other properties can contain tokens and claims. */
function causesOf(error: Error): string | undefined {
  const codes: string[] = []
  for (let { cause } = error; cause instanceof Error && codes.length < CAUSES_MAX; { cause } = cause) {
    const { code, error: providerError, name } = cause as Error & { code?: unknown; error?: unknown }
    const texts = [providerError, code].filter((text) => typeof text === 'string')
    codes.push(texts.find((text) => SAFE_CODE.test(text)) ?? name)
  }
  return codes.length === 0 ? undefined : codes.join(', ')
}

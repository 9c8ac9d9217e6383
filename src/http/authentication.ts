// Authentication, rate limits and authorisation: 401, 429 and 403, in this order and before the body is read. A client
// address with too many failed authentications gets 429 instead of 401.
// `verifyApiKey` looks up the key.
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Caller } from '../contract/caller.ts'
import { AppError } from '../contract/errors.ts'
import { requiredScopes, type Scope } from '../contract/scopes.ts'
import { clientAddress } from './client-address.ts'
import { countHeader } from './headers.ts'
import type { AddressLimiter, LimitRate } from './rate-limit.ts'
import { isUnknownRoute } from './unknown-routes.ts'

const CHALLENGE = 'Bearer realm="petstore"'
const SEVERAL_HEADERS = 'The request has several Authorization headers; send one.'
const OTHER_FORM =
  'The Authorization header must be "Bearer <API_KEY>"; other schemes, such as Basic, are not supported.'

export interface AuthenticationOptions {
  /** Awaits `beforeLookUp` before it looks up a key that this process does not know as valid. `beforeLookUp` may reject. */
  verifyApiKey: (
    text: string,
    beforeLookUp?: () => Promise<void> | undefined,
  ) => Caller | undefined | Promise<Caller | undefined>
  /**
   * Says why no look-up can find the key. Undefined if the key could exist: unknown, expired and revoked keys must get the
   * same response.
   */
  explainApiKey: (text: string) => string | undefined
  limitRate: LimitRate
  /** Limits requests that fail authentication. If undefined, they are not limited. */
  unauthenticated: AddressLimiter | undefined
  usage: { noteCall: (caller: Caller) => void }
}

export function authenticate(options: AuthenticationOptions) {
  const { verifyApiKey, explainApiKey, limitRate, unauthenticated, usage } = options

  /** Limits the rate of the caller. Returns undefined, not a promise, if the caller has no limit. */
  function admit(caller: Caller, request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    request.caller = caller
    usage.noteCall(caller)
    return limitRate(caller, reply)
  }

  function orInvalid(caller: Caller | undefined, text: string): Caller {
    if (caller === undefined) throw invalidApiKey(explainApiKey(text))
    return caller
  }

  /** Returns the error to send. Counts a 401 for the client address; returns 429 if the address is over the limit. */
  async function count(error: AppError, request: FastifyRequest): Promise<AppError> {
    if (unauthenticated === undefined || error.status !== 401) return error
    return unauthenticated.count(clientAddress(request)).then(
      () => error,
      (limited: AppError) => limited,
    )
  }

  async function settle(
    admitted: Promise<void>,
    request: FastifyRequest,
    done: HookHandlerDoneFunction,
  ): Promise<void> {
    const rejection = await admitted.catch((error: AppError) => count(error, request))
    done(rejection ?? undefined)
  }

  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    try {
      const text = readBearer(request)
      const caller = verifyApiKey(text, () => unauthenticated?.requireUnder(clientAddress(request)))
      const admitted =
        caller instanceof Promise
          ? caller.then((found) => admit(orInvalid(found, text), request, reply))
          : admit(orInvalid(caller, text), request, reply)
      if (admitted === undefined) done()
      else void settle(admitted, request, done)
    } catch (error) {
      void settle(Promise.reject(error), request, done)
    }
  }
}

/** Throws at startup if a route declares no scope. */
export function requireScope(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.scope === undefined) throw new Error(`${String(method)} ${url} declares no scope`)
  })
}

/** Requires the scopes of the route (403). Skips unknown routes, so that they return 404 or 405 instead. */
export function authorise(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  // The default is never used, because requireScope guarantees a scope for every route. `admin` is the strictest scope.
  const { scope = 'admin' } = request.routeOptions.config
  const lacking = requiredScopes(scope).filter((required) => !request.caller?.scopes.includes(required))
  const mayCall = isUnknownRoute(request) || lacking.length === 0
  done(mayCall ? undefined : insufficientScope(...lacking))
}

function readBearer(request: FastifyRequest): string {
  // Node keeps only the first Authorization header. A request with several is rejected as ambiguous.
  const header = request.headers.authorization ?? ''
  if (countHeader(request.raw, 'authorization') > 1) throw invalidApiKey(SEVERAL_HEADERS)
  if (header === '') {
    throw new AppError('missing_api_key', { headers: { 'www-authenticate': CHALLENGE } })
  }
  const bearer = /^Bearer +([^ ]+)$/i.exec(header)?.[1]
  // The message does not name the scheme that was sent: without a scheme, this could be the key itself.
  if (bearer === undefined) throw invalidApiKey(OTHER_FORM)
  return bearer
}

/** `message` depends only on the request, so that it does not reveal which keys exist. */
function invalidApiKey(message: string | undefined): AppError {
  return new AppError('invalid_api_key', {
    message,
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  })
}

export function insufficientScope(...lacking: Scope[]): AppError {
  return new AppError('insufficient_scope', {
    message: `The API key lacks the ${lacking.length === 1 ? 'scope' : 'scopes'} ${lacking.join(' and ')}, which this request requires.`,
    headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${lacking.join(' ')}"` },
  })
}

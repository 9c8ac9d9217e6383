// Authentication, rate limits and authorisation: 401, 429 and 403, in this order and before the body is read. A client
// address with too many failed authentications gets 429 instead of 401.
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { CallingActor } from '../contract/actor.ts'
import type { Caller } from '../contract/caller.ts'
import { AppError } from '../contract/errors.ts'
import { requiredScopes, type Scope } from '../contract/scopes.ts'
import { clientAddress } from './client-address.ts'
import { countHeader } from './headers.ts'
import type { AddressLimiter, LimitRate } from './rate-limit.ts'
import { isUnknownRoute } from './unknown-routes.ts'

const CHALLENGE = 'Bearer realm="petstore"'
const SEVERAL_HEADERS = 'The request has several Authorization headers; send one.'
const NO_BEARER =
  'The Authorization header must be "Bearer <API_KEY>"; other schemes, such as Basic, are not supported.'

export interface AuthenticationOptions {
  /**
   * Returns the caller of a key; undefined if the key is invalid. Returns cached results synchronously. Awaits
   * `beforeLookUp`, which may reject, before it looks up a key that this process has not found valid before.
   */
  verifyApiKey: (
    text: string,
    beforeLookUp?: () => Promise<void> | undefined,
  ) => Caller | undefined | Promise<Caller | undefined>
  /**
   * Says why no look-up can find the key. Undefined if the key could exist: unknown, expired and revoked keys must get the
   * same response.
   */
  explainInvalidApiKey: (text: string) => string | undefined
  limitRate: LimitRate
  /** Limits requests that fail authentication. If undefined, they are not limited. */
  failureLimiter: AddressLimiter | undefined
  usage: { noteCall: (caller: Caller) => void }
}

/**
 * Returns the hook that finds the caller of a request and limits its rate. It creates no promise if the key is cached and
 * the caller has no rate limit.
 */
export function authenticate(options: AuthenticationOptions) {
  const { verifyApiKey, explainInvalidApiKey, limitRate, failureLimiter, usage } = options

  /** Throws or rejects if the request must be rejected. Returns undefined if no wait is needed. */
  function check(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const text = readBearer(request)
    const caller = verifyApiKey(text, () => failureLimiter?.requireUnder(clientAddress(request)))
    return caller instanceof Promise
      ? caller.then((found) => admit(found, text, request, reply))
      : admit(caller, text, request, reply)
  }

  function admit(
    caller: Caller | undefined,
    text: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> | undefined {
    if (caller === undefined) throw invalidApiKey(explainInvalidApiKey(text))
    request.caller = caller
    usage.noteCall(caller)
    return limitRate(caller, reply)
  }

  /** Counts a 401 for the client address. Returns the error to send: 429 instead of 401 if the address is over its limit. */
  async function countFailure(error: Error, request: FastifyRequest): Promise<Error> {
    const is401 = error instanceof AppError && error.status === 401
    if (failureLimiter === undefined || !is401) return error
    return failureLimiter.count(clientAddress(request)).then(
      () => error,
      (rateLimited: AppError) => rateLimited,
    )
  }

  async function reject(
    error: unknown,
    request: FastifyRequest,
    done: HookHandlerDoneFunction,
  ): Promise<void> {
    done(await countFailure(error as Error, request))
  }

  async function finish(
    checked: Promise<void>,
    request: FastifyRequest,
    done: HookHandlerDoneFunction,
  ): Promise<void> {
    try {
      await checked
    } catch (error) {
      return reject(error, request, done)
    }
    done()
  }

  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    try {
      const checked = check(request, reply)
      if (checked === undefined) done()
      else void finish(checked, request, done)
    } catch (error) {
      void reject(error, request, done)
    }
  }
}

/** Throws at startup if a route declares no scope. */
export function requireDeclaredScope(app: FastifyInstance): void {
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
  if (isUnknownRoute(request)) return done()
  // The default is never used, because requireDeclaredScope guarantees a scope. `admin` is the strictest scope.
  const { scope = 'admin' } = request.routeOptions.config
  const lacking = requiredScopes(scope).filter((required) => !request.caller?.scopes.includes(required))
  done(lacking.length === 0 ? undefined : insufficientScope(...lacking))
}

function readBearer(request: FastifyRequest): string {
  // Node keeps only the first Authorization header. A request with several is rejected as ambiguous.
  if (countHeader(request.raw, 'authorization') > 1) throw invalidApiKey(SEVERAL_HEADERS)
  const header = request.headers.authorization ?? ''
  if (header === '') {
    throw new AppError('missing_api_key', { headers: { 'www-authenticate': CHALLENGE } })
  }
  const bearer = /^Bearer +([^ ]+)$/i.exec(header)?.[1]
  // The message does not quote the scheme that was sent: if the client sent only the key, it would quote the key.
  if (bearer === undefined) throw invalidApiKey(NO_BEARER)
  return bearer
}

/** `message` depends only on the request, so that it does not reveal which keys exist. */
function invalidApiKey(message: string | undefined): AppError {
  return new AppError('invalid_api_key', {
    message,
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  })
}

/** For an operation that needs a scope only in some cases. */
export function requireScope(request: FastifyRequest, scope: Scope): void {
  if (request.caller?.scopes.includes(scope) !== true) throw insufficientScope(scope)
}

export function insufficientScope(...lacking: Scope[]): AppError {
  return new AppError('insufficient_scope', {
    message: `The API key lacks the ${lacking.length === 1 ? 'scope' : 'scopes'} ${lacking.join(' and ')}, which this request requires.`,
    headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${lacking.join(' ')}"` },
  })
}

/** The actor of a change that an authenticated request makes. */
export function actorOf(request: FastifyRequest): CallingActor {
  return { actorId: (request.caller as Caller).actorId, requestId: request.id }
}

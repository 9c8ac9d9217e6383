// Authentication, rate limits and authorisation: 401, 429 and 403, in this order and before the body is read. A client
// address with too many failed authentications gets 429 instead of 401.
// Knows nothing about how keys are stored; `verifyApiKey` looks them up.
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Caller } from '../caller.ts'
import type { Scope } from '../scopes.ts'
import { AppError } from '../errors.ts'
import { clientAddress } from './client-address.ts'
import { countHeader } from './headers.ts'
import type { LimitRate } from './rate-limit.ts'
import type { UnauthenticatedLimiter } from './unauthenticated-limit.ts'

const CHALLENGE = 'Bearer realm="petstore"'

export interface AuthenticationOptions {
  /** Calls `beforeLookUp` before it looks up a key that this process does not know as valid. `beforeLookUp` may throw. */
  verifyApiKey: (text: string, beforeLookUp?: () => void) => Caller | undefined | Promise<Caller | undefined>
  limitRate: LimitRate
  /** Limits requests that fail authentication. If undefined, they are not limited. */
  unauthenticated: UnauthenticatedLimiter | undefined
  usage: { noteCall: (caller: Caller) => void }
}

export function authenticate({ verifyApiKey, limitRate, unauthenticated, usage }: AuthenticationOptions) {
  /** Rejects an unknown caller and limits the rate. Returns undefined, not a promise, if the caller has no limit. */
  function admit(
    caller: Caller | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void | Promise<void> {
    if (caller === undefined) throw invalidApiKey()
    request.caller = caller
    usage.noteCall(caller)
    return limitRate(caller, reply)
  }

  /** Rejects the request without looking up its key if the client address is over the limit. */
  function requireUnderLimit(request: FastifyRequest): void {
    if (unauthenticated?.isOver(clientAddress(request))) {
      throw new AppError('rate_limited', { headers: unauthenticated.headers })
    }
  }

  /** Returns the error to send. Counts a 401 for the client address; returns 429 if the address is over the limit. */
  function count(error: AppError, request: FastifyRequest): AppError {
    if (unauthenticated === undefined || error.status !== 401) return error
    const address = clientAddress(request)
    if (unauthenticated.isOver(address)) {
      return new AppError('rate_limited', { headers: unauthenticated.headers })
    }
    unauthenticated.count(address)
    return error
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
      const caller = verifyApiKey(readBearer(request), () => requireUnderLimit(request))
      const admitted =
        caller instanceof Promise
          ? caller.then((found) => admit(found, request, reply))
          : admit(caller, request, reply)
      if (admitted === undefined) done()
      else void settle(admitted, request, done)
    } catch (error) {
      done(count(error as AppError, request))
    }
  }
}

/** Throws at startup if a route declares no scope. */
export function requireScope(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.scope === undefined) throw new Error(`${String(method)} ${url} declares no scope`)
  })
}

/** Requires the scope of the route (403). Skips unknown routes, so that they return 404 or 405 instead. */
export function authorise(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  // The default is never used, because requireScope guarantees a scope for every route. `admin` is the strictest scope.
  const { scope = 'admin' } = request.routeOptions.config
  const mayCall = request.is404 || scope === 'any' || request.caller?.scopes.includes(scope)
  done(mayCall ? undefined : insufficientScope(scope))
}

function readBearer(request: FastifyRequest): string {
  // Node keeps only the first Authorization header. A request with several is rejected as ambiguous.
  const header = request.headers.authorization ?? ''
  if (countHeader(request.raw, 'authorization') > 1) throw invalidApiKey()
  if (header === '') {
    throw new AppError('missing_api_key', { headers: { 'www-authenticate': CHALLENGE } })
  }
  const bearer = /^Bearer +([^ ]+)$/i.exec(header)?.[1]
  if (bearer === undefined) throw invalidApiKey()
  return bearer
}

function invalidApiKey(): AppError {
  return new AppError('invalid_api_key', {
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  })
}

export function insufficientScope(scope: Scope): AppError {
  return new AppError('insufficient_scope', {
    headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"` },
  })
}

// Who is calling, and whether they may: 401, 429 and 403, in this sequence and before anything else.
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
  /** `beforeLookUp` is called before the database is asked about an unknown key; it may throw. */
  verifyApiKey: (text: string, beforeLookUp?: () => void) => Caller | undefined | Promise<Caller | undefined>
  limitRate: LimitRate
  /** Without one, any number of requests may fail. */
  unauthenticated: UnauthenticatedLimiter | undefined
  usage: { noteCall: (caller: Caller) => void }
}

export function authenticate({ verifyApiKey, limitRate, unauthenticated, usage }: AuthenticationOptions) {
  /** Lets the caller in, at once where no limit holds. */
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

  /** Past the limit of its address, an unknown key is rejected without a look-up. */
  function requireUnderLimit(request: FastifyRequest): void {
    if (unauthenticated?.isOver(clientAddress(request))) {
      throw new AppError('rate_limited', { headers: unauthenticated.headers })
    }
  }

  /** A failure counts against the address of the client. Past its limit the status is 429 instead of 401. */
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

/** An operation that forgot to say who may call it is no operation: the process does not start with one. */
export function requireScope(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.scope === undefined) throw new Error(`${String(method)} ${url} declares no scope`)
  })
}

/** Only where there is a route, so that 404 and 405 come before 403. */
export function authorise(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  // requireScope sees to it that each has one; the strictest stands in where there is no route.
  const { scope = 'admin' } = request.routeOptions.config
  const mayCall = request.is404 || scope === 'any' || request.caller?.scopes.includes(scope)
  done(
    mayCall
      ? undefined
      : new AppError('insufficient_scope', { headers: { 'www-authenticate': scopeChallenge(scope) } }),
  )
}

function readBearer(request: FastifyRequest): string {
  // Node keeps only the first of two; a request that names two callers is no caller's.
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

function scopeChallenge(scope: Scope): string {
  return `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`
}

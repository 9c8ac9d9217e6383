// Who is calling, and whether they may: 401, 429 and 403, in this sequence and before anything else.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { VerifyApiKey } from '../api-keys/api-keys.ts'
import type { Scope } from '../api-keys/schema.ts'
import type { Usage } from '../api-keys/usage.ts'
import { AppError } from '../errors.ts'
import type { LimitRate } from './rate-limit.ts'

const CHALLENGE = 'Bearer realm="petstore"'

export interface AuthenticationOptions {
  verifyApiKey: VerifyApiKey
  limitRate: LimitRate
  usage: Pick<Usage, 'noteCall'>
}

export function authenticate({ verifyApiKey, limitRate, usage }: AuthenticationOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const caller = await verifyApiKey(readBearer(request))
    if (caller === undefined) throw invalidApiKey()
    request.caller = caller
    await limitRate(caller, reply)
    usage.noteCall(caller)
  }
}

/** After the route is known to exist, so that 404 and 405 come before 403. */
export async function authorise(request: FastifyRequest): Promise<void> {
  const { scope } = request.routeOptions.config
  if (scope === undefined || scope === 'any' || request.caller?.scopes.includes(scope)) return
  throw new AppError('insufficient_scope', { headers: { 'www-authenticate': scopeChallenge(scope) } })
}

function readBearer(request: FastifyRequest): string {
  // Node keeps only the first of two; a request that names two callers is no caller's.
  const sent = request.raw.headersDistinct['authorization'] ?? []
  if (sent.length > 1) throw invalidApiKey()
  const [header = ''] = sent
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

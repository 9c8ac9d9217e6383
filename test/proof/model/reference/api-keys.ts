// The rules of API keys: scopes, until when a key is valid, and the program that it belongs to.
import {
  type ApiKey,
  type Expected,
  type Id,
  nameOf,
  reject,
  type Seen,
  type Store,
  takeId,
} from './store.ts'

const DEFAULT_SCOPES = ['pets:read', 'pets:write']
const DAY_SECONDS = 86_400

export interface NewApiKey {
  name: string
  scopes?: readonly string[] | undefined
  rateLimit?: number | undefined
  expiresInSeconds?: number | undefined
}

/** Why the caller is rejected; undefined if it is not. `scope` can be several, separated by blanks. */
export function rejectCaller(store: Store, { endedIn, scopes }: ApiKey, scope: string): Expected | undefined {
  if (endedIn !== undefined && endedIn < store.second) return reject('invalid_api_key')
  const mayCall = scope === 'any' || scope.split(' ').every((required) => scopes.includes(required))
  return mayCall ? undefined : reject('insufficient_scope')
}

/** The service caches keys for a second. During that second, a key that has ended may be accepted or rejected. */
export function mayBeCached(store: Store, { endedIn }: ApiKey): boolean {
  return endedIn === store.second
}

export function getOwnApiKey({ id, actorId, scopes, expiresAt }: ApiKey): Expected {
  return { status: 200, body: { id, actorId, name: nameOf(actorId), kind: 'program', scopes, expiresAt } }
}

export function createApiKey(store: Store, { name, ...apiKey }: NewApiKey, seen: Seen): Expected {
  const actorId = takeId(store, 'actor', seen)
  store.actors.set(actorId, name)
  return issueApiKey(store, actorId, apiKey, seen)
}

function issueApiKey(
  store: Store,
  actorId: number,
  { scopes = DEFAULT_SCOPES, rateLimit, expiresInSeconds }: Omit<NewApiKey, 'name'>,
  seen: Seen,
): Expected {
  const id = takeId(store, 'apiKey', seen)
  const apiKey: ApiKey = {
    id,
    actorId,
    text: String(seen?.['key']),
    scopes,
    createdAt: String(seen?.['createdAt']),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(expiresInSeconds !== undefined && {
      lifetimeSeconds: expiresInSeconds,
      expiresAt: secondsAfter(seen?.['createdAt'], expiresInSeconds),
    }),
    isRevoked: false,
  }
  store.apiKeys.set(apiKey.id, apiKey)
  return { status: 201, body: { ...apiKeyBody(apiKey), key: apiKey.text } }
}

/** The successor has the same program, scopes, rate limit and lifetime. The old key stays valid for the overlap. */
export function rotateApiKey(
  store: Store,
  apiKeyId: Id,
  overlapSeconds: number = DAY_SECONDS,
  seen: Seen,
): Expected {
  const old = store.apiKeys.get(Number(apiKeyId))
  if (old === undefined || old.endedIn !== undefined) return reject('api_key_not_found')
  const { scopes, rateLimit, lifetimeSeconds: expiresInSeconds, actorId } = old
  const response = issueApiKey(store, actorId, { scopes, rateLimit, expiresInSeconds }, seen)
  // The successor is created at the same moment.
  const overlapEnd = secondsAfter(seen?.['createdAt'], overlapSeconds)
  if (old.expiresAt === undefined || overlapEnd < old.expiresAt) old.expiresAt = overlapEnd
  if (overlapSeconds === 0) old.endedIn = store.second
  return response
}

/** Renames the program of a key, which may have ended. Every earlier change shows the new name. */
export function updateApiKey(store: Store, apiKeyId: Id, name: string): Expected {
  const apiKey = store.apiKeys.get(Number(apiKeyId))
  if (apiKey === undefined) return reject('api_key_not_found')
  store.actors.set(apiKey.actorId, name)
  return { status: 200 }
}

export function revokeApiKey(store: Store, apiKeyId: Id): Expected {
  const apiKey = store.apiKeys.get(Number(apiKeyId))
  if (apiKey === undefined) return reject('api_key_not_found')
  apiKey.isRevoked = true
  apiKey.endedIn ??= store.second
  return { status: 204 }
}

/** Records that a key has expired. */
export function endApiKey(store: Store, apiKeyId: number, expiresAt: string): void {
  const apiKey = store.apiKeys.get(apiKeyId) as ApiKey
  apiKey.expiresAt = expiresAt
  apiKey.endedIn ??= store.second
}

export function apiKeyBody(apiKey: ApiKey): Record<string, unknown> {
  const { id, actorId, scopes, rateLimit, createdAt, expiresAt } = apiKey
  return { id, actorId, name: nameOf(actorId), kind: 'program', scopes, rateLimit, createdAt, expiresAt }
}

function secondsAfter(time: unknown, seconds: number): string {
  return new Date(Date.parse(String(time)) + seconds * 1_000).toISOString()
}

// Whether a key is valid and in use.
import type { ApiKey, DeprecatedCall } from '@petstore/client'
import { DAY_MS } from '../layout/dates.ts'

export type KeyState = 'valid' | 'expires-soon' | 'expired' | 'revoked'

/** Long enough to replace a key before it expires. */
const SOON_DAYS = 14
/** A key that was used within this time probably still has a user. */
const IN_USE_DAYS = 7

export function keyState(apiKey: ApiKey, now: number): KeyState {
  if (apiKey.revokedAt !== undefined) return 'revoked'
  if (apiKey.expiresAt === undefined) return 'valid'
  const msLeft = Date.parse(apiKey.expiresAt) - now
  if (msLeft <= 0) return 'expired'
  return msLeft < SOON_DAYS * DAY_MS ? 'expires-soon' : 'valid'
}

export function hasEnded(apiKey: ApiKey, now: number): boolean {
  const state = keyState(apiKey, now)
  return state === 'expired' || state === 'revoked'
}

export function isInUse({ lastUsedAt }: ApiKey, now: number): boolean {
  return lastUsedAt !== undefined && now - Date.parse(lastUsedAt) < IN_USE_DAYS * DAY_MS
}

/** Whole days until the operation is removed; 0 from the last day on. Undefined if there is no date. */
export function daysLeft({ removedAt }: Pick<DeprecatedCall, 'removedAt'>, now: number): number | undefined {
  if (removedAt === undefined) return undefined
  return Math.max(0, Math.floor((Date.parse(removedAt) - now) / DAY_MS))
}

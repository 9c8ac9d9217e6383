// How long a new key is valid, and how long the old key of a rotation stays valid.
import type { ApiKey } from '@petstore/client'

export interface Choice {
  value: string
  label: string
  /** Undefined for a key that does not expire. */
  seconds: number | undefined
}

const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S

export const LIFETIMES: Choice[] = [
  { value: '30d', label: '30 days', seconds: 30 * DAY_S },
  { value: '90d', label: '90 days', seconds: 90 * DAY_S },
  { value: '1y', label: '1 year', seconds: 365 * DAY_S },
  { value: 'never', label: 'No expiry', seconds: undefined },
]
export const LIFETIME_DEFAULT = '90d'

export const OVERLAPS: (Choice & { seconds: number })[] = [
  { value: 'none', label: 'None', seconds: 0 },
  { value: '1h', label: '1 hour', seconds: HOUR_S },
  { value: '24h', label: '24 hours', seconds: DAY_S },
  { value: '7d', label: '7 days', seconds: 7 * DAY_S },
]
export const OVERLAP_DEFAULT = '24h'

export function secondsOf(choices: Choice[], value: string): number | undefined {
  return choices.find((choice) => choice.value === value)?.seconds
}

/** When the old key stops working. It does not outlive its own expiry. */
export function oldKeyEndsAt({ expiresAt }: ApiKey, overlapSeconds: number, now: number): number {
  const end = now + overlapSeconds * 1_000
  return expiresAt === undefined ? end : Math.min(end, Date.parse(expiresAt))
}

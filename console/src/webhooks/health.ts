// Whether a webhook works, in one word and one sentence.
import type { Webhook } from '@petstore/client'

export type Health = 'unused' | 'working' | 'failing' | 'paused' | 'stopped'

export const HEALTH_TEXTS: Record<Health, string> = {
  unused: 'Not used yet',
  working: 'Working',
  failing: 'Failing',
  paused: 'Paused',
  stopped: 'Stopped',
}

/**
 * A person pauses a webhook, and the service stops one.
 * @param isUnused True if no message was sent yet.
 */
export function healthOf({ enabled, disabledReason, failingSince }: Webhook, isUnused: boolean): Health {
  if (!enabled) return disabledReason === 'caller' ? 'paused' : 'stopped'
  if (failingSince !== undefined) return 'failing'
  return isUnused ? 'unused' : 'working'
}

/** What the webhook is for or, if nobody has said it, where it sends. */
export function nameOf({ description, url }: Pick<Webhook, 'description' | 'url'>): string {
  if (description !== undefined) return description
  return URL.canParse(url) ? new URL(url).host : url
}

/** Such as "1 message" or "3 messages". */
export function messagesText(count: number): string {
  return count === 1 ? '1 message' : `${count.toLocaleString('en-GB')} messages`
}

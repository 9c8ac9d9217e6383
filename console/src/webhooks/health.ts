// Whether a webhook works, in one word and one sentence.
import type { Webhook } from '@petstore/client'
import { agoText } from '../layout/when-text.ts'

export type Health = 'unused' | 'working' | 'failing' | 'paused' | 'stopped'

export const HEALTH_TEXTS: Record<Health, string> = {
  unused: 'Not used yet',
  working: 'Working',
  failing: 'Failing',
  paused: 'Paused',
  stopped: 'Stopped',
}

/** A person pauses a webhook, and the service stops one. */
export function healthOf({ enabled, disabledReason, failingSince, lastDeliveredAt }: Webhook): Health {
  if (!enabled) return disabledReason === 'caller' ? 'paused' : 'stopped'
  if (failingSince !== undefined) return 'failing'
  return lastDeliveredAt === undefined ? 'unused' : 'working'
}

/** Whether someone has to do something. A person has paused it on purpose. */
export function isFailing(webhook: Webhook): boolean {
  return ['failing', 'stopped'].includes(healthOf(webhook))
}

/** Such as "5 minutes ago". */
export function lastSuccessText({ lastDeliveredAt }: Webhook, nowMs: number): string {
  return lastDeliveredAt === undefined ? 'No success yet' : agoText(lastDeliveredAt, nowMs)
}

/** What the webhook is for or, if nobody has said it, where it sends. */
export function nameOf({ description, url }: Pick<Webhook, 'description' | 'url'>): string {
  if (description !== undefined) return description
  return URL.canParse(url) ? new URL(url).host : url
}

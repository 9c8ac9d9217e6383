// Says who has a pet that cannot be held or sold.
import type { Order, PetStatus } from '@petstore/client'
import { clockText } from '../layout/hold-time.ts'

/** Such as "Held by Ada until 14:30 (Ms Okafor)". */
export function heldByText({ placedBy, expiresAt, note }: Order, nowMs: number): string {
  const until = `Held by ${placedBy} until ${clockText(expiresAt, nowMs)}`
  return note === undefined ? until : `${until} (${note})`
}

/** Why another person cannot have the pet. The order is known only with the scope `orders:read`. */
export function conflictText(status: PetStatus | undefined, order: Order | undefined, nowMs: number): string {
  if (order !== undefined) return `${heldByText(order, nowMs)}.`
  if (status === undefined) return 'This pet was deleted.'
  if (status === 'sold') return 'This pet is sold.'
  if (status === 'pending') return 'This pet is on hold.'
  return 'Another person had this pet for a moment. It is available again: try again.'
}

/** Why a hold cannot be completed or cancelled any more. */
export function endedText({ status, closedAt, expiresAt }: Order, nowMs: number): string {
  const at = clockText(closedAt ?? expiresAt, nowMs)
  if (status === 'completed') return `The pet was sold at ${at}.`
  if (status === 'cancelled') return `The hold was released at ${at}.`
  return `The time of the hold ran out at ${at}. Hold the pet again if the customer is still there.`
}

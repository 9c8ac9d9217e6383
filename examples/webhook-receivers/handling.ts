// What all three receivers share: they handle each event once, although Petstore sends a message again if it got no
// response in time. The ids are in memory. If you must not handle an event a second time after a restart, store the ids
// in your database, in the transaction that handles the event.
import type { WebhookEvent } from '@petstore/client/webhooks'

const MESSAGES_MAX = 10_000

export type Handler = (event: WebhookEvent) => Promise<void>

/** Returns a handler that calls `handle` once for each id. If the call failed, a retry calls it again. */
export function onceById(handle: Handler, messagesMax = MESSAGES_MAX): Handler {
  /** The last messages by id, oldest first. */
  const messages = new Map<string, Promise<void>>()
  return (event) => {
    const known = messages.get(event.id)
    // A retry that arrives while the first attempt is in flight gets the same result.
    if (known !== undefined) return known
    const handling = handle(event)
    messages.set(event.id, handling)
    handling.catch(() => messages.delete(event.id))
    const [oldest = ''] = messages.keys()
    if (messages.size > messagesMax) messages.delete(oldest)
    return handling
  }
}

/** Replace it by your own work. If that takes longer than a few seconds, store the event here and do the work later. */
export async function printEvent({ id, type, data }: WebhookEvent): Promise<void> {
  console.log(`${id}: ${type} ${data.petId ?? data.webhookId}`)
}

/** Reads the variable WEBHOOK_SECRETS: one secret, or two during a rotation, separated by a comma. */
export function readSecrets(variable: string | undefined): string[] {
  if (!variable) throw new Error('Set WEBHOOK_SECRETS to the secret of the webhook. It starts with whsec_.')
  return variable.split(',')
}

// The rules of webhooks without a process that delivers: nothing is delivered, and test events wait.
import { EVENT_TYPES, readableTypes } from './events.ts'
import { type ApiKey, type Expected, type Id, reject, type Seen, type Store, takeId } from './store.ts'

export interface Webhook {
  id: number
  url: string
  description?: string
  types: readonly string[]
  enabled: boolean
  disabledReason?: string
  disabledAt?: string
  position: string
  waiting: number
  createdAt: string
}

export interface WebhookFields {
  url?: string | undefined
  description?: string | undefined
  types?: readonly string[] | undefined
  enabled?: boolean | undefined
}

/** The position of another feed. */
export const FOREIGN_POSITION = '000000000000-1'

function canRead({ scopes }: ApiKey, types: readonly string[]): boolean {
  const readable: readonly string[] = readableTypes(scopes)
  return types.every((type) => readable.includes(type))
}

function given(fields: WebhookFields): Partial<Webhook> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

export function createWebhook(store: Store, apiKey: ApiKey, fields: WebhookFields, seen: Seen): Expected {
  const types = fields.types ?? EVENT_TYPES.filter((type) => canRead(apiKey, [type]))
  if (!canRead(apiKey, types)) return reject('insufficient_scope')
  const webhook: Webhook = {
    url: '',
    ...given(fields),
    id: takeId(store, 'webhook', seen),
    types,
    enabled: true,
    position: String(seen?.['position']),
    waiting: 0,
    createdAt: String(seen?.['createdAt']),
  }
  store.webhooks.set(webhook.id, webhook)
  return { status: 201, body: { ...webhook, secret: seen?.['secret'] } }
}

/** Only a key that can choose URLs sees their queries. */
function visibleTo({ scopes }: ApiKey, webhook: Webhook): Webhook {
  return scopes.includes('webhooks:write') ? webhook : { ...webhook, url: webhook.url.replace(/\?.*/, '') }
}

export function getWebhook(store: Store, apiKey: ApiKey, id: Id): Expected {
  const webhook = store.webhooks.get(Number(id))
  return webhook === undefined
    ? reject('webhook_not_found')
    : { status: 200, body: visibleTo(apiKey, webhook) }
}

export function listWebhooks(store: Store, apiKey: ApiKey): Expected {
  const webhooks = [...store.webhooks.values()].toReversed()
  return { status: 200, body: webhooks.map((webhook) => visibleTo(apiKey, webhook)) }
}

export function updateWebhook(
  store: Store,
  apiKey: ApiKey,
  id: Id,
  fields: WebhookFields,
  seen: Seen,
): Expected {
  const before = store.webhooks.get(Number(id))
  if (before === undefined) return reject('webhook_not_found')
  const { disabledReason = 'caller', disabledAt = String(seen?.['disabledAt']), ...rest } = before
  const after: Webhook = { ...rest, ...given(fields) }
  if (!after.enabled) Object.assign(after, { disabledReason, disabledAt })
  if (!canRead(apiKey, [...before.types, ...after.types])) return reject('insufficient_scope')
  store.webhooks.set(after.id, after)
  return { status: 200, body: after }
}

export function deleteWebhook(store: Store, id: Id): Expected {
  return store.webhooks.delete(Number(id)) ? { status: 204 } : reject('webhook_not_found')
}

export function rotateSecret(store: Store, apiKey: ApiKey, id: Id, seen: Seen): Expected {
  const webhook = store.webhooks.get(Number(id))
  if (webhook === undefined) return reject('webhook_not_found')
  if (!canRead(apiKey, webhook.types)) return reject('insufficient_scope')
  return { status: 201, body: { secret: seen?.['secret'] } }
}

export function testWebhook(store: Store, apiKey: ApiKey, id: Id): Expected {
  const webhook = store.webhooks.get(Number(id))
  if (webhook === undefined) return reject('webhook_not_found')
  if (!canRead(apiKey, webhook.types)) return reject('insufficient_scope')
  if (!webhook.enabled) return reject('webhook_disabled')
  webhook.waiting += 1
  return { status: 202, body: { ...webhook } }
}

export function replayWebhook(store: Store, apiKey: ApiKey, id: Id, after: string, seen: Seen): Expected {
  if (after === FOREIGN_POSITION) return reject('events_expired')
  const webhook = store.webhooks.get(Number(id))
  if (webhook === undefined) return reject('webhook_not_found')
  if (!canRead(apiKey, webhook.types)) return reject('insufficient_scope')
  webhook.position = after === 'latest' ? String(seen?.['position']) : after
  return { status: 202, body: { ...webhook } }
}

export function redeliver(store: Store, apiKey: ApiKey, id: Id): Expected {
  const webhook = store.webhooks.get(Number(id))
  if (webhook === undefined) return reject('webhook_not_found')
  if (!canRead(apiKey, webhook.types)) return reject('insufficient_scope')
  return reject(webhook.enabled ? 'delivery_not_found' : 'webhook_disabled')
}

export function listDeliveries(store: Store, id: Id): Expected {
  return store.webhooks.has(Number(id)) ? { status: 200, body: [] } : reject('webhook_not_found')
}

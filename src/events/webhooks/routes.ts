// HTTP routes for webhooks: what each operation accepts, returns and requires.
// Contains no SQL; the rules are in webhooks.ts.
import type { Caller } from '../../contract/caller.ts'
import { pageLinks, readPage, LINKS } from '../../contract/paging.ts'
import type { Db } from '../../db/database.ts'
import { insufficientScope } from '../../http/authentication.ts'
import { HASH_HEADERS, IfNoneMatchHeaders, NOT_MODIFIED } from '../../http/etag.ts'
import { emptyResponse, response, type V1 } from '../../http/operation.ts'
import type { FindDurableEvents } from '../feed/durable.ts'
import { readableTypes } from '../feed/feed.ts'
import type { EventType } from '../feed/schema.ts'
import type { AddressRule } from './addresses.ts'
import { SECRET_OVERLAP_SECONDS_DEFAULT } from './rules.ts'
import {
  CreatedWebhookSchema,
  LIST_LIMIT_DEFAULT,
  ListWebhooksQuery,
  NewWebhookRef,
  SecretRotationRef,
  type Webhook,
  WEBHOOK_SCHEMAS,
  WebhookChangesRef,
  WebhookParams,
  WebhookSchema,
  WebhookSecretSchema,
  WebhooksSchema,
} from './schema.ts'
import {
  changeWebhook,
  createWebhook,
  getWebhook,
  listWebhooks,
  removeWebhook,
  type RequireReadable,
  requireUrl,
  rotateSecret,
} from './webhooks.ts'

interface WebhookServices {
  db: Db
  publicUrl: string
  findEvents: FindDurableEvents
  webhookAddresses: AddressRule
  webhooksMax: number
}

/** Marks the cursors of this list. */
const FILTERS = { list: 'webhooks' }

export const EXAMPLE = {
  id: 1,
  url: 'https://shop.example/hooks/petstore',
  types: ['pet.created', 'pet.updated', 'pet.deleted'],
  enabled: true,
  position: '3f1c9a52be07-18',
  waiting: 0,
  createdAt: '2026-11-15T10:00:00.000Z',
}
const SECRET = 'whsec_…'

/** What sends events of pets to a URL, or shows them. `requireReadableBy` adds `orders:read` for events of orders. */
export const SENDING_SCOPES = ['webhooks:write', 'pets:read'] as const
const URL_NOTE = 'Without the scope `webhooks:write`, `url` ends before its `?`.'
export const ORDER_SCOPE_NOTE = 'If the webhook has `order.*` types, the key also needs `orders:read`.'

function listWebhooksRoute(app: V1, { db, publicUrl }: WebhookServices): void {
  app.route({
    method: 'GET',
    url: '/webhooks',
    config: { scope: 'webhooks:read', showsHolds: false },
    schema: {
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description: `Returns webhooks, newest first, including disabled ones. ${URL_NOTE}`,
      tags: ['webhooks'],
      querystring: ListWebhooksQuery,
      response: {
        200: response(WebhooksSchema, {
          description: 'A page of webhooks.',
          example: [EXAMPLE],
          headers: { Link: LINKS },
        }),
      },
    },
    handler: async (request, reply) => {
      const page = readPage(request.query, FILTERS, LIST_LIMIT_DEFAULT)
      const { items, next } = await listWebhooks(db, page)
      const { limit } = request.query
      reply.headers(pageLinks(`${publicUrl}/v1/webhooks`, next, FILTERS, { limit }))
      return items.map(visibleTo(request.caller as Caller))
    },
  })
}

function createWebhookRoute(app: V1, services: WebhookServices): void {
  const { db, findEvents, webhookAddresses, webhooksMax } = services
  app.route({
    method: 'POST',
    url: '/webhooks',
    config: {
      scope: SENDING_SCOPES,
      errors: ['too_many_webhooks'],
      retry: {
        rule: 'never',
        effect:
          'A retry can create a second webhook. List the webhooks first, and delete one that the first attempt created: you did not receive its secret.',
      },
    },
    schema: {
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'From now on, the service sends every event of these types to the URL. Only this response contains the secret. Store it: it cannot be retrieved later.',
      tags: ['webhooks'],
      body: NewWebhookRef,
      response: {
        201: response(CreatedWebhookSchema, {
          description: 'The new webhook.',
          example: { ...EXAMPLE, secret: SECRET },
        }),
      },
    },
    handler: async (request, reply) => {
      const { url, description } = request.body
      requireUrl(url, webhookAddresses)
      const caller = request.caller as Caller
      const types = readTypes(caller, request.body.types)
      reply.code(201)
      return createWebhook(db, findEvents, { url, description, types }, webhooksMax)
    },
  })
}

function getWebhookRoute(app: V1, { db }: WebhookServices): void {
  app.route({
    method: 'GET',
    url: '/webhooks/:webhookId',
    config: { scope: 'webhooks:read', showsHolds: false },
    schema: {
      operationId: 'getWebhook',
      summary: 'Get a webhook',
      description: URL_NOTE,
      tags: ['webhooks'],
      params: WebhookParams,
      headers: IfNoneMatchHeaders,
      response: {
        ...NOT_MODIFIED,
        200: response(WebhookSchema, {
          description: 'The webhook.',
          example: EXAMPLE,
          headers: HASH_HEADERS,
        }),
      },
    },
    handler: async (request) =>
      visibleTo(request.caller as Caller)(await getWebhook(db, request.params.webhookId)),
  })
}

function updateWebhookRoute(app: V1, { db, webhookAddresses }: WebhookServices): void {
  app.route({
    method: 'PATCH',
    url: '/webhooks/:webhookId',
    config: {
      scope: SENDING_SCOPES,
      retry: { rule: 'never', effect: 'A retry can undo a later change by another client.' },
    },
    schema: {
      operationId: 'updateWebhook',
      summary: 'Change a webhook',
      description: `Changes the given fields. The delivery continues with the next event that was not delivered. If you enable a disabled webhook, its failed events are retried at once. If it has \`order.*\` types before or after the change, the key also needs \`orders:read\`.`,
      tags: ['webhooks'],
      params: WebhookParams,
      body: WebhookChangesRef,
      response: {
        200: response(WebhookSchema, { description: 'The webhook after the change.', example: EXAMPLE }),
      },
    },
    handler: (request) => {
      requireUrl(request.body.url, webhookAddresses)
      const { webhookId } = request.params
      const caller = request.caller as Caller
      return changeWebhook(db, webhookId, request.body, requireReadableBy(caller))
    },
  })
}

function deleteWebhookRoute(app: V1, { db }: WebhookServices): void {
  app.route({
    method: 'DELETE',
    url: '/webhooks/:webhookId',
    config: {
      scope: 'webhooks:write',
      retry: {
        rule: 'safe',
        effect: 'If the first attempt succeeded, a retry returns 404 `webhook_not_found`.',
      },
    },
    schema: {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'Also deletes its secrets and deliveries. A message in flight may still arrive.',
      tags: ['webhooks'],
      params: WebhookParams,
      response: { 204: emptyResponse('The webhook is deleted.') },
    },
    handler: async (request, reply) => {
      await removeWebhook(db, request.params.webhookId)
      return reply.code(204).send()
    },
  })
}

function rotateWebhookSecretRoute(app: V1, { db }: WebhookServices): void {
  app.route({
    method: 'POST',
    url: '/webhooks/:webhookId/rotate-secret',
    config: {
      scope: SENDING_SCOPES,
      retry: { rule: 'never', effect: 'A retry returns another secret. A webhook keeps the newest 3.' },
    },
    schema: {
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook',
      description: `Returns a new secret. For \`overlapSeconds\`, every message is signed with the former secret too, so that you can replace it in the receiver. ${ORDER_SCOPE_NOTE}`,
      tags: ['webhooks'],
      params: WebhookParams,
      body: SecretRotationRef,
      response: {
        201: response(WebhookSecretSchema, {
          description: 'The new secret.',
          example: { secret: SECRET },
        }),
      },
    },
    handler: async (request, reply) => {
      const overlap = request.body.overlapSeconds ?? SECRET_OVERLAP_SECONDS_DEFAULT
      const requireReadable = requireReadableBy(request.caller as Caller)
      reply.code(201)
      return { secret: await rotateSecret(db, request.params.webhookId, overlap, requireReadable) }
    },
  })
}

/** A query can contain a token of the receiver. Only keys that can choose the URL see it. */
function visibleTo({ scopes }: Caller): (webhook: Webhook) => Webhook {
  if (scopes.includes('webhooks:write')) return (webhook) => webhook
  return (webhook) => ({ ...webhook, url: webhook.url.replace(/\?.*$/s, '') })
}

/** Without types, returns all that the caller can read. */
function readTypes(caller: Caller, wanted: readonly EventType[] | undefined): readonly EventType[] {
  if (wanted !== undefined) requireReadableBy(caller)(wanted)
  return wanted ?? readableTypes(caller)
}

/** Rejects types of events that the caller cannot read (403). */
export function requireReadableBy(caller: Caller): RequireReadable {
  const readable: readonly string[] = readableTypes(caller)
  return (types) => {
    if (types.some((type) => !readable.includes(type))) throw insufficientScope('orders:read')
  }
}

export const WEBHOOKS = {
  schemas: WEBHOOK_SCHEMAS,
  operations: [
    listWebhooksRoute,
    createWebhookRoute,
    getWebhookRoute,
    updateWebhookRoute,
    deleteWebhookRoute,
    rotateWebhookSecretRoute,
  ],
}

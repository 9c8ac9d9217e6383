// HTTP routes for the deliveries of a webhook: list them, and request a test event, a redelivery or a replay.
// Contains no SQL; the rules are in src/events/webhooks/webhooks.ts.
import type { Caller } from '../../contract/caller.ts'
import { pageLinks, readPage, LINKS } from '../../contract/paging.ts'
import type { Db } from '../../db/database.ts'
import { response, type V1 } from '../../http/operation.ts'
import type { FindDurableEvents } from '../feed/durable.ts'
import { readableTypes } from '../feed/feed.ts'
import { EXAMPLE, ORDER_SCOPE_NOTE, requireReadableBy, SENDING_SCOPES } from './routes.ts'
import {
  DeliveriesSchema,
  DeliveryParams,
  LIST_LIMIT_DEFAULT,
  ListDeliveriesQuery,
  ReplayRef,
  WebhookParams,
  WebhookSchema,
} from './schema.ts'
import { listDeliveries, replay, requestRedelivery, requestTest } from './webhooks.ts'

interface DeliveryServices {
  db: Db
  publicUrl: string
  findEvents: FindDurableEvents
}

const DELIVERY_EXAMPLE = {
  id: 7,
  messageId: 'evt_3f1c9a52be07-18',
  kind: 'event',
  type: 'pet.updated',
  position: '3f1c9a52be07-18',
  petId: 42,
  attempt: 1,
  outcome: 'delivered',
  responseStatus: 204,
  durationMs: 38,
  at: '2026-11-15T10:00:00.120Z',
}

function testWebhookRoute(app: V1, { db }: DeliveryServices): void {
  app.route({
    method: 'POST',
    url: '/webhooks/:webhookId/test',
    config: {
      scope: SENDING_SCOPES,
      errors: ['webhook_disabled', 'webhook_busy'],
      retry: { rule: 'never', effect: 'A retry can send the message again.' },
    },
    schema: {
      operationId: 'testWebhook',
      summary: 'Send a test event',
      description: `Sends a message of the type \`webhook.test\`, usually within a second. The list of deliveries shows the result. ${ORDER_SCOPE_NOTE}`,
      tags: ['webhooks'],
      params: WebhookParams,
      response: {
        202: response(WebhookSchema, {
          description: 'The test event waits for its delivery.',
          example: { ...EXAMPLE, waiting: 1 },
        }),
      },
    },
    handler: async (request, reply) => {
      reply.code(202)
      return requestTest(db, request.params.webhookId, requireReadableBy(request.caller as Caller))
    },
  })
}

function replayWebhookRoute(app: V1, { db, findEvents }: DeliveryServices): void {
  app.route({
    method: 'POST',
    url: '/webhooks/:webhookId/replay',
    config: {
      scope: SENDING_SCOPES,
      errors: ['events_expired'],
      retry: {
        rule: 'never',
        effect:
          'A retry can send messages again. With `latest`, it skips the events since the first attempt.',
      },
    },
    schema: {
      operationId: 'replayWebhook',
      summary: 'Send events again',
      description: `Continues the delivery after a position, for example to send the events of a day again. Each message keeps its \`webhook-id\`. ${ORDER_SCOPE_NOTE}`,
      tags: ['webhooks'],
      params: WebhookParams,
      body: ReplayRef,
      response: {
        202: response(WebhookSchema, {
          description: 'The webhook at its new position.',
          example: EXAMPLE,
        }),
      },
    },
    handler: async (request, reply) => {
      reply.code(202)
      const requireReadable = requireReadableBy(request.caller as Caller)
      return replay(db, findEvents, request.params.webhookId, request.body.after, requireReadable)
    },
  })
}

function listDeliveriesRoute(app: V1, { db, publicUrl }: DeliveryServices): void {
  app.route({
    method: 'GET',
    url: '/webhooks/:webhookId/deliveries',
    config: { scope: ['webhooks:read', 'pets:read'], showsHolds: false },
    schema: {
      operationId: 'listDeliveries',
      summary: 'List deliveries of a webhook',
      description:
        'Returns the newest attempts to deliver a message, newest first. The service keeps the newest 10,000 attempts of each webhook. Without the scope `orders:read`, the list does not contain events of orders.',
      tags: ['webhooks'],
      params: WebhookParams,
      querystring: ListDeliveriesQuery,
      response: {
        200: response(DeliveriesSchema, {
          description: 'A page of attempts.',
          example: [DELIVERY_EXAMPLE],
          headers: { Link: LINKS },
        }),
      },
    },
    handler: async (request, reply) => {
      const { webhookId } = request.params
      const { limit, outcome } = request.query
      const filters = { list: `deliveries of ${webhookId}`, outcome }
      const page = readPage(request.query, filters, LIST_LIMIT_DEFAULT)
      const readable = readableTypes(request.caller as Caller)
      const { items, next } = await listDeliveries(db, webhookId, { outcome, readable }, page)
      const address = `${publicUrl}/v1/webhooks/${webhookId}/deliveries`
      reply.headers(pageLinks(address, next, filters, { limit, outcome }))
      return items
    },
  })
}

function redeliverRoute(app: V1, { db }: DeliveryServices): void {
  app.route({
    method: 'POST',
    url: '/webhooks/:webhookId/deliveries/:deliveryId/redeliver',
    config: {
      scope: SENDING_SCOPES,
      errors: ['webhook_not_found', 'webhook_disabled', 'webhook_busy'],
      retry: { rule: 'never', effect: 'A retry can send the message again.' },
    },
    schema: {
      operationId: 'redeliver',
      summary: 'Send a message again',
      description: `Sends the message again, regardless of other events of its pet. If it arrives, its retries end. An event keeps its \`webhook-id\`; a test event gets a new one. If the webhook has \`order.*\` types, or the message is an event of an order, the key also needs \`orders:read\`.`,
      tags: ['webhooks'],
      params: DeliveryParams,
      response: {
        202: response(WebhookSchema, {
          description: 'The message waits for its delivery.',
          example: { ...EXAMPLE, waiting: 1 },
        }),
      },
    },
    handler: async (request, reply) => {
      reply.code(202)
      const { webhookId, deliveryId } = request.params
      return requestRedelivery(db, webhookId, deliveryId, requireReadableBy(request.caller as Caller))
    },
  })
}

export const DELIVERIES = {
  schemas: [],
  operations: [testWebhookRoute, replayWebhookRoute, listDeliveriesRoute, redeliverRoute],
}

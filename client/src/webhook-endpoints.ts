// Webhooks: URLs to which the service sends events, and the deliveries to them.
import type { CallOptions, Send } from './call.ts'
import { idText } from './ids.ts'
import type {
  CreatedWebhook,
  IdInput,
  ListDeliveriesQuery,
  ListWebhooksQuery,
  NewWebhook,
  Replay,
  SecretRotation,
  Webhook,
  WebhookChanges,
  WebhookSecret,
} from './interface.ts'
import { listOf } from './lists.ts'

export type WebhookEndpoints = ReturnType<typeof webhooksOf>

export function webhooksOf(send: Send) {
  return {
    /** Lists webhooks, newest first. */
    list: (query?: ListWebhooksQuery, options?: CallOptions) =>
      listOf(send, 'listWebhooks', () => '/webhooks', query, options),

    get: async (id: IdInput, options?: CallOptions): Promise<Webhook> => {
      const path = `/webhooks/${idText(id)}` as const
      return (await send({ operation: 'getWebhook', method: 'GET', path, idempotent: true }, options)).value
    },

    /**
     * Creates a webhook. Only this response contains its secret. Not retried if the outcome is unknown: a second attempt
     * could create a second webhook, and the secret of the first one would be lost.
     */
    create: async (webhook: NewWebhook, options?: CallOptions): Promise<CreatedWebhook> => {
      const path = '/webhooks'
      const call = { operation: 'createWebhook', method: 'POST', path, body: webhook } as const
      return (await send({ ...call, idempotent: false }, options)).value
    },

    /** Changes the given fields. Not retried if the outcome is unknown: a retry could undo a later change by another client. */
    update: async (id: IdInput, changes: WebhookChanges, options?: CallOptions): Promise<Webhook> => {
      const path = `/webhooks/${idText(id)}` as const
      const call = { operation: 'updateWebhook', method: 'PATCH', path, body: changes } as const
      return (await send({ ...call, idempotent: false }, options)).value
    },

    /** Deletes a webhook. Safe to retry, because ids are never reused. */
    delete: async (id: IdInput, options?: CallOptions): Promise<void> => {
      const path = `/webhooks/${idText(id)}` as const
      const call = { operation: 'deleteWebhook', method: 'DELETE', path, idempotent: true } as const
      await send({ ...call, successCode: 'webhook_not_found' }, options)
    },

    /** Returns a new secret. Not retried if the outcome is unknown, for the same reason as `create`. */
    rotateSecret: async (
      id: IdInput,
      rotation: SecretRotation = {},
      options?: CallOptions,
    ): Promise<WebhookSecret> => {
      const path = `/webhooks/${idText(id)}/rotate-secret` as const
      const call = { operation: 'rotateWebhookSecret', method: 'POST', path, body: rotation } as const
      return (await send({ ...call, idempotent: false }, options)).value
    },

    /** Sends a test event. `deliveries` shows the result. Not retried if the outcome is unknown. */
    sendTest: async (id: IdInput, options?: CallOptions): Promise<Webhook> => {
      const path = `/webhooks/${idText(id)}/test` as const
      return (await send({ operation: 'testWebhook', method: 'POST', path, idempotent: false }, options))
        .value
    },

    /**
     * Sends all events after a position again. Not retried if the outcome is unknown: `latest` would skip the events since
     * the first attempt.
     */
    replay: async (id: IdInput, replay: Replay, options?: CallOptions): Promise<Webhook> => {
      const path = `/webhooks/${idText(id)}/replay` as const
      const call = { operation: 'replayWebhook', method: 'POST', path, body: replay } as const
      return (await send({ ...call, idempotent: false }, options)).value
    },

    /** Lists the attempts to deliver a message, newest first. */
    deliveries: (id: IdInput, query?: ListDeliveriesQuery, options?: CallOptions) =>
      listOf(send, 'listDeliveries', () => `/webhooks/${idText(id)}/deliveries`, query, options),

    /** Sends the message of a delivery again. Not retried if the outcome is unknown: the message could be sent twice. */
    redeliver: async (id: IdInput, deliveryId: IdInput, options?: CallOptions): Promise<Webhook> => {
      const path = `/webhooks/${idText(id)}/deliveries/${idText(deliveryId)}/redeliver` as const
      return (await send({ operation: 'redeliver', method: 'POST', path, idempotent: false }, options)).value
    },
  }
}

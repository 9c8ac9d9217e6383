// JSON schemas of webhooks, their deliveries and the messages that receivers get.
import { type Static, Type } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'
import { CursorParameter, LimitParameter } from '../../contract/paging-parameters.ts'
import { EVENT_TYPES, type EventType } from '../feed/schema.ts'
import {
  DESCRIPTION_LENGTH_MAX,
  SECRET_OVERLAP_SECONDS_DEFAULT,
  SECRET_OVERLAP_SECONDS_MAX,
  TEST_TYPE,
  URL_LENGTH_MAX,
} from './rules.ts'

const DISABLED_REASONS = ['caller', 'failing', 'gone'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

export const DELIVERY_OUTCOMES = ['delivered', 'failed', 'given_up', 'skipped'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

export const DELIVERY_KINDS = ['event', 'redelivery', 'test'] as const
export type DeliveryKind = (typeof DELIVERY_KINDS)[number]

export const LIST_LIMIT_DEFAULT = 20

const url = Type.String({
  format: 'uri',
  maxLength: URL_LENGTH_MAX,
  description: 'Where to send the events: an `https:` URL of a public host.',
})
const description = Type.String({
  minLength: 1,
  maxLength: DESCRIPTION_LENGTH_MAX,
  description: 'What the webhook is for.',
})
const types = Type.Array(Type.Unsafe<EventType>({ type: 'string', enum: EVENT_TYPES }), {
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  uniqueItems: true,
  description:
    'Types of the events to send. `order.*` types require the scope `orders:read`. Default: all types that the API key can read.',
})
const time = (text: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: text })

const properties = {
  id: Type.Unsafe<bigint>({ ...Int64, description: 'Assigned by the service.' }),
  url,
  description: Type.Optional(description),
  types: Type.Array(Type.Unsafe<EventType>({ type: 'string', examples: EVENT_TYPES }), {
    description: 'Types of the events to send.',
  }),
  enabled: Type.Boolean({ description: 'Whether the service delivers to this webhook.' }),
  disabledReason: Type.Optional(
    Type.Unsafe<DisabledReason>({
      type: 'string',
      examples: DISABLED_REASONS,
      description:
        'Why the webhook is disabled: `caller` (by a request), `failing` (only failed attempts for 3 days) or `gone` (the receiver returned 410). New reasons can be added.',
    }),
  ),
  disabledAt: Type.Optional(time('When the webhook was disabled. Absent while it is enabled.')),
  failingSince: Type.Optional(time('Since when every attempt has failed. Absent after a success.')),
  lastDeliveredAt: Type.Optional(
    time('When the newest attempt that succeeded ended. Absent if there is none among the deliveries.'),
  ),
  position: Type.String({
    description: 'All events up to this position of the feed are delivered, given up or wait for a retry.',
  }),
  waiting: Type.Integer({
    minimum: 0,
    description: 'Number of messages that wait for a retry, with later events of the same pets.',
  }),
  createdAt: time('When the webhook was created.'),
}

export const WebhookSchema = Type.Object(properties, {
  $id: 'Webhook',
  description: 'A URL to which the service sends events. See the webhooks of this document for the messages.',
})
export type Webhook = ResponseOf<typeof WebhookSchema>

const secret = Type.String({
  description: 'The secret that signs the messages. Only this response contains it.',
})
export const CreatedWebhookSchema = Type.Object(
  { ...properties, secret },
  { $id: 'CreatedWebhook', description: 'A new webhook with its secret.' },
)
export const WebhookSecretSchema = Type.Object(
  { secret },
  { $id: 'WebhookSecret', description: 'The new secret of a webhook.' },
)

export const WebhooksSchema = Type.Array(refTo(WebhookSchema), {
  $id: 'Webhooks',
  description: 'Webhooks, newest first.',
})

const NewWebhookSchema = Type.Object(
  { url, description: Type.Optional(description), types: Type.Optional(types) },
  {
    $id: 'NewWebhook',
    additionalProperties: false,
    description: 'The webhook to create.',
    examples: [{ url: 'https://shop.example/hooks/petstore', types: ['pet.created', 'pet.updated'] }],
  },
)
export type NewWebhook = Static<typeof NewWebhookSchema>
export const NewWebhookRef = refTo(NewWebhookSchema)

const WebhookChangesSchema = Type.Object(
  {
    url: Type.Optional(url),
    description: Type.Optional(description),
    types: Type.Optional(types),
    enabled: Type.Optional(
      Type.Boolean({ description: 'Starts or stops the delivery. Delivery continues where it stopped.' }),
    ),
  },
  {
    $id: 'WebhookChanges',
    additionalProperties: false,
    description: 'The fields to change.',
    examples: [{ enabled: true }],
  },
)
export type WebhookChanges = Static<typeof WebhookChangesSchema>
export const WebhookChangesRef = refTo(WebhookChangesSchema)

const SecretRotationSchema = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: SECRET_OVERLAP_SECONDS_MAX,
        default: SECRET_OVERLAP_SECONDS_DEFAULT,
        description: 'How long messages are signed with the former secret too, in seconds.',
      }),
    ),
  },
  { $id: 'SecretRotation', additionalProperties: false, examples: [{ overlapSeconds: 3600 }] },
)
export const SecretRotationRef = refTo(SecretRotationSchema)

const ReplaySchema = Type.Object(
  {
    after: Type.String({
      format: 'position',
      minLength: 1,
      maxLength: 64,
      description:
        'The position after which to send all events again. `latest` skips all events up to the newest one.',
    }),
  },
  { $id: 'Replay', additionalProperties: false, examples: [{ after: '3f1c9a52be07-18' }] },
)
export const ReplayRef = refTo(ReplaySchema)

const DeliverySchema = Type.Object(
  {
    id: Type.Unsafe<bigint>({ ...Int64, description: 'Assigned by the service.' }),
    messageId: Type.String({ description: 'The header `webhook-id`. Equal for all attempts of a message.' }),
    kind: Type.Unsafe<DeliveryKind>({
      type: 'string',
      examples: DELIVERY_KINDS,
      description: 'Why the message was sent. New kinds can be added.',
    }),
    type: Type.String({ description: 'Type of the event.', examples: [...EVENT_TYPES, TEST_TYPE] }),
    position: Type.Optional(
      Type.String({ description: 'Position of the event. Absent for a test event, and after a new epoch.' }),
    ),
    petId: Type.Optional(Type.Unsafe<bigint>({ ...Int64, description: 'Id of the pet.' })),
    attempt: Type.Integer({ minimum: 1, description: 'Number of this attempt, from 1.' }),
    outcome: Type.Unsafe<DeliveryOutcome>({
      type: 'string',
      examples: DELIVERY_OUTCOMES,
      description:
        '`delivered`: the receiver returned 2xx. `failed`: a retry follows. `given_up`: no further retry. `skipped`: nothing was sent, because the event is no longer stored, or the webhook no longer gets events of this type. New outcomes can be added.',
    }),
    responseStatus: Type.Optional(Type.Integer({ description: 'Status of the response.' })),
    failure: Type.Optional(
      Type.String({ description: 'Why there was no response.', examples: ['timeout', 'address_blocked'] }),
    ),
    durationMs: Type.Integer({ minimum: 0, description: 'Duration of the attempt, in milliseconds.' }),
    at: time('When the attempt ended.'),
    nextAttemptAt: Type.Optional(
      time(
        'When the message is sent again, or later while the receiver is down. Present only after the newest attempt of a message that waits for a retry. Absent while the webhook is disabled.',
      ),
    ),
  },
  { $id: 'Delivery', description: 'One attempt to deliver a message to a webhook.' },
)
export type Delivery = ResponseOf<typeof DeliverySchema>

export const DeliveriesSchema = Type.Array(refTo(DeliverySchema), {
  $id: 'Deliveries',
  description: 'Attempts, newest first.',
})

export const WEBHOOK_SCHEMAS = [
  WebhookSchema,
  CreatedWebhookSchema,
  WebhookSecretSchema,
  WebhooksSchema,
  NewWebhookSchema,
  WebhookChangesSchema,
  SecretRotationSchema,
  ReplaySchema,
  DeliverySchema,
  DeliveriesSchema,
]

const webhookId = Type.Unsafe<bigint>({ ...Int64, description: 'The id of the webhook.' })
export const WebhookParams = Type.Object({ webhookId }, { notFound: 'webhook_not_found' })
export const DeliveryParams = Type.Object(
  { webhookId, deliveryId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the delivery.' }) },
  { notFound: 'delivery_not_found' },
)

export const ListWebhooksQuery = Type.Object({
  limit: LimitParameter(LIST_LIMIT_DEFAULT),
  cursor: CursorParameter,
})

export const ListDeliveriesQuery = Type.Object({
  limit: LimitParameter(LIST_LIMIT_DEFAULT),
  outcome: Type.Optional(
    Type.Unsafe<DeliveryOutcome>({
      type: 'string',
      enum: DELIVERY_OUTCOMES,
      description: 'Return only attempts with this outcome.',
    }),
  ),
  cursor: CursorParameter,
})

// JSON schema of the messages that receivers get, and its place in openapi.json. No route uses it.
import { type TProperties, Type } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'
import { refTo } from '../../contract/named-schema.ts'
import { nameOfType, openUnion } from '../../contract/open-union.ts'
import { OrderSchema } from '../../store/orders/schema.ts'
import { EntrySchema } from '../../store/ledger/schema.ts'
import { CHANGES, FUTURE_CHANGE } from '../feed/schema.ts'
import { TEST_TYPE } from './rules.ts'

const position = Type.String({ description: 'Position of the event in the feed.' })
const petId = Type.Unsafe<bigint>({ ...Int64, description: 'Id of the pet.' })
const webhookId = Type.Unsafe<bigint>({ ...Int64, description: 'Id of the webhook.' })
/** Without the note, which is meant for the staff. */
const MessageOrderSchema = Type.Omit(OrderSchema, ['note'], {
  $id: 'MessageOrder',
  description: 'An order, without its note.',
})
/** Without what is about people. */
const MessageEntrySchema = Type.Omit(EntrySchema, ['seller', 'actor', 'reason', 'note'], {
  $id: 'MessageEntry',
  description: 'An entry of the ledger, without its people and its reason.',
})
const order = refTo(MessageOrderSchema)
const entry = refTo(MessageEntrySchema)

const messageOf = (data: TProperties) => ({
  timestamp: Type.String({ format: 'date-time', description: 'Time of the change.' }),
  data: Type.Object(data),
})

const EVENTS = Object.entries(CHANGES).map(([type, fields]) => ({
  type,
  data: {
    position,
    petId,
    ...fields,
    ...('order' in fields && { order }),
    ...('entry' in fields && { entry }),
  },
}))
const MESSAGES: { type: string; data: TProperties }[] = [...EVENTS, { type: TEST_TYPE, data: { webhookId } }]
const ALL_DATA = Type.Object(Object.assign({}, ...MESSAGES.map(({ data }) => data)) as TProperties)

const MESSAGE_UNION = openUnion(
  'WebhookMessage',
  'The body of a message to the URL of a webhook: an event, without its author. New types can be added: return 2xx for types that you do not know.',
  MESSAGES.map(({ type, data }) => ({
    name: nameOfType(type, 'Message'),
    type,
    fields: messageOf(data),
  })),
  {
    name: 'FutureMessage',
    fields: messageOf({ ...Type.Partial(ALL_DATA).properties, changed: FUTURE_CHANGE.changed }),
  },
)

export const MESSAGE_SCHEMAS = [MessageOrderSchema, MessageEntrySchema, ...MESSAGE_UNION.parts]
export const WEBHOOK_MESSAGE = MESSAGE_UNION.union

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

const EXAMPLE = {
  type: 'pet.updated',
  timestamp: '2026-11-15T10:00:00.000Z',
  data: {
    position: '3f1c9a52be07-18',
    petId: 42,
    pet: { id: 42, name: 'Biscuit', categoryId: 1, status: 'pending' },
    changed: ['status'],
  },
}

/** The section `webhooks` of openapi.json. */
export const WEBHOOKS_SECTION = {
  event: {
    post: {
      operationId: 'receiveEvent',
      summary: 'An event',
      description: `The service sends every event of the chosen types to the URL of the webhook, at least once and in the order of each pet. Verify the signature over the bytes of the body, as [Standard Webhooks](https://www.standardwebhooks.com) defines it, and respond with 2xx within 15 seconds. Any other response is a failure; 410 disables the webhook.`,
      tags: ['webhooks'],
      security: [],
      parameters: [
        header('webhook-id', 'Identifies the message. The same for every attempt.'),
        header('webhook-timestamp', 'Time of the attempt, in seconds since 1970.'),
        header(
          'webhook-signature',
          'One or more signatures, separated by blanks: `v1,` and the HMAC-SHA256 of `webhook-id.webhook-timestamp.body` in base64.',
        ),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/WebhookMessage' },
            examples: { example: { value: EXAMPLE } },
          },
        },
      },
      responses: {
        '2XX': { description: 'The message is delivered.' },
        '410': { description: 'The receiver wants no further messages. The service disables the webhook.' },
        default: { description: 'The attempt failed. The service retries.' },
      },
    },
  },
}

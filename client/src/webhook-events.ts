// The events that webhooks deliver: the changes of the feed, without the fields that do not leave the store.
import type { Id, Order } from './interface.ts'
import type {
  FutureEvent,
  OrderEvent,
  PetCreated,
  PetDeleted,
  PetProfileUpdated,
  PetUpdated,
} from './store-event.ts'

interface Webhook<Type extends string, Data> {
  /** The header `webhook-id`. It is the same in every attempt: store it, and ignore a message whose id you have stored. */
  id: string
  type: Type
  /** Time of the change. */
  timestamp: string
  data: Data
}

/** A feed event without what the message contains in other places, and without its author. */
type DataOf<Event> = Omit<Event, 'type' | 'occurredAt' | 'apiKeyName' | 'requestId' | 'order'>

interface NotInChanges {
  webhookId?: undefined
}

interface NotInPetChanges extends NotInChanges {
  order?: undefined
}

export type PetCreatedWebhook = Webhook<'pet.created', DataOf<PetCreated> & NotInPetChanges>
export type PetUpdatedWebhook = Webhook<'pet.updated', DataOf<PetUpdated> & NotInPetChanges>
export type PetProfileUpdatedWebhook = Webhook<
  'pet.profile_updated',
  DataOf<PetProfileUpdated> & NotInPetChanges
>
export type PetDeletedWebhook = Webhook<'pet.deleted', DataOf<PetDeleted> & NotInPetChanges>

/** Webhooks never contain the note of an order. */
export type WebhookOrder = Omit<Order, 'note'>

type OrderData = DataOf<OrderEvent> & NotInChanges & { order: WebhookOrder }

/** One member of the union for each type: TypeScript narrows a union only by whole members. */
type OrderWebhookOf<Type extends string> = Type extends string ? Webhook<Type, OrderData> : never
export type OrderWebhook = OrderWebhookOf<OrderEvent['type']>

/** Sent if you request a test of the webhook. */
export type TestWebhook = Webhook<
  'webhook.test',
  {
    webhookId: Id
    position?: undefined
    petId?: undefined
    pet?: undefined
    changed?: undefined
    profile?: undefined
    order?: undefined
  }
>

/** An event of a type that a later version of the service has added. See `FutureEvent`. */
export type FutureWebhook = Webhook<
  FutureEvent['type'],
  Partial<DataOf<FutureEvent>> & { order?: WebhookOrder; webhookId?: Id }
>

/** A message, told apart by its `type`. Ignore types that you do not know. */
export type WebhookEvent =
  | PetCreatedWebhook
  | PetUpdatedWebhook
  | PetProfileUpdatedWebhook
  | PetDeletedWebhook
  | OrderWebhook
  | TestWebhook
  | FutureWebhook

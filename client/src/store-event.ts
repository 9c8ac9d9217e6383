// The events of the feed, as types.
import type { Id, ListEventsQuery, Order, Pet, PetProfile } from './interface.ts'

export type EventType = NonNullable<ListEventsQuery['type']>[number]

interface EventFields {
  /** Pass it as `after` to read the events that follow. */
  position: string
  occurredAt: string
  petId: Id
  /** The API key that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  apiKeyName?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
}

export interface PetCreated extends EventFields {
  type: 'pet.created'
  pet: Pet
  changed?: undefined
  profile?: undefined
  order?: undefined
}

export interface PetUpdated extends EventFields {
  type: 'pet.updated'
  /** The whole pet after the change. */
  pet: Pet
  changed: ('name' | 'categoryId' | 'status')[]
  profile?: undefined
  order?: undefined
}

export interface PetProfileUpdated extends EventFields {
  type: 'pet.profile_updated'
  pet?: undefined
  changed?: undefined
  /** The whole profile after the change. */
  profile: PetProfile
  order?: undefined
}

export interface PetDeleted extends EventFields {
  type: 'pet.deleted'
  pet?: undefined
  changed?: undefined
  profile?: undefined
  order?: undefined
}

interface OrderEventOf<Type extends string> extends EventFields {
  type: Type
  pet?: undefined
  changed?: undefined
  profile?: undefined
  order: Order
}

export type OrderEvent =
  | OrderEventOf<'order.placed'>
  | OrderEventOf<'order.completed'>
  | OrderEventOf<'order.cancelled'>
  | OrderEventOf<'order.expired'>

/**
 * An event of a type that a later version of the service has added, such as `pet.weighed`. The words in parentheses exist
 * only for the compiler: if `type` were any string here, `event.type === 'pet.created'` would not narrow the union.
 */
export interface FutureEvent extends EventFields {
  type: `${string} (a type of a later version)`
  pet?: Pet
  changed?: string[]
  profile?: PetProfile
  order?: Order
}

/** A change, told apart by its `type`. Ignore types that you do not know. */
export type StoreEvent = PetCreated | PetUpdated | PetProfileUpdated | PetDeleted | OrderEvent | FutureEvent

export interface EventPage {
  /** Oldest first. */
  items: StoreEvent[]
  /** Pass it as `after` to read the events that follow this page, now or later. */
  next: string
}

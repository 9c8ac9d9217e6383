// The feed of events: every change to pets and orders, in one order that is the same for every reader.
import type { CallOptions, Transport } from './call.ts'
import { linkTo } from './deprecation.ts'
import { PetstoreError } from './errors.ts'
import { type FollowOptions, iterateEvents } from './follow.ts'
import type { Id, ListEventsQuery, Order, Pet } from './interface.ts'

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
  order?: undefined
}

export interface PetUpdated extends EventFields {
  type: 'pet.updated'
  /** The whole pet after the change. */
  pet: Pet
  changed: ('name' | 'categoryId' | 'status')[]
  order?: undefined
}

export interface PetDeleted extends EventFields {
  type: 'pet.deleted'
  pet?: undefined
  changed?: undefined
  order?: undefined
}

interface OrderEventOf<Type extends string> extends EventFields {
  type: Type
  pet?: undefined
  changed?: undefined
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
  order?: Order
}

/** A change, told apart by its `type`. Ignore types that you do not know. */
export type StoreEvent = PetCreated | PetUpdated | PetDeleted | OrderEvent | FutureEvent

export interface EventPage {
  /** Oldest first. */
  items: StoreEvent[]
  /** Pass it as `after` to read the events that follow this page, now or later. */
  next: string
}

export type Events = ReturnType<typeof eventsOf>

export function eventsOf(transport: Transport) {
  /** Returns one page of events, oldest first. If the page is empty, wait a moment before you read the next one. */
  async function list(query: ListEventsQuery = {}, options?: CallOptions): Promise<EventPage> {
    const call = { operation: 'listEvents', method: 'GET', path: '/events', query, idempotent: true } as const
    const { value, headers } = await transport.send(call, options)
    return { items: value as StoreEvent[], next: nextPosition(headers) }
  }

  return {
    list,

    /**
     * Yields every event after a position, and waits for new ones. Reconnects after any temporary fault, and neither
     * skips nor repeats an event. Ends only if you `break`, if your signal is aborted, or with an error that a retry
     * cannot fix. The code `events_expired` means that events after your position are no longer available: read all
     * pets again, then follow from a new position.
     */
    follow: (options: FollowOptions = {}): AsyncIterable<StoreEvent> => ({
      [Symbol.asyncIterator]: () => iterateEvents(transport, list, options),
    }),
  }
}

/** Takes only the position from the link, so that the API key is never sent to another address. */
function nextPosition(headers: Headers): string {
  const next = new URL(linkTo('next', headers) ?? '', 'http://localhost').searchParams.get('after')
  if (next !== null) return next
  throw new PetstoreError({ code: 'unexpected_answer', message: 'The page has no link to the next events.' })
}

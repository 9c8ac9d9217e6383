// The pages of the event feed. The types of the events are in interface.ts.
import type {
  ListEventsQuery,
  OrderCancelledEvent,
  OrderCompletedEvent,
  OrderEntryAddedEvent,
  OrderExpiredEvent,
  OrderPlacedEvent,
  OrderUpdatedEvent,
  StoreEvent,
} from './interface.ts'

export type EventType = NonNullable<ListEventsQuery['type']>[number]

export type OrderEvent =
  | OrderPlacedEvent
  | OrderUpdatedEvent
  | OrderCompletedEvent
  | OrderCancelledEvent
  | OrderExpiredEvent
  | OrderEntryAddedEvent

export interface EventPage {
  /** Oldest first. */
  items: StoreEvent[]
  /** Pass it as `after` to read the events that follow this page, now or later. */
  next: string
}

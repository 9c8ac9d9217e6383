// The schema of events.

export const PET_EVENT_TYPES = ['pet.created', 'pet.updated', 'pet.deleted'] as const
export const ORDER_EVENT_TYPES = [
  'order.placed',
  'order.completed',
  'order.cancelled',
  'order.expired',
] as const
export const EVENT_TYPES = [...PET_EVENT_TYPES, ...ORDER_EVENT_TYPES] as const
export type EventType = (typeof EVENT_TYPES)[number]

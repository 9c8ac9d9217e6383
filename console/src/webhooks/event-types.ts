// The types of events in plain words.
import type { NewWebhook } from '@petstore/client'

export type EventType = NonNullable<NewWebhook['types']>[number]

interface TypeText {
  type: EventType
  /** What happened, for a list of deliveries. */
  label: string
  /** When the service sends the event. */
  when: string
}

/** Sorted as the form shows them. */
export const TYPE_TEXTS: TypeText[] = [
  { type: 'pet.created', label: 'Pet added', when: 'A new pet is in the store.' },
  { type: 'pet.updated', label: 'Pet changed', when: 'The name, category or status of a pet has changed.' },
  {
    type: 'pet.profile_updated',
    label: 'Price or facts changed',
    when: 'The price, breed, chip number or another fact of a pet has changed.',
  },
  { type: 'pet.deleted', label: 'Pet deleted', when: 'A pet that was added by mistake was deleted.' },
  { type: 'order.placed', label: 'Pet held', when: 'A pet is held for a customer.' },
  {
    type: 'order.updated',
    label: 'Hold changed',
    when: 'The note of a hold or sale, or the end of a hold, has changed.',
  },
  { type: 'order.completed', label: 'Pet sold', when: 'A customer has bought the pet, with its price.' },
  { type: 'order.cancelled', label: 'Hold released', when: 'The customer does not want the pet any more.' },
  { type: 'order.expired', label: 'Hold ran out', when: 'The customer did not come in time.' },
  {
    type: 'order.entry_added',
    label: 'Money moved',
    when: 'A deposit, a sale, a correction, a refund or their undo is in the till.',
  },
]

export const ALL_TYPES: EventType[] = TYPE_TEXTS.map(({ type }) => type)

/** The type of the message that a person sends to see whether the receiver works. */
const TEST_TYPE = 'webhook.test'

/** The service can add types that this page does not know. They are shown as they are. */
export function typeLabel(type: string): string {
  if (type === TEST_TYPE) return 'Test event'
  return TYPE_TEXTS.find((known) => known.type === type)?.label ?? type
}

/** Whether only keys with the scope `orders:read` can read events of this type. */
export function isOfOrder(type: string): boolean {
  return type.startsWith('order.')
}

/** Such as "All events", or "Pet added, Pet sold". */
export function typesText(types: readonly string[]): string {
  if (ALL_TYPES.every((type) => types.includes(type))) return 'All events'
  if (isExactly(types, (type) => !isOfOrder(type))) return 'All events of pets'
  if (isExactly(types, isOfOrder)) return 'All holds and sales'
  return types.map(typeLabel).join(', ')
}

function isExactly(types: readonly string[], belongs: (type: string) => boolean): boolean {
  const wanted = ALL_TYPES.filter(belongs)
  return types.length === wanted.length && wanted.every((type) => types.includes(type))
}

/** Whether a key can change, test and redeliver a webhook with these types. The service has the same rule. */
export function canManage(scopes: ReadonlySet<string>, types: readonly string[] = []): boolean {
  const needed = ['webhooks:write', 'pets:read', ...(types.some(isOfOrder) ? ['orders:read'] : [])]
  return needed.every((scope) => scopes.has(scope))
}

// The events of the feed: every change emits them at once, in the order in which a reader must see them.
import type { Change, Id, Order, Pet, PetStatus, Profile, Store } from './store.ts'

const PET_TYPES = ['pet.created', 'pet.updated', 'pet.profile_updated', 'pet.deleted'] as const
const ORDER_TYPES = ['order.placed', 'order.completed', 'order.cancelled', 'order.expired'] as const
export const EVENT_TYPES = [...PET_TYPES, ...ORDER_TYPES] as const
export type EventType = (typeof EVENT_TYPES)[number]

export interface StoreEvent {
  type: EventType
  petId: number
  pet?: { id: number; name: string; categoryId: Id; status: PetStatus }
  changed?: string[]
  profile?: Profile & { petId: number }
  order?: Order
  apiKeyName: string
  /** Undefined if the service itself made the change, because the model cannot know the id that it chose. */
  requestId: string | undefined
}

/** Who made a change. */
export type Actor = Pick<StoreEvent, 'apiKeyName' | 'requestId'>

export function emitPet(
  store: Store,
  type: Exclude<(typeof PET_TYPES)[number], 'pet.profile_updated'>,
  pet: Pet,
  { apiKeyName, requestId }: Actor,
  to: Change = {},
): void {
  const { id, name, categoryId, status } = pet
  const changed = ['name', 'categoryId', 'status'].filter((field) => field in to)
  store.events.push({
    type,
    petId: id,
    ...(type !== 'pet.deleted' && { pet: { id, name, categoryId, status } }),
    ...(type === 'pet.updated' && { changed }),
    apiKeyName,
    requestId,
  })
}

export function emitProfile(store: Store, { id, profile }: Pet, { apiKeyName, requestId }: Actor): void {
  const type = 'pet.profile_updated'
  store.events.push({ type, petId: id, profile: { petId: id, ...profile }, apiKeyName, requestId })
}

/** The order is open if it was just placed. */
export function emitOrder(store: Store, order: Order, { apiKeyName, requestId }: Actor): void {
  const type = order.status === 'open' ? 'order.placed' : (`order.${order.status}` as const)
  store.events.push({ type, petId: order.petId, order: { ...order }, apiKeyName, requestId })
}

/** Which events a caller with these scopes can request. */
export function readableTypes(scopes: readonly string[]): readonly EventType[] {
  return scopes.includes('orders:read') ? EVENT_TYPES : PET_TYPES
}

/** The events as the caller sees them, in order. */
export function eventsFor(
  { events }: Store,
  types: readonly EventType[],
  scopes: readonly string[],
): Omit<StoreEvent, 'apiKeyName'>[] {
  const seesActors = scopes.includes('orders:read')
  return events
    .filter(({ type }) => types.includes(type))
    .map(({ apiKeyName, requestId, ...event }) => ({
      ...event,
      requestId: undefined,
      ...(seesActors && { apiKeyName, requestId }),
    }))
}

// The events of the feed: every change emits them at once, in the order in which a reader must see them.
import {
  type Change,
  type Id,
  type MoneyEntry,
  type Order,
  type Pet,
  type PetStatus,
  type Profile,
  type Store,
  withNames,
} from './store.ts'
import { entryBody, orderBody } from './money.ts'

const PET_TYPES = ['pet.created', 'pet.updated', 'pet.profile_updated', 'pet.deleted'] as const
const ORDER_TYPES = [
  'order.placed',
  'order.updated',
  'order.completed',
  'order.cancelled',
  'order.expired',
  'order.entry_added',
] as const
export const EVENT_TYPES = [...PET_TYPES, ...ORDER_TYPES] as const
export type EventType = (typeof EVENT_TYPES)[number]

export interface StoreEvent {
  type: EventType
  petId: number
  pet?: { id: number; name: string; categoryId: Id; status: PetStatus }
  changed?: string[]
  profile?: Profile & { petId: number }
  order?: Order | Record<string, unknown>
  entry?: MoneyEntry
  actor: string
  /** Undefined if the service itself made the change, because the model cannot know the id that it chose. */
  requestId: string | undefined
}

/** Who made a change. */
export type Actor = Pick<StoreEvent, 'actor' | 'requestId'>

export function emitPet(
  store: Store,
  type: Exclude<(typeof PET_TYPES)[number], 'pet.profile_updated'>,
  pet: Pet,
  { actor, requestId }: Actor,
  to: Change = {},
): void {
  const { id, name, categoryId, status } = pet
  const changed = ['name', 'categoryId', 'status'].filter((field) => field in to)
  store.events.push({
    type,
    petId: id,
    ...(type !== 'pet.deleted' && { pet: { id, name, categoryId, status } }),
    ...(type === 'pet.updated' && { changed }),
    actor,
    requestId,
  })
}

export function emitProfile(store: Store, { id, profile }: Pet, { actor, requestId }: Actor): void {
  const type = 'pet.profile_updated'
  store.events.push({ type, petId: id, profile: { petId: id, ...profile }, actor, requestId })
}

/** An order that is open was just placed, unless it was updated. */
export function emitOrder(store: Store, order: Order, { actor, requestId }: Actor, isUpdate = false): void {
  const ofStatus = order.status === 'open' ? 'order.placed' : (`order.${order.status}` as const)
  const type = isUpdate ? 'order.updated' : ofStatus
  store.events.push({ type, petId: order.petId, order: { ...order }, actor, requestId })
}

/** The order is as clients see it after the entry. */
export function emitEntry(store: Store, order: Order, entry: MoneyEntry, { actor, requestId }: Actor): void {
  const shown = orderBody(store, order)
  store.events.push({ type: 'order.entry_added', petId: order.petId, order: shown, entry, actor, requestId })
}

/** Which events a caller with these scopes can request. */
export function readableTypes(scopes: readonly string[]): readonly EventType[] {
  return scopes.includes('orders:read') ? EVENT_TYPES : PET_TYPES
}

/** The events as the caller sees them, in order. */
export function eventsFor(
  store: Store,
  types: readonly EventType[],
  scopes: readonly string[],
): (Omit<StoreEvent, 'actor' | 'entry'> & { entry?: unknown })[] {
  const seesActors = scopes.includes('orders:read')
  // The id of an entry may have been unknown when it was written.
  const written = store.events.map(({ entry, ...event }) => ({
    ...event,
    ...(entry && { entry: entryBody(entry) }),
  }))
  const shown = withNames(store, written) as typeof written
  return shown
    .filter(({ type }) => types.includes(type))
    .map(({ actor, requestId, ...event }) => ({
      ...event,
      requestId: undefined,
      ...(seesActors && { actor, requestId }),
    }))
}

// The rules of pets and categories.
import { emitPet } from './events.ts'
import { priceFault, putProfile } from './profiles.ts'
import {
  type Caller,
  type Change,
  countsOf,
  type Entry,
  type Expected,
  type Id,
  once,
  type Pet,
  type PetStatus,
  type Profile,
  reject,
  type Seen,
  type Store,
  takeId,
} from './store.ts'
import { orderThatSold, refundAll } from './entries.ts'

export interface NewPet {
  name: string
  categoryId: Id
  status?: PetStatus | undefined
  profile?: { [Field in keyof Profile]: Profile[Field] | undefined } | undefined
}

export function petBody({ id, name, categoryId, status }: Pet): Record<string, unknown> {
  return { id, name, categoryId, status }
}

export function etagOf({ version }: Pet): string {
  return `"${version}"`
}

export function createPet(
  store: Store,
  caller: Caller,
  { name, categoryId, status = 'available', profile = {} }: NewPet,
  key: string | undefined,
  seen: Seen,
): Expected {
  if (name.trim() === '') return reject('invalid_body')
  const fault = priceFault(profile)
  if (fault !== undefined) return reject(fault)
  return once(store, caller, key, ['createPet', name, categoryId, status, JSON.stringify(profile)], () => {
    const created = { event: 'created', actor: caller.name, requestId: caller.requestId }
    const pet: Pet = {
      id: takeId(store, 'pet', seen),
      name,
      categoryId,
      status,
      version: 1,
      profile: {},
      profileVersion: 0,
      history: [created],
    }
    store.pets.set(pet.id, pet)
    emitPet(store, 'pet.created', pet, created)
    putProfile(store, caller, pet.id, profile, undefined)
    return { status: 201, body: petBody(pet), etag: etagOf(pet) }
  })
}

export function getPet(store: Store, petId: Id): Expected {
  const pet = store.pets.get(Number(petId))
  return pet === undefined ? reject('pet_not_found') : { status: 200, body: petBody(pet), etag: etagOf(pet) }
}

export function updatePet(
  store: Store,
  caller: Caller,
  petId: Id,
  {
    reason,
    ...wanted
  }: { [Field in keyof Change]: Change[Field] | undefined } & { reason?: string | undefined },
  ifMatch: string | undefined,
): Expected {
  const pet = store.pets.get(Number(petId))
  if (pet === undefined) return reject('pet_not_found')
  if (!matches(pet, ifMatch)) return reject('precondition_failed')
  const to = Object.fromEntries(
    Object.entries(wanted).filter(
      ([field, value]) => value !== undefined && value !== pet[field as keyof Pet],
    ),
  ) as Change
  if (to.status === 'pending' && pet.status === 'sold') return reject('invalid_transition')
  if (to.status !== undefined && isHeld(store, pet)) return reject('pet_on_hold')
  const sold = pet.status === 'sold' && to.status !== undefined ? orderThatSold(store, pet.id) : undefined
  if (sold !== undefined && !caller.scopes.includes('till:write')) return reject('insufficient_scope')
  if (sold !== undefined) refundAll(store, sold, caller)
  if (Object.keys(to).length > 0) {
    change(store, pet, to, {
      event: 'updated',
      actor: caller.name,
      requestId: caller.requestId,
      ...(reason !== undefined && { reason }),
    })
  }
  return { status: 200, body: petBody(pet), etag: etagOf(pet) }
}

export interface PetByReference {
  name: string
  categoryId: Id
  status?: PetStatus | undefined
  /** Null clears a fact. */
  profile: { breed?: string | null | undefined; price?: string | null | undefined }
}

/** Creates the pet with the reference, or changes its name, category and facts, but never its status. */
export function putByReference(
  store: Store,
  caller: Caller,
  reference: string,
  { profile: facts, status, ...wanted }: PetByReference,
  seen: Seen,
): Expected {
  const given = Object.entries(facts).filter(([, value]) => value !== undefined)
  const pet = [...store.pets.values()].find(({ profile }) => profile.reference === reference)
  const merged = Object.fromEntries(
    Object.entries({ ...pet?.profile, ...Object.fromEntries(given), reference }).filter(
      ([, value]) => value !== null,
    ),
  ) as Profile
  if (pet === undefined)
    return createPet(store, caller, { ...wanted, status, profile: merged }, undefined, seen)
  updatePet(store, caller, pet.id, wanted, undefined)
  putProfile(store, caller, pet.id, merged, undefined)
  return { status: 200, body: petBody(pet), etag: etagOf(pet) }
}

export function deletePet(
  store: Store,
  { name, requestId }: Caller,
  petId: Id,
  ifMatch: string | undefined,
): Expected {
  const pet = store.pets.get(Number(petId))
  if (pet === undefined) return reject('pet_not_found')
  if (!matches(pet, ifMatch)) return reject('precondition_failed')
  if (ordersOf(store, pet).length > 0) return reject('pet_has_orders')
  store.pets.delete(pet.id)
  store.deletedPets.push(pet.id)
  emitPet(store, 'pet.deleted', pet, { actor: name, requestId })
  return { status: 204 }
}

/** Every change to a pet adds a version, an entry to its history, and an event. */
export function change(store: Store, pet: Pet, to: Change, entry: Omit<Entry, 'from' | 'to'>): void {
  const from = Object.fromEntries(Object.keys(to).map((field) => [field, pet[field as keyof Change]]))
  Object.assign(pet, to)
  pet.version += 1
  pet.history.push({ ...entry, from, to })
  emitPet(store, 'pet.updated', pet, entry, to)
}

export function putCategory(
  store: Store,
  { scopes }: Caller,
  id: Id,
  { name, picture }: { name: string; picture?: string | null | undefined },
  mustBeNew: boolean,
): Expected {
  const known = store.categories.get(id)
  const isNew = known === undefined
  if (picture !== undefined && !scopes.includes('admin')) return reject('insufficient_scope')
  if (mustBeNew && !isNew) return reject('category_exists')
  store.categories.set(id, { name, picture: picture === undefined ? known?.picture : (picture ?? undefined) })
  return { status: isNew ? 201 : 200, body: categoryBody(store, id) }
}

export function categoryBody(store: Store, id: Id): Record<string, unknown> {
  const members = [...store.pets.values()].filter(({ categoryId }) => categoryId === id)
  return { id, ...store.categories.get(id), counts: countsOf(members) }
}

function matches(pet: Pet, ifMatch: string | undefined): boolean {
  return ifMatch === undefined || ifMatch === '*' || ifMatch.split(', ').includes(etagOf(pet))
}

function ordersOf(store: Store, { id }: Pet) {
  return [...store.orders.values()].filter(({ petId }) => petId === id)
}

function isHeld(store: Store, pet: Pet): boolean {
  return ordersOf(store, pet).some(({ status }) => status === 'open')
}

// Commands on pets and categories.
import * as fc from 'fast-check'
import {
  createPet,
  deletePet,
  etagOf,
  getPet,
  petBody,
  putByReference,
  putCategory,
  updatePet,
} from '../reference/pets.ts'
import { countsOf, type Id } from '../reference/store.ts'
import { callBoth, type Session } from '../fixture.ts'
import * as some from './choices.ts'
import { type Command, command, pickPet } from './choices.ts'
import { profileFields } from './profiles.ts'

export const newPet = fc.record({
  name: fc.oneof({ arbitrary: some.name, weight: 20 }, { arbitrary: fc.constantFrom('', ' \t'), weight: 1 }),
  categoryId: some.categoryId,
  status: some.optional(some.petStatus),
})

const newPetWithProfile = fc
  .tuple(newPet, some.optional(profileFields))
  .map(([pet, profile]) => ({ ...pet, profile }))

const create = command(
  { pet: newPetWithProfile, key: some.idempotencyKey },
  async (session, sender, { pet, key }) => {
    await callBoth(
      session,
      sender,
      {
        operation: 'createPet',
        scope: 'pets:write',
        method: 'POST',
        path: '/pets',
        body: pet,
        headers: { 'idempotency-key': key },
      },
      (caller, seen) => createPet(session.store, caller, pet, key, seen),
    )
  },
)

const put = command(
  {
    reference: fc.constantFrom('A-1', 'ä/2', '3'),
    pet: fc.record({
      name: some.name,
      categoryId: some.categoryId,
      status: some.optional(some.petStatus),
      profile: fc.record({
        breed: some.optional(fc.constantFrom('Beagle', 'Pug', null)),
        price: some.optional(fc.constantFrom('129.00', '0.00', null)),
      }),
    }),
  },
  async (session, sender, { reference, pet }) => {
    await callBoth(
      session,
      sender,
      {
        operation: 'putPetByReference',
        scope: 'pets:write',
        method: 'PUT',
        path: `/pets/by-reference/${encodeURIComponent(reference)}`,
        body: pet,
      },
      (caller, seen) => putByReference(session.store, caller, reference, pet, seen),
    )
  },
)

const get = command({ choice: some.choice }, async (session, sender, { choice }) => {
  const id = pickPet(session, choice)
  await callBoth(
    session,
    sender,
    { operation: 'getPet', scope: 'pets:read', method: 'GET', path: `/pets/${id}` },
    () => getPet(session.store, id),
  )
})

const getByIds = command(
  {
    chosen: fc.array(some.choice, { minLength: 1, maxLength: 4 }),
    status: some.optional(some.petStatus),
    categoryId: some.optional(some.categoryId),
  },
  async (session, sender, { chosen, status, categoryId }) => {
    const ids = chosen.map((each) => pickPet(session, each))
    const query = new URLSearchParams(ids.map((id) => ['id', String(id)]))
    if (status !== undefined) query.set('status', status)
    if (categoryId !== undefined) query.set('categoryId', String(categoryId))
    await callBoth(
      session,
      sender,
      { operation: 'listPets', scope: 'pets:read', method: 'GET', path: `/pets?${query}` },
      () => {
        const found = [...session.store.pets.values()]
          .filter((pet) => ids.includes(pet.id))
          .filter((pet) => (status ?? pet.status) === pet.status)
          .filter((pet) => (categoryId ?? pet.categoryId) === pet.categoryId)
        return { status: 200, body: found.map(petBody).toReversed() }
      },
    )
  },
)

type Precondition = 'none' | 'any' | 'current' | 'one of two' | 'stale'
const anyPrecondition = fc.oneof(
  { arbitrary: fc.constant<Precondition>('none'), weight: 4 },
  { arbitrary: fc.constantFrom<Precondition>('any', 'current', 'one of two', 'stale'), weight: 4 },
)

function ifMatch({ store }: Session, id: Id, wanted: Precondition): string | undefined {
  const pet = store.pets.get(Number(id))
  if (wanted === 'none') return undefined
  if (wanted === 'any' || pet === undefined) return '*'
  if (wanted === 'current') return etagOf(pet)
  const before = etagOf({ ...pet, version: pet.version - 1 })
  return wanted === 'stale' ? before : `${before}, ${etagOf(pet)}`
}

const update = command(
  {
    choice: some.choice,
    change: fc.record({
      name: some.optional(some.name),
      categoryId: some.optional(some.categoryId),
      status: some.optional(some.petStatus),
      reason: some.optional(fc.constant('walk-in')),
    }),
    precondition: anyPrecondition,
  },
  async (session, sender, { choice, change, precondition }) => {
    const id = pickPet(session, choice)
    const match = ifMatch(session, id, precondition)
    await callBoth(
      session,
      sender,
      {
        operation: 'updatePet',
        scope: 'pets:write',
        method: 'PATCH',
        path: `/pets/${id}`,
        body: change,
        headers: { 'if-match': match },
      },
      (caller) => updatePet(session.store, caller, id, change, match),
    )
  },
)

const remove = command(
  { choice: some.choice, precondition: anyPrecondition },
  async (session, sender, { choice, precondition }) => {
    const id = pickPet(session, choice)
    const match = ifMatch(session, id, precondition)
    await callBoth(
      session,
      sender,
      {
        operation: 'deletePet',
        scope: 'pets:write',
        method: 'DELETE',
        path: `/pets/${id}`,
        headers: { 'if-match': match },
      },
      (caller) => deletePet(session.store, caller, id, match),
    )
  },
)

const nameCategory = command(
  {
    id: some.categoryId,
    body: fc.record({
      name: fc.constantFrom('Dogs', 'Cats'),
      picture: some.optional(fc.constantFrom('dog', 'cat', null)),
    }),
    mustBeNew: fc.boolean(),
  },
  async (session, sender, { id, body, mustBeNew }) => {
    await callBoth(
      session,
      sender,
      {
        operation: 'putCategory',
        scope: 'pets:write',
        method: 'PUT',
        path: `/categories/${id}`,
        body,
        headers: { 'if-none-match': mustBeNew ? '*' : undefined },
      },
      (caller) => putCategory(session.store, caller, id, body, mustBeNew),
    )
  },
)

const count = command({}, async (session, sender) => {
  await callBoth(
    session,
    sender,
    { operation: 'getInventory', scope: 'pets:read', method: 'GET', path: '/store/inventory' },
    () => ({ status: 200, body: countsOf(session.store.pets.values()) }),
  )
})

export const petCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: create, weight: 8 },
  { arbitrary: put, weight: 3 },
  { arbitrary: get, weight: 4 },
  { arbitrary: getByIds, weight: 2 },
  { arbitrary: update, weight: 8 },
  { arbitrary: remove, weight: 3 },
  { arbitrary: nameCategory, weight: 2 },
  { arbitrary: count, weight: 3 },
]

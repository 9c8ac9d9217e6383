// Commands on profiles.
import * as fc from 'fast-check'
import { callBoth } from '../fixture.ts'
import { getProfile, listProfiles, putProfile } from '../reference/profiles.ts'
import * as some from './choices.ts'
import { type Command, command, pickPet } from './choices.ts'

const chipNumber = fc.constantFrom('A1', 'a1', '276098106123456')

const get = command({ choice: some.choice }, async (session, sender, { choice }) => {
  const id = pickPet(session, choice)
  await callBoth(
    session,
    sender,
    { operation: 'getPetProfile', scope: 'pets:read', method: 'GET', path: `/pets/${id}/profile` },
    () => getProfile(session.store, id),
  )
})

export const profileFields = fc.record({
  price: some.optional(fc.constantFrom('129.00', '0.00', '99.90', '129')),
  currency: some.currency,
  breed: some.optional(fc.constantFrom('Beagle', 'Pug')),
  sex: some.optional(fc.constantFrom('female' as const, 'unknown' as const)),
  bornOn: some.optional(fc.constantFrom('2024-02-29', '1900-01-01')),
  chipNumber: some.optional(chipNumber),
  description: some.optional(fc.constantFrom('Calm.', 'Two\nlines 🐕')),
})

const put = command(
  {
    choice: some.choice,
    fields: profileFields,
    precondition: fc.constantFrom('none', 'none', 'any', 'current', 'stale'),
  },
  async (session, sender, { choice, fields, precondition }) => {
    const id = pickPet(session, choice)
    const version = session.store.pets.get(Number(id))?.profileVersion ?? 0
    const match = { none: undefined, any: '*', current: `"${version}"`, stale: `"${version + 1}"` }[
      precondition
    ]
    await callBoth(
      session,
      sender,
      {
        operation: 'putPetProfile',
        scope: 'pets:write',
        method: 'PUT',
        path: `/pets/${id}/profile`,
        body: fields,
        headers: { 'if-match': match },
      },
      (caller) => putProfile(session.store, caller, id, fields, match),
    )
  },
)

const LISTING = { operation: 'listPetProfiles', scope: 'pets:read', method: 'GET' }

const listByPets = command(
  { chosen: fc.array(some.choice, { minLength: 1, maxLength: 4 }) },
  async (session, sender, { chosen }) => {
    const ids = chosen.map((each) => pickPet(session, each))
    const query = ids.map((id) => `petId=${id}`).join('&')
    await callBoth(session, sender, { ...LISTING, path: `/pet-profiles?${query}` }, () =>
      listProfiles(session.store, (pet) => ids.includes(pet.id)),
    )
  },
)

const listByChip = command({ chip: chipNumber }, async (session, sender, { chip }) => {
  await callBoth(session, sender, { ...LISTING, path: `/pet-profiles?chipNumber=${chip}` }, () =>
    listProfiles(session.store, ({ profile }) => profile.chipNumber === chip),
  )
})

export const profileCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: put, weight: 6 },
  { arbitrary: get, weight: 2 },
  { arbitrary: listByPets, weight: 1 },
  { arbitrary: listByChip, weight: 1 },
]

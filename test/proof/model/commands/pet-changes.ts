// The command that changes many pets.
import * as fc from 'fast-check'
import { callBoth, type Session } from '../fixture.ts'
import { changePets, type PetChange } from '../reference/pet-changes.ts'
import * as some from './choices.ts'
import { type Choice, type Command, command, pickPet } from './choices.ts'
import { newPet } from './pets.ts'
import { profileFields } from './profiles.ts'

const named = { choice: some.choice, precondition: fc.constantFrom('none', 'none', 'current', 'stale') }

const change = fc.oneof(
  fc.record({
    kind: fc.constant('create' as const),
    pet: newPet,
    profile: some.optional(profileFields),
  }),
  fc.record({
    kind: fc.constant('update' as const),
    ...named,
    fields: fc.record({
      name: some.optional(some.name),
      categoryId: some.optional(some.categoryId),
      status: some.optional(some.petStatus),
    }),
  }),
  fc.record({ kind: fc.constant('delete' as const), ...named }),
)

function nameOf(session: Session, choice: Choice, precondition: string) {
  const petId = pickPet(session, choice)
  const version = session.store.pets.get(Number(petId))?.version ?? 1
  const sent = { none: undefined, current: version, stale: version + 1 }[precondition]
  return { petId, version: sent }
}

const changeMany = command(
  {
    chosen: fc.array(change, { minLength: 1, maxLength: 6 }),
    // Most requests name a pet once, because all others are rejected.
    isRepeating: fc.nat(7).map((one) => one === 0),
    key: some.idempotencyKey,
  },
  async (session, sender, { chosen, isRepeating, key }) => {
    const seen = new Set<string>()
    const changes = chosen.flatMap((one): PetChange[] => {
      if (one.kind === 'create') return [{ create: { ...one.pet, profile: one.profile } }]
      const pet = nameOf(session, one.choice, one.precondition)
      if (seen.has(String(pet.petId)) && !isRepeating) return []
      seen.add(String(pet.petId))
      return [one.kind === 'update' ? { update: { ...pet, ...one.fields } } : { delete: pet }]
    })
    await callBoth(
      session,
      sender,
      {
        operation: 'changePets',
        scope: 'pets:write',
        method: 'POST',
        path: '/pet-changes',
        body: { changes },
        headers: { 'idempotency-key': key },
      },
      (caller, seenBody) => changePets(session.store, caller, changes, key, seenBody),
    )
  },
)

export const petChangeCommands: fc.WeightedArbitrary<Command>[] = [{ arbitrary: changeMany, weight: 6 }]

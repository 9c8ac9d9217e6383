// Rules of putPetByReference, which keeps the pets of another system the same here: it creates the pet that has the reference, or
// changes its name, category and profile.
import type { CallingActor } from '../../contract/actor.ts'
import type { CategoryPolicy } from '../../contract/category-policy.ts'
import { AppError } from '../../contract/errors.ts'
import { WRITABLE_NAMES } from '../../contract/profile-fields.ts'
import type { Db, Tx } from '../../db/database.ts'
import { insertHistory } from '../history/queries.ts'
import { findHold, lockPet } from '../holds/queries.ts'
import { decideProfile, getPetProfile, inProfile, newProfile, profileFaults } from '../profiles/profiles.ts'
import { findPetIdByReference, upsertPetProfile } from '../profiles/queries.ts'
import { withReferences } from '../profiles/references.ts'
import type { NewPetProfile, PetProfile, ProfileChange, VersionedProfile } from '../profiles/schema.ts'
import { insertNewPets } from './new-pets.ts'
import { categoryRule, decideUpdate, requireCategory, withoutExpiredHold } from './pets.ts'
import { updatePet } from './queries.ts'
import type { PetByReference, VersionedPet } from './schema.ts'

/** Another transaction can take the reference from a pet, or delete the pet, between the look for it and its lock. */
const ATTEMPTS_MAX = 5

export interface PutByReferenceOptions {
  actor: CallingActor
  categoryPolicy: CategoryPolicy
  /** The currency of the store. */
  currency: string
  now: Date
}

interface PutPet {
  pet: VersionedPet
  isNew: boolean
}

export async function putPetByReference(
  db: Db,
  reference: string,
  wanted: PetByReference,
  options: PutByReferenceOptions,
): Promise<PutPet> {
  const { profile: facts = {} } = wanted
  requireReference(reference, facts)
  const { currency, now } = options
  const details = profileFaults(withoutNull(facts), currency, now)
  if (details.length > 0) throw new AppError('invalid_body', { details: inProfile(details) })
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const put = await withReferences(() => db.transaction((tx) => putOnce(tx, reference, wanted, options)))
    if (put !== undefined) return put
  }
  throw new AppError('unavailable')
}

function requireReference(reference: string, facts: ProfileChange): void {
  if (facts.reference === undefined || facts.reference === reference) return
  const field = 'profile.reference'
  const message = `${field} must be that of the path, or absent.`
  throw new AppError('invalid_body', { details: [{ field, code: 'not_allowed', message }] })
}

/** Undefined if the pet has lost the reference, or another one has got it, since this transaction looked for it. */
async function putOnce(
  tx: Tx,
  reference: string,
  wanted: PetByReference,
  options: PutByReferenceOptions,
): Promise<PutPet | undefined> {
  const petId = await findPetIdByReference(tx, reference)
  if (petId === undefined) return create(tx, reference, wanted, options)
  const locked = await lockPet(tx, petId)
  if (locked === undefined) return undefined
  const stored = await getPetProfile(tx, petId)
  if (stored.reference !== reference) return undefined
  const pet = await change(tx, await withoutExpiredHold(tx, locked, options.actor.requestId), wanted, options)
  await changeProfile(tx, stored, wanted.profile ?? {}, options)
  return { pet, isNew: false }
}

async function create(
  tx: Tx,
  reference: string,
  { name, categoryId, status = 'available', profile: facts = {} }: PetByReference,
  { actor, categoryPolicy, currency, now }: PutByReferenceOptions,
): Promise<PutPet | undefined> {
  await requireCategory(categoryId, categoryRule(tx, categoryPolicy))
  const profile = newProfile({ ...withoutNull(facts), reference }, { currency, now })
  const made = { createdBy: actor.actorId, requestId: actor.requestId }
  const [id] = await insertNewPets(tx, [{ name, categoryId, status, profile, ...made }])
  return id === undefined ? undefined : { pet: { id, name, categoryId, status, version: 1 }, isNew: true }
}

/** Never changes the status. */
async function change(
  tx: Tx,
  pet: VersionedPet,
  { name, categoryId }: PetByReference,
  { actor, categoryPolicy }: PutByReferenceOptions,
): Promise<VersionedPet> {
  const update = await decideUpdate(pet, { name, categoryId }, () => true, {
    isHeld: async (petId) => (await findHold(tx, petId)) !== undefined,
    allowsCategory: categoryRule(tx, categoryPolicy),
    hasSale: async () => false,
    requireTill: () => {},
  })
  if (update === undefined) return pet
  const version = await updatePet(tx, update.pet, actor)
  await insertHistory(tx, update.entry, actor)
  return { ...update.pet, version }
}

async function changeProfile(
  tx: Tx,
  stored: VersionedProfile,
  facts: ProfileChange,
  { actor, currency }: PutByReferenceOptions,
): Promise<void> {
  const update = decideProfile(stored, changedFacts(stored, facts), currency)
  if (update === undefined) return
  await upsertPetProfile(tx, update.profile, actor)
  await insertHistory(tx, update.entry, actor)
}

/** Absent facts stay as they are, and null clears one. A price and its currency are sent together, and go together. */
export function changedFacts(stored: PetProfile, facts: ProfileChange): NewPetProfile {
  const keepsPrice = facts.price === undefined && facts.currency === undefined
  const names = facts.price === null ? WRITABLE_NAMES.filter((name) => name !== 'currency') : WRITABLE_NAMES
  const values = names.map((name) => {
    const isKept = facts[name] === undefined && (name !== 'currency' || keepsPrice)
    return [name, isKept ? stored[name] : facts[name]] as const
  })
  return Object.fromEntries(values.filter(([, value]) => value !== undefined && value !== null))
}

function withoutNull(facts: ProfileChange): NewPetProfile {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null))
}

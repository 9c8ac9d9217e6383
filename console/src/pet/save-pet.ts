// Saves a pet with its price and facts. These are two requests, so the second one can fail alone: what the first one has
// saved is then known, and the next attempt does not repeat it.
import type { NewPetProfile, Petstore, PetStatus, VersionedPet, VersionedPetProfile } from '@petstore/client'
import { isSameProfile, profileOf, profileValues } from '../profile/profile-values.ts'
import { UNDO_REASON } from '../pets/undo.ts'

/** The version of the profile of a new pet. */
const NO_PROFILE = '"0"'

export interface PetValues {
  name: string
  categoryId: string
  status: PetStatus
}

/** The versions that the form shows. */
export interface Known {
  /** Undefined for a new pet. */
  pet: VersionedPet | undefined
  profile: VersionedPetProfile | undefined
}

export interface Wanted {
  values: PetValues
  reason: string
  profile: NewPetProfile
}

/** `onPet` gets the saved pet before the price and the facts are saved. */
export async function savePet(
  store: Petstore,
  { pet, profile }: Known,
  wanted: Wanted,
  onPet: (pet: VersionedPet) => void,
): Promise<{ pet: VersionedPet; profile: VersionedPetProfile | undefined }> {
  const saved = await savedPet(store, pet, wanted)
  onPet(saved)
  if (isSameProfile(wanted.profile, profile)) return { pet: saved, profile }
  const options = { ifMatch: profile?.etag ?? NO_PROFILE }
  return { pet: saved, profile: await store.pets.setProfile(saved.id, wanted.profile, options) }
}

async function savedPet(
  store: Petstore,
  pet: VersionedPet | undefined,
  { values, reason }: Wanted,
): Promise<VersionedPet> {
  if (pet === undefined) return store.pets.create(values)
  const why = reason.trim()
  if (isSamePet(values, pet) && why === '') return pet
  return store.pets.update(pet.id, { ...values, ...(why !== '' && { reason: why }) }, { ifMatch: pet.etag })
}

/** Undoes a change of a pet that existed before. Fails if another person has changed it since. */
export async function undoSave(
  store: Petstore,
  before: { pet: VersionedPet; profile: VersionedPetProfile | undefined },
  after: { pet: VersionedPet; profile: VersionedPetProfile | undefined },
): Promise<void> {
  const { id, name, categoryId, status, etag } = before.pet
  if (after.profile !== undefined && after.profile.etag !== before.profile?.etag) {
    const fields = profileFields(before.profile)
    await store.pets.setProfile(id, fields, { ifMatch: after.profile.etag })
  }
  if (after.pet.etag !== etag) {
    const change = { name, categoryId, status, reason: UNDO_REASON }
    await store.pets.update(id, change, { ifMatch: after.pet.etag })
  }
}

/** The stored price has the decimal places of its currency already. */
function profileFields(profile: VersionedPetProfile | undefined): NewPetProfile {
  const { price, ...values } = profileValues(profile)
  const fields = profileOf({ ...values, price: '' }, 0)
  return price === '' ? fields : { ...fields, price }
}

function isSamePet(values: PetValues, pet: VersionedPet): boolean {
  return values.name === pet.name && values.categoryId === pet.categoryId && values.status === pet.status
}

// Saves a pet with its price and facts. These are two requests, so the second one can fail alone: what the first one has
// saved is then known, and the next attempt does not repeat it.
import type { NewPetProfile, Petstore, PetStatus, VersionedPet, VersionedPetProfile } from '@petstore/client'
import { ExplainedError, hasCode } from '../layout/describe-error.ts'
import { UNDO_REASON } from '../pets/undo.ts'
import { priceText } from '../profile/price.ts'
import { isSameProfile, storedFields } from '../profile/profile-values.ts'

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

/**
 * Undoes a change of a pet that existed before. Fails if another person has changed it since. The former price stays lost if
 * the shop has another currency by now: the service accepts new prices only in its currency.
 */
export async function undoSave(
  store: Petstore,
  before: { pet: VersionedPet; profile: VersionedPetProfile | undefined },
  after: { pet: VersionedPet; profile: VersionedPetProfile | undefined },
): Promise<void> {
  const { id, name, categoryId, status, etag } = before.pet
  let hasFormerPrice = true
  if (after.profile !== undefined && after.profile.etag !== before.profile?.etag) {
    const options = { ifMatch: after.profile.etag }
    const fields = storedFields(before.profile)
    const { price, currency } = after.profile
    await store.pets.setProfile(id, fields, options).catch(async (error: unknown) => {
      if (!hasCode(error, 'currency_mismatch')) throw error
      hasFormerPrice = false
      await store.pets.setProfile(id, { ...fields, price, currency }, options)
    })
  }
  if (after.pet.etag !== etag) {
    const change = { name, categoryId, status, reason: UNDO_REASON }
    await store.pets.update(id, change, { ifMatch: after.pet.etag })
  }
  if (hasFormerPrice) return
  const former = priceText(before.profile ?? {}) ?? ''
  const text = `${name} is as it was before, but its price stays: ${former} is not in the currency of the shop.`
  throw new ExplainedError('Only partly undone', text)
}

function isSamePet(values: PetValues, pet: VersionedPet): boolean {
  return values.name === pet.name && values.categoryId === pet.categoryId && values.status === pet.status
}

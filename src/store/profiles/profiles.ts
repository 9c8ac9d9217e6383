// Rules for profiles: the price of a pet and facts about it. A profile has a version of its own; the pet stays unchanged.
import type { Actor } from '../../contract/actor.ts'
import { AppError, type ErrorDetail } from '../../contract/errors.ts'
import { currencyOf, priceFaults } from '../../contract/price.ts'
import { PROFILE_FIELD_NAMES, type ProfileFields, WRITABLE_NAMES } from '../../contract/profile-fields.ts'
import type { Db, Reader } from '../../db/database.ts'
import { type Change, insertHistory } from '../history/queries.ts'
import { releaseExpiredHold } from '../holds/holds.ts'
import { lockPet } from '../holds/queries.ts'
import {
  findPetProfile,
  findProfilesByChipNumber,
  findProfilesByPetIds,
  upsertPetProfile,
} from './queries.ts'
import { rejectTakenReference } from './references.ts'
import type { NewPetProfile, PetProfile, VersionedProfile } from './schema.ts'

/** The time zone that is furthest ahead of UTC. A date is in the future if no place on Earth has reached it. */
const LATEST_DATE_AHEAD_MS = 14 * 3_600_000

/** Exactly one of them is given. */
export interface ProfileSearch {
  petId?: readonly bigint[] | undefined
  chipNumber?: string | undefined
}

export async function getPetProfile(db: Reader, petId: bigint): Promise<VersionedProfile> {
  const profile = await findPetProfile(db, petId)
  if (profile === undefined) throw new AppError('pet_not_found')
  return profile
}

/** Lists the stored profiles of these pets, or with this chip number, newest pet first. */
export async function listPetProfiles(
  db: Reader,
  { petId = [], chipNumber }: ProfileSearch,
): Promise<PetProfile[]> {
  return chipNumber === undefined ? findProfilesByPetIds(db, petId) : findProfilesByChipNumber(db, chipNumber)
}

export interface PutProfileOptions {
  actor: Actor
  /** Returns whether this version satisfies the client's precondition. */
  isExpected: (version: number) => boolean
  /** The currency of the store. */
  currency: string
  now: Date
}

/** Replaces all fields. If none of them changes, writes nothing. */
export async function putPetProfile(
  db: Db,
  petId: bigint,
  fields: NewPetProfile,
  { actor, isExpected, currency, now }: PutProfileOptions,
): Promise<VersionedProfile> {
  const faults = profileFaults(fields, currency, now)
  if (faults.length > 0) throw new AppError('invalid_body', { details: faults })
  const writing = db.transaction(async (tx) => {
    const pet = await lockPet(tx, petId)
    if (pet === undefined) throw new AppError('pet_not_found')
    // The history and the feed must show the end of a hold before any later change of its pet.
    await releaseExpiredHold(tx, pet, actor.requestId)
    // A statement of its own, because it must see what the last holder of the lock has committed.
    const stored = await getPetProfile(tx, petId)
    if (!isExpected(stored.version)) throw new AppError('precondition_failed')
    const update = decideProfile(stored, fields, currency)
    if (update === undefined) return stored
    const { profile, entry } = update
    const version = await upsertPetProfile(tx, profile, actor)
    await insertHistory(tx, entry, actor)
    return { ...profile, version }
  })
  return rejectTakenReference(writing)
}

/** The new profile and the entry of the history; undefined if no field changes. Throws `currency_mismatch`. */
export function decideProfile(
  stored: PetProfile,
  fields: NewPetProfile,
  currency: string,
): { profile: PetProfile; entry: Change } | undefined {
  const profile: PetProfile = {
    petId: stored.petId,
    ...pick(fields, WRITABLE_NAMES),
    currency: currencyOf(fields, stored, currency),
  }
  const names = changedNames(stored, profile)
  if (names.length === 0) return undefined
  const [from, to] = [pick(stored, names), pick(profile, names)]
  return { profile, entry: { petId: stored.petId, event: 'updated', from, to } }
}

export interface NewProfileOptions {
  /** The currency of the store. */
  currency: string
  now: Date
}

/** The profile of a new pet, as it is stored; undefined without a fact. Throws if it has a fault. */
export function newProfile(
  fields: NewPetProfile | undefined,
  { currency, now }: NewProfileOptions,
): ProfileFields | undefined {
  if (fields === undefined) return undefined
  try {
    const details = profileFaults(fields, currency, now)
    if (details.length > 0) throw new AppError('invalid_body', { details })
    const stored: ProfileFields = { ...fields, currency: currencyOf(fields, {}, currency) }
    const names = PROFILE_FIELD_NAMES.filter((name) => stored[name] !== undefined)
    return names.length === 0 ? undefined : pick(stored, names)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.code, { details: inProfile(error.details ?? []) })
  }
}

export function inProfile(details: readonly ErrorDetail[]): ErrorDetail[] {
  return details.map((detail) => ({
    ...detail,
    field: `profile.${detail.field}`,
    message: `profile.${detail.message}`,
  }))
}

/**
 * The facts of a request for its fingerprint, by their names: a new fact changes no fingerprint of a request without it.
 */
export function givenFacts(fields: NewPetProfile = {}): unknown[] {
  const given = WRITABLE_NAMES.filter((name) => fields[name] !== undefined).toSorted()
  return given.flatMap((name) => [name, fields[name]])
}

/** The faults that depend on a setting or on the time. The schema finds the others. */
export function profileFaults(profile: NewPetProfile, currency: string, now: Date): ErrorDetail[] {
  return [...priceFaults(profile, currency), ...birthFaults(profile.bornOn, now)]
}

function birthFaults(bornOn: string | undefined, now: Date): ErrorDetail[] {
  const latest = new Date(now.getTime() + LATEST_DATE_AHEAD_MS).toISOString().slice(0, 'YYYY-MM-DD'.length)
  if (bornOn === undefined || bornOn <= latest) return []
  return [{ field: 'bornOn', code: 'out_of_range', message: 'bornOn must not be in the future.' }]
}

/** The price and its currency change together: an amount alone means nothing. */
function changedNames(before: PetProfile, after: PetProfile): (keyof ProfileFields)[] {
  const hasOtherPrice = before.price !== after.price || before.currency !== after.currency
  return PROFILE_FIELD_NAMES.filter((name) =>
    name === 'price' || name === 'currency' ? hasOtherPrice : before[name] !== after[name],
  )
}

function pick(profile: ProfileFields, names: readonly (keyof ProfileFields)[]): ProfileFields {
  return Object.fromEntries(names.map((name) => [name, profile[name]]))
}

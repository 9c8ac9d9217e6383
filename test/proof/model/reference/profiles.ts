// The rules of profiles.
import { emitProfile } from './events.ts'
import { type Caller, type Expected, type Id, type Pet, type Profile, reject, type Store } from './store.ts'

const CURRENCY = 'EUR'

/** All stored prices are in the currency of the store, so that no request can keep another one. */
export function priceFault({
  price,
  currency,
}: {
  price?: string | undefined
  currency?: string | undefined
}): 'invalid_body' | 'currency_mismatch' | undefined {
  if (currency !== undefined && currency !== CURRENCY) return 'currency_mismatch'
  return price === undefined || /^\d{1,10}\.\d\d$/.test(price) ? undefined : 'invalid_body'
}

export function profileBody({ id, profile }: Pet): Record<string, unknown> {
  return { petId: id, ...profile }
}

const profileResponse = (pet: Pet): Expected => ({
  status: 200,
  body: profileBody(pet),
  etag: `"${pet.profileVersion}"`,
})

export function getProfile(store: Store, petId: Id): Expected {
  const pet = store.pets.get(Number(petId))
  return pet === undefined ? reject('pet_not_found') : profileResponse(pet)
}

/** A change adds a version of the profile, an entry to the history of the pet, and an event. The pet stays as it is. */
export function putProfile(
  store: Store,
  { name: actor, requestId }: Caller,
  petId: Id,
  fields: { [Field in keyof Profile]: Profile[Field] | undefined },
  ifMatch: string | undefined,
): Expected {
  const fault = priceFault(fields)
  if (fault === 'invalid_body') return reject(fault)
  const pet = store.pets.get(Number(petId))
  if (pet === undefined) return reject('pet_not_found')
  const isExpected = ifMatch === undefined || ifMatch === '*' || ifMatch === `"${pet.profileVersion}"`
  if (!isExpected) return reject('precondition_failed')
  if (fault !== undefined) return reject(fault)
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  const profile: Profile = Object.fromEntries(given)
  if (profile.price === undefined) delete profile.currency
  else profile.currency = CURRENCY
  const names = changedNames(pet.profile, profile)
  if (names.length === 0) return profileResponse(pet)
  const [from, to] = [pick(pet.profile, names), pick(profile, names)]
  pet.profile = profile
  pet.profileVersion += 1
  pet.history.push({ event: 'updated', from, to, actor, requestId })
  emitProfile(store, pet, { actor, requestId })
  return profileResponse(pet)
}

export function listProfiles(store: Store, isWanted: (pet: Pet) => boolean): Expected {
  const stored = [...store.pets.values()].filter((pet) => pet.profileVersion > 0 && isWanted(pet))
  return { status: 200, body: stored.map(profileBody).toReversed() }
}

/** The currency is shown with each price that changes. */
function changedNames(before: Profile, after: Profile): (keyof Profile)[] {
  const all = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof Profile>
  const changed = [...all].filter((name) => before[name] !== after[name])
  return changed.includes('price') ? [...new Set<keyof Profile>([...changed, 'currency'])] : changed
}

/** Undefined if none of the fields has a value. */
function pick(profile: Profile, names: readonly (keyof Profile)[]): Profile | undefined {
  const fields = names.filter((name) => profile[name] !== undefined).map((name) => [name, profile[name]])
  return fields.length === 0 ? undefined : (Object.fromEntries(fields) as Profile)
}

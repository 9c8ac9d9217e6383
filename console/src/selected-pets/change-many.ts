// Changes or deletes many pets, and undoes that. The service changes each pet alone: one that cannot be changed does not stop
// the others.
import {
  type NewPetProfile,
  type Pet,
  type PetChangeItem,
  type PetChangeResult,
  type PetStatus,
  type Petstore,
  PetstoreError,
} from '@petstore/client'
import { PET_CHANGES } from '@petstore/client/rules'
import { counted } from '../layout/counted.ts'
import { describeError, ExplainedError } from '../layout/describe-error.ts'
import { UNDO_REASON } from '../pets/undo.ts'
import { storedFields } from '../profile/profile-values.ts'

const CHANGES_MAX = PET_CHANGES.changes.maxItems
/** More names than this do not fit into a message. */
const NAMES_MAX = 5

export type Change = { status: PetStatus } | { categoryId: string }

export interface Failed {
  pet: Pet
  reason: string
  /** The error code of the service. */
  code?: string | undefined
}

export interface Outcome {
  /** The pets that were changed or deleted. */
  done: Pet[]
  failed: Failed[]
  /** Undoes what was done, and returns a sentence that says so. */
  undo: () => Promise<string>
}

export async function changeMany(store: Petstore, pets: Pet[], change: Change): Promise<Outcome> {
  const sold = 'status' in change && change.status !== 'sold' ? await withSale(store, pets) : []
  const changeable = pets.filter((pet) => !sold.includes(pet))
  const sent = await send(store, changeable, ({ id }) => ({ update: { petId: id, ...change } }))
  const { done } = sent
  const failed = [...sent.failed, ...sold.map((pet) => ({ pet, reason: HAS_SALE }))]
  const versions = new Map(done.map(({ pet, result }) => [pet.id, result.version]))
  const changed = done.map(({ pet }) => pet)
  // Fails for a pet that another person has changed since.
  const back = ({ id, status, categoryId }: Pet): PetChangeItem => ({
    update: {
      petId: id,
      version: versions.get(id),
      ...('status' in change ? { status } : { categoryId }),
      reason: UNDO_REASON,
    },
  })
  return {
    done: changed,
    failed,
    undo: async () => undoneText(await send(store, changed, back), 'as before'),
  }
}

const HAS_SALE = 'It was sold. Open it and choose Take back.'

/** The pets that have a sale. Their status changes only with a decision about the money. */
async function withSale(store: Petstore, pets: Pet[]): Promise<Pet[]> {
  const found: Pet[] = []
  for (const pet of pets) {
    if (pet.status !== 'sold') continue
    const { items } = await store.orders.list({ petId: pet.id, status: 'completed', limit: 1 }).page()
    if (items[0] !== undefined && items[0].broughtBackAt === undefined) found.push(pet)
  }
  return found
}

/** A deleted pet cannot come back. The undo adds a pet with the same values, which gets a new number. */
export async function deleteMany(store: Petstore, pets: Pet[]): Promise<Outcome> {
  const profiles = await readProfiles(store, pets)
  const { done, failed } = await send(store, pets, ({ id }) => ({ delete: { petId: id } }))
  const deleted = done.map(({ pet }) => pet)
  const again = ({ id, name, categoryId, status }: Pet): PetChangeItem => ({
    create: { name, categoryId, status, profile: profiles.get(id) },
  })
  const withoutPrice = (pet: Pet): PetChangeItem => {
    const { price: _price, currency: _currency, ...facts } = profiles.get(pet.id) ?? {}
    return { create: { ...again(pet).create, profile: facts } as NonNullable<PetChangeItem['create']> }
  }
  return {
    done: deleted,
    failed,
    undo: async () => undoneDeletion(store, await send(store, deleted, again), withoutPrice),
  }
}

/**
 * Adds the pets without a price whose price is not in the currency of the shop: the service accepts new prices only in its
 * currency.
 */
async function undoneDeletion(
  store: Petstore,
  { done, failed }: Sent,
  withoutPrice: (pet: Pet) => PetChangeItem,
): Promise<string> {
  const isOther = ({ code }: Failed) => code === 'currency_mismatch'
  const others = failed.filter(isOther).map(({ pet }) => pet)
  const added = others.length === 0 ? { done: [], failed: [] } : await send(store, others, withoutPrice)
  const all = {
    done: [...done, ...added.done],
    failed: [...failed.filter((one) => !isOther(one)), ...added.failed],
  }
  const text = undoneText(all, 'in the list again, with a new number')
  if (added.done.length === 0) return text
  const names = added.done.map(({ pet }) => pet.name).slice(0, NAMES_MAX)
  const more = added.done.length > names.length ? ` and ${added.done.length - names.length} more` : ''
  const lost = `Without a price, because theirs was not in the currency of the shop: ${names.join(', ')}${more}.`
  throw new ExplainedError('Only partly undone', `${text.replace('Undone: ', '')} ${lost}`)
}

interface Sent {
  done: { pet: Pet; result: PetChangeResult }[]
  failed: Failed[]
}

/** Sends a change for each pet. If a request fails, the pets of the following ones stay unchanged. */
async function send(store: Petstore, pets: Pet[], changeOf: (pet: Pet) => PetChangeItem): Promise<Sent> {
  const sent: Sent = { done: [], failed: [] }
  for (const part of partsOf(pets)) {
    try {
      const results = await store.pets.changeMany(part.map(changeOf))
      for (const [index, pet] of part.entries()) {
        const result = results[index]
        if (result?.error === undefined && result !== undefined) sent.done.push({ pet, result })
        else sent.failed.push({ pet, reason: reasonOf(result), code: result?.error?.code })
      }
    } catch (error) {
      const rest = pets.slice(sent.done.length + sent.failed.length)
      const { text } = describeError(error as Error)
      sent.failed.push(...rest.map((pet) => ({ pet, reason: text })))
      break
    }
  }
  return sent
}

function reasonOf(result: PetChangeResult | undefined): string {
  const error = result?.error ?? { code: 'unexpected_answer', message: 'The server returned no result.' }
  return describeError(new PetstoreError(error)).text
}

/** Undefined for a pet without a price and facts. */
async function readProfiles(store: Petstore, pets: Pet[]): Promise<Map<string, NewPetProfile>> {
  const profiles = new Map<string, NewPetProfile>()
  for (const part of partsOf(pets)) {
    const read = await store.pets.profiles({ petId: part.map(({ id }) => id) })
    for (const profile of read) profiles.set(profile.petId, storedFields(profile))
  }
  return profiles
}

function partsOf(pets: Pet[]): Pet[][] {
  return Array.from({ length: Math.ceil(pets.length / CHANGES_MAX) }, (_, index) =>
    pets.slice(index * CHANGES_MAX, (index + 1) * CHANGES_MAX),
  )
}

/** Such as "Undone: 3 pets are as before." Rejects if some of them are not. */
export function undoneText({ done, failed }: { done: unknown[]; failed: Failed[] }, state: string): string {
  const text = `${counted(done.length, 'pet')} ${done.length === 1 ? 'is' : 'are'} ${state}.`
  if (failed.length === 0) return `Undone: ${text}`
  const title = done.length === 0 ? 'Not undone' : 'Only partly undone'
  throw new ExplainedError(title, `${text} Not undone: ${namesText(failed)}`)
}

/** Such as "Bella (Another person changed this pet.), Rex (…) and 4 more." */
function namesText(failed: Failed[]): string {
  const shown = failed.slice(0, NAMES_MAX).map(({ pet, reason }) => `${pet.name} (${reason})`)
  const more = failed.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

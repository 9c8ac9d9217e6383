// Rules for many changes in one request. Each change follows the rules for one pet, and its error is its result.
//
// One transaction makes all changes and stores the response. It first locks the pets, then decides each change, then writes
// those that are allowed: no statement depends on a value that PostgreSQL could reject, so that no change undoes another.
import type { CallingActor } from '../../contract/actor.ts'
import type { CategoryPolicy } from '../../contract/category-policy.ts'
import { AppError, type ErrorDetail, errorBody } from '../../contract/errors.ts'
import type { Db, Tx } from '../../db/database.ts'
import { stringifyJson } from '../../values/json.ts'
import { findCategoriesByIds } from '../categories/queries.ts'
import { insertHistories } from '../history/queries.ts'
import { endExpiredHold } from '../holds/holds.ts'
import { doOnce } from '../idempotency/idempotency.ts'
import { decideUpdate, type PetFacts, type PetUpdate, requireCategory } from '../pets/pets.ts'
import { insertNewPets } from '../pets/new-pets.ts'
import type { PetToInsert } from '../pets/queries.ts'
import type { VersionedPet } from '../pets/schema.ts'
import { givenFacts, newProfile } from '../profiles/profiles.ts'
import { withReferences } from '../profiles/references.ts'
import { findPetsWithSale, insertFullRefunds } from '../ledger/queries.ts'
import { deletePets, findHolds, findPetsWithOrders, lockPets, updatePets } from './queries.ts'
import type { PetChangeResult, PetToCreate, PetToDelete, PetToUpdate } from './schema.ts'

/** A change whose values have been checked. */
export type CheckedChange =
  | { kind: 'create'; values: PetToCreate }
  | { kind: 'update'; values: PetToUpdate }
  | { kind: 'delete'; values: PetToDelete }
  | { kind: 'invalid'; petId: unknown; error: AppError }

export interface ChangePetsOptions {
  actor: CallingActor
  idempotencyKey: string | undefined
  categoryPolicy: CategoryPolicy
  /** The currency of the store. */
  currency: string
  now: Date
  /** Throws unless the caller may refund a sale. */
  requireTill: () => void
  /** Called with the response before the commit: if it throws, no change is made. */
  reserve: (json: string) => void
}

/** `json` is the response: PetChangeResults. `deleted` is empty if the response is replayed. */
export interface ChangePetsOutcome {
  json: string
  replayed: boolean
  deleted: bigint[]
}

export async function changePets(
  db: Db,
  changes: readonly CheckedChange[],
  options: ChangePetsOptions,
): Promise<ChangePetsOutcome> {
  rejectRepeatedPets(changes)
  const { actor, idempotencyKey: key, reserve } = options
  let deleted: bigint[] = []
  const work = async (tx: Tx): Promise<string> => {
    const results = await makeChanges(tx, changes, options)
    deleted = changes.flatMap((change, index) =>
      change.kind === 'delete' && results[index]?.error === undefined ? [change.values.petId] : [],
    )
    const json = stringifyJson({ results })
    reserve(json)
    return json
  }
  if (key === undefined)
    return { json: await withReferences(() => db.transaction(work)), replayed: false, deleted }
  const values = changes.flatMap(valuesOf)
  const idempotent = { actorId: actor.actorId, key, operation: 'changePets', values }
  const { response, replayed } = await withReferences(() => doOnce(db, idempotent, work))
  return { json: response, replayed, deleted }
}

/** The order of two changes of one pet would decide the result of the second one, and a client would have to know it. */
function rejectRepeatedPets(changes: readonly CheckedChange[]): void {
  const ids = changes.map(petIdOf)
  const details = ids.flatMap((id, index): ErrorDetail[] => {
    if (typeof id !== 'bigint' || ids.indexOf(id) === index) return []
    const field = `changes.${index}`
    return [
      { field, code: 'repeated', message: `${field} names the same pet as changes.${ids.indexOf(id)}.` },
    ]
  })
  if (details.length > 0) throw new AppError('invalid_body', { details })
}

function petIdOf(change: CheckedChange): unknown {
  if (change.kind === 'create') return undefined
  if (change.kind === 'invalid') return change.petId
  return change.values.petId
}

/** The values of a change, for the fingerprint of the request. An invalid change has the values that decide its result. */
function valuesOf(change: CheckedChange): unknown[] {
  switch (change.kind) {
    case 'create': {
      const { name, categoryId, status = 'available', profile } = change.values
      return ['create', name, categoryId, status, ...givenFacts(profile)]
    }
    case 'update': {
      const { petId, version, name, categoryId, status, reason } = change.values
      return ['update', petId, ...[version, name, categoryId, status, reason].map((value) => value ?? '')]
    }
    case 'delete':
      return ['delete', change.values.petId, change.values.version ?? '']
    case 'invalid':
      break
  }
  const { code, details = [] } = change.error
  return ['invalid', code, JSON.stringify(details.map((detail) => [detail.field, detail.code]))]
}

/** Everything that the rules need to know, read once for all changes. */
interface Facts extends PetFacts {
  /** The locked pets. */
  pets: ReadonlyMap<bigint, VersionedPet>
  hasOrders: (petId: bigint) => boolean
}

/** What a change writes. */
type Decision =
  | { write: 'create'; pet: PetToInsert }
  | { write: 'update'; update: PetUpdate }
  | { write: 'delete'; petId: bigint }
  | { write: 'nothing'; result: PetChangeResult }

async function makeChanges(
  tx: Tx,
  changes: readonly CheckedChange[],
  options: ChangePetsOptions,
): Promise<PetChangeResult[]> {
  const facts = await lockAndRead(tx, changes, options)
  const decisions = await Promise.all(changes.map((change) => decide(change, facts, options)))
  const created = await createPets(
    tx,
    decisions.flatMap((decision) => (decision.write === 'create' ? [decision.pet] : [])),
  )
  const updates = decisions.flatMap((decision) => (decision.write === 'update' ? [decision.update] : []))
  const returned = updates.flatMap(({ pet, isReturn }) => (isReturn ? [pet.id] : []))
  if (returned.length > 0) await insertFullRefunds(tx, returned, options.actor)
  if (updates.length > 0) {
    await updatePets(
      tx,
      updates.map(({ pet }) => pet),
      options.actor,
    )
    await insertHistories(
      tx,
      updates.map(({ entry }) => entry),
      options.actor,
    )
  }
  const deleted = decisions.flatMap((decision) => (decision.write === 'delete' ? [decision.petId] : []))
  if (deleted.length > 0) await deletePets(tx, deleted, options.actor)
  return decisions.map((decision) => {
    if (decision.write === 'create') {
      const pet = created.shift()
      return pet === undefined ? toError(new AppError('reference_in_use')) : toResult(201, pet)
    }
    if (decision.write === 'delete') return { status: 204 }
    if (decision.write === 'nothing') return decision.result
    const { pet } = decision.update
    return toResult(200, { ...pet, version: pet.version + 1 })
  })
}

function toResult(status: number, { version, ...pet }: VersionedPet): PetChangeResult {
  return { status, pet, version }
}

function toError(error: AppError): PetChangeResult {
  return { status: error.status, error: errorBody(error.code, error) }
}

async function lockAndRead(
  tx: Tx,
  changes: readonly CheckedChange[],
  { actor, categoryPolicy, requireTill }: ChangePetsOptions,
): Promise<Facts> {
  const named = changes.flatMap((change) =>
    change.kind === 'update' || change.kind === 'delete' ? [change.values.petId] : [],
  )
  const locked = named.length === 0 ? [] : await lockPets(tx, named)
  const pets = new Map(locked.map((pet) => [pet.id, pet]))
  const held = await releaseExpiredHolds(tx, pets, actor.requestId)
  const toDelete = changes.flatMap((change) => (change.kind === 'delete' ? [change.values.petId] : []))
  const withOrders = new Set(toDelete.length === 0 ? [] : await findPetsWithOrders(tx, toDelete))
  const categoryIds = changes.flatMap((change) => {
    if (change.kind === 'create') return [change.values.categoryId]
    return change.kind === 'update' ? (change.values.categoryId ?? []) : []
  })
  const isStrict = categoryPolicy === 'strict' && categoryIds.length > 0
  const categories = new Set(isStrict ? (await findCategoriesByIds(tx, categoryIds)).map(({ id }) => id) : [])
  const sold = locked.filter(({ status }) => status === 'sold').map(({ id }) => id)
  const withSale = new Set(sold.length === 0 ? [] : await findPetsWithSale(tx, sold))
  return {
    pets,
    isHeld: async (petId) => held.has(petId),
    hasSale: async (petId) => withSale.has(petId),
    requireTill,
    hasOrders: (petId) => withOrders.has(petId),
    allowsCategory: async (id) => categoryPolicy === 'any' || categories.has(id),
  }
}

/** Ends the holds on locked pets that have expired but are not swept yet, and updates `pets`. Returns the pets that are held. */
async function releaseExpiredHolds(
  tx: Tx,
  pets: Map<bigint, VersionedPet>,
  requestId: string,
): Promise<Set<bigint>> {
  const pending = [...pets.values()].filter(({ status }) => status === 'pending').map(({ id }) => id)
  const holds = pending.length === 0 ? [] : await findHolds(tx, pending)
  for (const { petId, orderId, isOver } of holds) {
    if (!isOver) continue
    const pet = pets.get(petId) as VersionedPet
    await endExpiredHold(tx, pet, orderId, requestId)
    pets.set(petId, { ...pet, status: 'available', version: pet.version + 1 })
  }
  return new Set(holds.filter(({ isOver }) => !isOver).map(({ petId }) => petId))
}

/** Decides what a change writes. The error of a change that is not allowed becomes its result. */
async function decide(change: CheckedChange, facts: Facts, options: ChangePetsOptions): Promise<Decision> {
  try {
    switch (change.kind) {
      case 'create': {
        const { name, categoryId, status = 'available', profile } = change.values
        await requireCategory(categoryId, facts.allowsCategory)
        const { actorId: createdBy, requestId } = options.actor
        const toInsert = { name, categoryId, status, createdBy, requestId }
        return { write: 'create', pet: { ...toInsert, profile: newProfile(profile, options) } }
      }
      case 'update': {
        const { petId, version, ...fields } = change.values
        const pet = findLocked(facts, petId)
        const update = await decideUpdate(pet, fields, isVersion(version), facts)
        // Without the pet, because the response is stored: a request of 3 kB that names 100 pets would store all their names.
        if (update === undefined) return { write: 'nothing', result: { status: 200, version: pet.version } }
        return { write: 'update', update }
      }
      case 'delete': {
        const pet = findLocked(facts, change.values.petId)
        if (!isVersion(change.values.version)(pet.version)) throw new AppError('precondition_failed')
        if (facts.hasOrders(pet.id)) throw new AppError('pet_has_orders')
        return { write: 'delete', petId: pet.id }
      }
      case 'invalid':
        break
    }
    throw change.error
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { write: 'nothing', result: toError(error) }
  }
}

function findLocked({ pets }: Facts, petId: bigint): VersionedPet {
  const pet = pets.get(petId)
  if (pet === undefined) throw new AppError('pet_not_found')
  return pet
}

function isVersion(expected: number | undefined): (version: number) => boolean {
  return (version) => expected === undefined || version === expected
}

/** Undefined for a pet whose reference another one has. */
async function createPets(tx: Tx, pets: readonly PetToInsert[]): Promise<(VersionedPet | undefined)[]> {
  if (pets.length === 0) return []
  const ids = await insertNewPets(tx, pets)
  return pets.map(({ name, categoryId, status }, index) => {
    const id = ids[index]
    return id === undefined ? undefined : { id, name, categoryId, status, version: 1 }
  })
}

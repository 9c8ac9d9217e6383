// Rules for pets: list, create, change and delete.
import type { Actor } from '../../contract/actor.ts'
import type { Caller } from '../../contract/caller.ts'
import type { CategoryPolicy } from '../../contract/category-policy.ts'
import { AppError } from '../../contract/errors.ts'
import { type PageRequest, type PagePosition, toPage } from '../../contract/paging.ts'
import type { PetStatus } from '../../contract/pet-status.ts'
import type { Db, Reader, Tx } from '../../db/database.ts'
import { findCategoriesByIds } from '../categories/queries.ts'
import { type Change, insertHistory } from '../history/queries.ts'
import type { ChangedFields } from '../history/schema.ts'
import { releaseExpiredHold } from '../holds/holds.ts'
import { findHold, hasOrders, lockPet } from '../holds/queries.ts'
import { unwrap } from '../idempotency/idempotency.ts'
import { findPetsWithSale, insertFullRefunds } from '../ledger/queries.ts'
import { givenFacts, newProfile } from '../profiles/profiles.ts'
import type { CurrentSettings } from '../settings/current-settings.ts'
import type { PetTable } from './table.ts'
import type { Include } from './included.ts'
import { FILTER_NAMES, hasOtherFilters, indexedFilters, type PetFilters } from './filters.ts'
import {
  COUNTED_MAX,
  countMatchingPets,
  deletePet,
  findMatchingPets,
  findFilteredPetsByIds,
  findPetJsonByIds,
  findPetsByName,
  type NameSearch,
  type PetJson,
  petByReference,
  petsByName,
  petsByWord,
  petsInRange,
  type PetSource,
  updatePet,
} from './queries.ts'
import type { NewPet, Pet, PetChange, PetCount, VersionedPet } from './schema.ts'

/** A page as JSON text, and the position after which the next page starts; undefined on the last page. */
export interface JsonPage {
  json: string
  next: PagePosition | undefined
}

/** Every way to list pets, except by their ids. */
export type PetList = PetFilters & {
  name?: string | undefined
  word?: string | undefined
  sort?: 'name' | undefined
}

const LIST_NAMES = [...FILTER_NAMES, 'name', 'word', 'sort'] as const

/** The parameters of a request that select pets and sort them. A cursor is valid only with the same values. */
export function listOf(query: PetList): PetList {
  return Object.fromEntries(LIST_NAMES.map((name) => [name, query[name]]))
}

type IncludingRequest = PageRequest & { include: Include }

/** Reads a page of pets, newest first, or sorted by name if `name` or `sort` is given. */
export function readPets(
  petTable: PetTable,
  { name, word, sort, ...filters }: PetList,
  request: PageRequest,
  include: Include = 0,
): Promise<JsonPage> {
  const page = { ...request, include }
  const { after } = page
  const db = petTable.unbatched
  const { reference } = filters
  if (reference !== undefined && word === undefined && name === undefined && sort === undefined)
    return listMatchingPets(db, petByReference(reference, after?.id), filters, page)
  if (word !== undefined) return listMatchingPets(db, petsByWord(word, after?.id), filters, page)
  if (name === undefined && sort === undefined) {
    if (!hasOtherFilters(filters)) return listPets(petTable, filters, page)
    return listMatchingPets(db, petsInRange(indexedFilters(filters), after?.id), filters, page)
  }
  const search = { prefix: name ?? '', status: filters.status }
  if (!hasOtherFilters(filters, ['status'])) return listPetsByName(db, search, page)
  return listMatchingPets(db, petsByName(search, after), filters, page)
}

async function listPets(
  { findPage }: PetTable,
  filters: PetFilters,
  { after, limit, include }: IncludingRequest,
): Promise<JsonPage> {
  const { json, lastId } = await findPage({ filters, beforeId: after?.id, max: limit, include })
  return { json, next: lastId === null ? undefined : { id: lastId, sortKey: '' } }
}

/** Lists pets whose name starts with the prefix, of one status or of all, sorted by name. */
async function listPetsByName(
  db: Reader,
  search: NameSearch,
  { after, limit, include }: IncludingRequest,
): Promise<JsonPage> {
  const found = await findPetsByName(db, search, after, limit + 1, include)
  const { items, next } = toPage(found, limit, positionOf)
  return { json: `[${items.map(({ json }) => json).join(',')}]`, next }
}

function positionOf({ id, sortKey }: PagePosition): PagePosition {
  return { id, sortKey }
}

/** Lists the pets of the source that match the filters. If the search stops before the page is full, the next page continues there. */
async function listMatchingPets(
  db: Reader,
  source: PetSource,
  filters: PetFilters,
  { limit, include }: IncludingRequest,
): Promise<JsonPage> {
  const found = await findMatchingPets(db, source, filters, limit + 1, include)
  const stop = found.find(({ isLast }) => isLast)
  const { items, next } = toPage(
    found.filter(({ isMatch }) => isMatch),
    limit,
    positionOf,
  )
  return { json: `[${items.map(({ json }) => json).join(',')}]`, next: next ?? (stop && positionOf(stop)) }
}

/** How many pets a list has. With `more`, it has or may have more than `count`. */
export async function countPets(
  db: Reader,
  list: PetList & { id?: readonly bigint[] | undefined },
): Promise<PetCount> {
  const { id: ids, ...query } = list
  const { name, word, sort: _sort, ...filters } = query
  if (ids !== undefined) return { count: (await findFilteredPetsByIds(db, ids, filters)).length, more: false }
  const max = COUNTED_MAX + 1
  const { reference, status } = filters
  const source =
    word !== undefined
      ? petsByWord(word, undefined, max)
      : name !== undefined
        ? petsByName({ prefix: name, status }, undefined, max)
        : reference !== undefined
          ? petByReference(reference, undefined)
          : petsInRange(indexedFilters(filters), undefined, max)
  const { matching, examined } = await countMatchingPets(db, source, filters)
  return { count: Math.min(matching, COUNTED_MAX), more: matching > COUNTED_MAX || examined === max }
}

/** Lists the pets that have one of the ids and match the filters, newest first. */
export async function listPetsByIds(
  { unbatched }: PetTable,
  filters: PetFilters,
  ids: readonly bigint[],
  limit: number,
): Promise<VersionedPet[]> {
  return (await findFilteredPetsByIds(unbatched, ids, filters)).slice(0, limit)
}

/** Like listPetsByIds, with what `include` asks for. */
export async function listPetsIncluding(
  { unbatched }: PetTable,
  filters: PetFilters,
  ids: readonly bigint[],
  limit: number,
  include: Include,
): Promise<PetJson[]> {
  return (await findPetJsonByIds(unbatched, ids, filters, include)).slice(0, limit)
}

export async function getPetIncluding(table: PetTable, id: bigint, include: Include): Promise<PetJson> {
  const [pet] = await listPetsIncluding(table, {}, [id], 1, include)
  if (pet === undefined) throw new AppError('pet_not_found')
  return pet
}

export async function getPet({ findPet }: PetTable, id: bigint): Promise<VersionedPet> {
  const pet = await findPet(id)
  if (pet === undefined) throw new AppError('pet_not_found')
  return pet
}

export interface CreatePetOptions {
  caller: Pick<Caller, 'actorId'>
  requestId: string
  idempotencyKey: string | undefined
  /** The currency of the store. Only a pet with facts needs it. */
  currency: CurrentSettings['currency']
  now: Date
  allowsCategory: PetFacts['allowsCategory']
}

export async function createPet(
  { insertPet, insertPetOnce }: PetTable,
  { name, categoryId, status = 'available', profile: fields }: NewPet,
  { caller, requestId, idempotencyKey, currency, now, allowsCategory }: CreatePetOptions,
): Promise<{ pet: Pet; replayed: boolean }> {
  await requireCategory(categoryId, allowsCategory)
  const profile = fields && newProfile(fields, { currency: await currency(), now })
  const toInsert = { name, categoryId, status, createdBy: caller.actorId, requestId, profile }
  const asPet = (id: bigint): Pet => ({ id, name, categoryId, status })

  if (idempotencyKey === undefined) {
    const id = await insertPet(toInsert)
    if (id === undefined) throw new AppError('reference_in_use')
    return { pet: asPet(id), replayed: false }
  }

  const idempotent = {
    actorId: caller.actorId,
    key: idempotencyKey,
    operation: 'createPet',
    values: [name, categoryId, status, ...givenFacts(fields)],
  }
  const outcome = await insertPetOnce({ idempotent, pet: toInsert })
  // A retry sends the same values, so the id is the only part of the response that needs to be stored.
  const { response, replayed } = unwrap(outcome)
  return { pet: asPet(BigInt(response)), replayed }
}

export interface ChangePetOptions {
  actor: Actor
  /** Returns whether this version satisfies the client's precondition. */
  isExpected: (version: number) => boolean
  categoryPolicy: CategoryPolicy
  /** Throws unless the caller may refund a sale. */
  requireTill: () => void
}

export async function changePet(
  db: Db,
  id: bigint,
  change: PetChange,
  { actor, isExpected, categoryPolicy, requireTill }: ChangePetOptions,
): Promise<VersionedPet> {
  return db.transaction(async (tx) => {
    const locked = await lockPet(tx, id)
    if (locked === undefined) throw new AppError('pet_not_found')
    const pet = await withoutExpiredHold(tx, locked, actor.requestId)
    const update = await decideUpdate(pet, change, isExpected, {
      isHeld: async (petId) => (await findHold(tx, petId)) !== undefined,
      allowsCategory: categoryRule(tx, categoryPolicy),
      hasSale: async (petId) => (await findPetsWithSale(tx, [petId])).length > 0,
      requireTill,
    })
    if (update === undefined) return pet
    if (update.isReturn) await insertFullRefunds(tx, [id], actor)
    const version = await updatePet(tx, update.pet, actor)
    await insertHistory(tx, update.entry, actor)
    return { ...update.pet, version }
  })
}

/** What the rules for an update need to know, beyond the locked pet itself. */
export interface PetFacts {
  /** Whether an open order holds the pet. */
  isHeld: (petId: bigint) => Promise<boolean>
  /** Whether a pet can be in this category. */
  allowsCategory: (categoryId: bigint) => Promise<boolean>
  /** Whether a sale has sold the pet, which did not come back. */
  hasSale: (petId: bigint) => Promise<boolean>
  requireTill: () => void
}

/** The pet after a change, with its version before, and the entry of its history. */
export interface PetUpdate {
  pet: VersionedPet
  entry: Change
  /** Whether the pet comes back from its sale: all that was paid is refunded, in the same transaction. */
  isReturn: boolean
}

/** Throws if the change is not allowed. Returns undefined if it changes nothing. */
export async function decideUpdate(
  pet: VersionedPet,
  { name, categoryId, status, reason }: PetChange,
  isExpected: (version: number) => boolean,
  facts: PetFacts,
): Promise<PetUpdate | undefined> {
  if (!isExpected(pet.version)) throw new AppError('precondition_failed')
  const changed = {
    ...pet,
    name: name ?? pet.name,
    categoryId: categoryId ?? pet.categoryId,
    status: status ?? pet.status,
  }
  const [from, to] = differences(pet, changed)
  if (Object.keys(to).length === 0) return undefined
  if (to.status !== undefined) await requireTransition(pet, to.status, facts)
  if (to.categoryId !== undefined) await requireCategory(to.categoryId, facts.allowsCategory)
  const isReturn = from.status === 'sold' && (await facts.hasSale(pet.id))
  if (isReturn) facts.requireTill()
  return { pet: changed, entry: { petId: pet.id, event: 'updated', from, to, reason }, isReturn }
}

/** Deletes a pet that was created by mistake. A pet that has ever had an order cannot be deleted. */
export async function removePet(
  db: Db,
  id: bigint,
  isExpected: (version: number) => boolean,
  actor: Actor,
): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockPet(tx, id)
    if (locked === undefined) throw new AppError('pet_not_found')
    const pet = await withoutExpiredHold(tx, locked, actor.requestId)
    if (!isExpected(pet.version)) throw new AppError('precondition_failed')
    if (await hasOrders(tx, id)) throw new AppError('pet_has_orders')
    await deletePet(tx, id, actor)
  })
}

/** If the hold on a locked pet has expired but is not swept yet, ends the hold. Returns the resulting pet. */
export async function withoutExpiredHold(
  tx: Tx,
  pet: VersionedPet,
  requestId: string,
): Promise<VersionedPet> {
  if (!(await releaseExpiredHold(tx, pet, requestId))) return pet
  return { ...pet, status: 'available', version: pet.version + 1 }
}

async function requireTransition(pet: Pet, to: PetStatus, { isHeld }: PetFacts): Promise<void> {
  if (pet.status === 'sold' && to === 'pending') throw new AppError('invalid_transition')
  if (pet.status === 'pending' && (await isHeld(pet.id))) throw new AppError('pet_on_hold')
}

function differences(before: Pet, after: Pet): [from: ChangedFields, to: ChangedFields] {
  const from: ChangedFields = {}
  const to: ChangedFields = {}
  if (before.name !== after.name) [from.name, to.name] = [before.name, after.name]
  if (before.categoryId !== after.categoryId) {
    ;[from.categoryId, to.categoryId] = [before.categoryId, after.categoryId]
  }
  if (before.status !== after.status) [from.status, to.status] = [before.status, after.status]
  return [from, to]
}

/** Returns whether a pet can be in a category. */
export function categoryRule(db: Reader, categoryPolicy: CategoryPolicy): PetFacts['allowsCategory'] {
  return async (id) => categoryPolicy === 'any' || (await findCategoriesByIds(db, [id])).length > 0
}

/** Throws if no pet can be in this category. */
export async function requireCategory(
  categoryId: bigint,
  allowsCategory: PetFacts['allowsCategory'],
): Promise<void> {
  if (await allowsCategory(categoryId)) return
  throw new AppError('unknown_category', {
    details: [
      { field: 'categoryId', code: 'unknown_category', message: `No category has the id ${categoryId}.` },
    ],
  })
}

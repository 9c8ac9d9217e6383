// What can be done with animals. Knows the rules; nothing of HTTP, nothing of SQL.
import { findCategoriesByIds } from '../categories/queries.ts'
import type { Db } from '../db/database.ts'
import { AppError } from '../errors.ts'
import { doOnce } from '../idempotency/idempotency.ts'
import { findPetsBefore, findPetsByIds, insertPets, type PetFilters } from './queries.ts'
import type { NewPet, Pet } from './schema.ts'

export interface PetPage {
  pets: Pet[]
  /** The id to go on from; undefined on the last page. */
  nextBefore: bigint | undefined
}

export async function listPets(
  db: Db,
  filters: PetFilters,
  { before, limit }: { before: bigint | undefined; limit: number },
): Promise<PetPage> {
  // One more than asked for tells whether another page exists.
  const found = await findPetsBefore(db, filters, before, limit + 1)
  const pets = found.slice(0, limit)
  return { pets, nextBefore: found.length > limit ? pets.at(-1)?.id : undefined }
}

/** These animals, newest first, as far as they exist and match. */
export async function listPetsByIds(
  db: Db,
  { status, categoryId }: PetFilters,
  ids: readonly bigint[],
  limit: number,
): Promise<Pet[]> {
  const found = await findPetsByIds(db, ids)
  const matching = found.filter(
    (pet) =>
      (status === undefined || pet.status === status) &&
      (categoryId === undefined || pet.categoryId === categoryId),
  )
  return matching.slice(0, limit)
}

export async function getPet(db: Db, id: bigint): Promise<Pet> {
  const [pet] = await findPetsByIds(db, [id])
  if (pet === undefined) throw new AppError('pet_not_found')
  return pet
}

export interface CreatePetOptions {
  callerId: bigint
  requestId: string
  idempotencyKey: string | undefined
  categories: 'any' | 'strict'
}

export async function createPet(
  db: Db,
  { name, categoryId, status = 'available' }: NewPet,
  { callerId, requestId, idempotencyKey, categories }: CreatePetOptions,
): Promise<{ pet: Pet; replayed: boolean }> {
  const insert = async (to: Pick<Db, 'read' | 'write'>): Promise<bigint> => {
    if (categories === 'strict') await requireCategory(to, categoryId)
    const [id] = await insertPets(to, [{ name, categoryId, status, createdBy: callerId, requestId }])
    return id as bigint
  }
  const asPet = (id: bigint): Pet => ({ id, name, categoryId, status })

  if (idempotencyKey === undefined) return { pet: asPet(await insert(db)), replayed: false }

  // The same values give the same animal but for its id, so the id is all there is to keep.
  const { answer, replayed } = await doOnce(
    db,
    { apiKeyId: callerId, key: idempotencyKey, operation: 'createPet', values: [name, categoryId, status] },
    async (tx) => String(await insert(tx)),
  )
  return { pet: asPet(BigInt(answer)), replayed }
}

async function requireCategory(db: Pick<Db, 'read'>, categoryId: bigint): Promise<void> {
  const [category] = await findCategoriesByIds(db, [categoryId])
  if (category !== undefined) return
  throw new AppError('unknown_category', {
    details: [
      { field: 'categoryId', code: 'unknown_category', message: `No category has the id ${categoryId}.` },
    ],
  })
}

// SQL statements on pets. Each finds its rows by an index. Orders, imports and exports have their own statements.
// Knows nothing about HTTP.
import type { Reader, Tx, Writer } from '../db/database.ts'
import { INT64_MAX } from '../int64.ts'
import type { PetStatus } from '../pet-status.ts'
import type { Pet, VersionedPet } from './schema.ts'

const COLUMNS = 'id, name, category_id as "categoryId", status'

export interface PetFilters {
  status?: PetStatus | undefined
  categoryId?: bigint | undefined
}

export interface PetToInsert {
  name: string
  categoryId: bigint
  status: PetStatus
  createdBy: bigint | undefined
  requestId: string | undefined
}

/**
 * Returns pets with an id below `beforeId`, newest first.
 *
 * The filters are row comparisons on all columns of an index, because these read only the rows that they return, even
 * for a status that no pet has. With `status = $1 and id < $2`, PostgreSQL's generic plan scanned the primary key. If
 * only the 100 oldest of a million pets had the status, it read 999,920 rows to return 20.
 *
 * The "+ 0" matches the index pets_by_category_and_status. migrations/0001_animals_and_api_keys.sql explains it.
 */
export async function findPetsBefore(
  db: Reader,
  { status, categoryId }: PetFilters,
  beforeId: bigint | undefined,
  max: number,
): Promise<Pet[]> {
  const before = beforeId ?? INT64_MAX
  if (status !== undefined && categoryId !== undefined) {
    return db.read<Pet>({
      name: 'find_pets_before_by_category_and_status',
      text: `select ${COLUMNS} from pets
        where (category_id + 0, status, id) < ($1, $2, $3) and (category_id + 0, status, id) >= ($1, $2, 0)
        order by category_id + 0 desc, status desc, id desc
        limit $4`,
      values: [categoryId, status, before, max],
    })
  }
  if (status !== undefined) {
    return db.read<Pet>({
      name: 'find_pets_before_by_status',
      text: `select ${COLUMNS} from pets
        where (status, id) < ($1, $2) and (status, id) >= ($1, 0)
        order by status desc, id desc
        limit $3`,
      values: [status, before, max],
    })
  }
  if (categoryId !== undefined) {
    return db.read<Pet>({
      name: 'find_pets_before_by_category',
      text: `select ${COLUMNS} from pets
        where (category_id, id) < ($1, $2) and (category_id, id) >= ($1, 0)
        order by category_id desc, id desc
        limit $3`,
      values: [categoryId, before, max],
    })
  }
  return db.read<Pet>({
    name: 'find_pets_before',
    text: `select ${COLUMNS} from pets where id < $1 order by id desc limit $2`,
    values: [before, max],
  })
}

export interface NamedPet extends Pet {
  nameKey: string
}

/**
 * Returns pets whose name starts with the prefix, after the given position, sorted by name. Reads one range of the
 * index on (key, id), whose keys are compared byte by byte. The range ends at the prefix followed by 500 repetitions of
 * U+10FFFF, the highest code point. No name with this prefix sorts after that, because a name has at most 500
 * characters.
 */
export async function findPetsByName(
  db: Reader,
  prefix: string,
  after: { nameKey: string; id: bigint } | undefined,
  max: number,
): Promise<NamedPet[]> {
  return db.read<NamedPet>({
    name: 'find_pets_by_name',
    text: `select ${COLUMNS}, pet_name_key(name) as "nameKey" from pets
      where (pet_name_key(name) collate "C", id) > (greatest($2 collate "C", pet_name_key($1)), $3)
        and pet_name_key(name) collate "C" <= pet_name_key($1) || repeat(chr(1114111), 500)
      order by pet_name_key(name) collate "C", id
      limit $4`,
    values: [prefix, after?.nameKey ?? '', after?.id ?? 0n, max],
  })
}

export async function findPetsByIds(db: Reader, ids: readonly bigint[]): Promise<VersionedPet[]> {
  return db.read<VersionedPet>({
    name: 'find_pets_by_ids',
    text: `select ${COLUMNS}, version from pets where id = any($1::bigint[]) order by id desc`,
    values: [ids],
  })
}

/**
 * Locks the pet until the transaction ends. A transaction that changes a pet and an existing order for that pet locks
 * the pet first, which prevents deadlocks.
 */
export async function lockPet(tx: Tx, id: bigint): Promise<VersionedPet | undefined> {
  const [pet] = await tx.write<VersionedPet>({
    name: 'lock_pet',
    text: `select ${COLUMNS}, version from pets where id = $1 for update`,
    values: [id],
  })
  return pet
}

/**
 * Variant of lockPet for a buyer whose insertOrder found the pet unavailable. Several buyers may hold the shared lock
 * that insertOrder takes. With `for update`, they would deadlock.
 */
export async function lockPetAmongBuyers(tx: Tx, id: bigint): Promise<VersionedPet | undefined> {
  const [pet] = await tx.write<VersionedPet>({
    name: 'lock_pet_among_buyers',
    text: `select ${COLUMNS}, version from pets where id = $1 for no key update`,
    values: [id],
  })
  return pet
}

/** Writes the name, category and status of a locked pet; returns its new version. */
export async function updatePet(tx: Tx, { id, name, categoryId, status }: Pet): Promise<number> {
  const [row] = await tx.write<{ version: number }>({
    name: 'update_pet',
    text: `update pets set name = $2, category_id = $3, status = $4, version = version + 1
      where id = $1 returning version`,
    values: [id, name, categoryId, status],
  })
  return (row as { version: number }).version
}

/** Deletes the pet and its history. Fails with a foreign key violation if the pet has orders. */
export async function deletePet(tx: Tx, id: bigint): Promise<void> {
  await tx.write({ name: 'delete_pet', text: 'delete from pets where id = $1', values: [id] })
}

/** Inserts the pets in one statement; returns their ids in the order of the input. */
export async function insertPets(db: Writer, pets: readonly PetToInsert[]): Promise<bigint[]> {
  // The ids are generated first, because `insert … returning` does not show which input row an id belongs to.
  const rows = await db.write<{ id: bigint }>({
    name: 'insert_pets',
    text: `with input as materialized (
        select nextval('pets_id_seq') as id, position, name, category_id, status, created_by, request_id
        from unnest($1::text[], $2::bigint[], $3::pet_status[], $4::bigint[], $5::text[])
          with ordinality as input (name, category_id, status, created_by, request_id, position)
      ), inserted as (
        insert into pets (id, name, category_id, status, created_by, request_id)
        select id, name, category_id, status, created_by, request_id from input
      )
      select id from input order by position`,
    values: [
      pets.map((pet) => pet.name),
      pets.map((pet) => pet.categoryId),
      pets.map((pet) => pet.status),
      pets.map((pet) => pet.createdBy ?? null),
      pets.map((pet) => pet.requestId ?? null),
    ],
  })
  return rows.map((row) => row.id)
}

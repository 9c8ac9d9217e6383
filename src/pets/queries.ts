// Every statement on pets. Each takes and answers sets, and reads by an index.
import type { Reader, Writer } from '../db/database.ts'
import { INT64_MAX } from '../int64.ts'
import type { Pet, PetStatus } from './schema.ts'

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
 * Newest first, from below the given id.
 *
 * The filters stand in row comparisons over a whole index, not in `status = $1 and id < $2`: with 100 old
 * animals of one status among a million, PostgreSQL's generic plan for that walked 999,920 rows of the
 * primary key to answer 20. Compared as rows it reads what it answers, also for a status nobody has. The
 * "+ 0" of the third index keeps PostgreSQL from sorting a whole category before the table is analysed.
 */
export async function findPetsBefore(
  db: Reader,
  { status, categoryId }: PetFilters,
  beforeId: bigint | undefined,
  most: number,
): Promise<Pet[]> {
  const before = beforeId ?? INT64_MAX
  if (status !== undefined && categoryId !== undefined) {
    return db.read<Pet>({
      name: 'find_pets_before_by_category_and_status',
      text: `select ${COLUMNS} from pets
        where (category_id + 0, status, id) < ($1, $2, $3) and (category_id + 0, status, id) >= ($1, $2, 0)
        order by category_id + 0 desc, status desc, id desc
        limit $4`,
      values: [categoryId, status, before, most],
    })
  }
  if (status !== undefined) {
    return db.read<Pet>({
      name: 'find_pets_before_by_status',
      text: `select ${COLUMNS} from pets
        where (status, id) < ($1, $2) and (status, id) >= ($1, 0)
        order by status desc, id desc
        limit $3`,
      values: [status, before, most],
    })
  }
  if (categoryId !== undefined) {
    return db.read<Pet>({
      name: 'find_pets_before_by_category',
      text: `select ${COLUMNS} from pets
        where (category_id, id) < ($1, $2) and (category_id, id) >= ($1, 0)
        order by category_id desc, id desc
        limit $3`,
      values: [categoryId, before, most],
    })
  }
  return db.read<Pet>({
    name: 'find_pets_before',
    text: `select ${COLUMNS} from pets where id < $1 order by id desc limit $2`,
    values: [before, most],
  })
}

export async function findPetsByIds(db: Reader, ids: readonly bigint[]): Promise<Pet[]> {
  return db.read<Pet>({
    name: 'find_pets_by_ids',
    text: `select ${COLUMNS} from pets where id = any($1::bigint[]) order by id desc`,
    values: [ids],
  })
}

/** Adds the animals in one statement and answers their ids in the sequence of the input. */
export async function insertPets(db: Writer, pets: readonly PetToInsert[]): Promise<bigint[]> {
  // The ids are drawn first: before PostgreSQL 17 `returning` cannot say which row of the input it speaks of.
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

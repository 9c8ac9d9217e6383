// Inserts new pets, and their profiles. A batch without a profile keeps its own statement, which is faster.
import type { Writer } from '../../db/database.ts'
import { insertPets, insertPetsWithProfiles, type PetToInsert } from './queries.ts'

/**
 * Inserts the pets in one statement; returns their ids in the order of the input, undefined for a pet whose reference another
 * one has. Call within `withReferences`.
 */
export function insertNewPets(db: Writer, pets: readonly PetToInsert[]): Promise<(bigint | undefined)[]> {
  return pets.some(({ profile }) => profile !== undefined)
    ? insertPetsWithProfiles(db, pets)
    : insertPets(db, pets)
}

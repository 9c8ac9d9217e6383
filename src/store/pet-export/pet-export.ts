// Reads the pets of an export, page by page. Each page is a statement of its own, so that a slow reader holds neither a
// connection nor a snapshot. Contains no HTTP.
import { LIST_LIMIT_MAX, type PagePosition } from '../../contract/paging.ts'
import type { Reader } from '../../db/database.ts'
import { parseJson } from '../../values/json.ts'
import type { PetTable } from '../pets/table.ts'
import { type PetList, readPets } from '../pets/pets.ts'
import { findProfilesByPetIds } from '../profiles/queries.ts'
import type { ExportRow, RowWriter } from './format.ts'

export interface ExportOptions {
  pets: PetList
  withProfiles: boolean
  /** Max number of pets. */
  limit: number
}

/** Yields the text of one page after the other, in the order of listPets. The first one starts with the header. */
export async function* exportPets(
  petTable: PetTable,
  db: Reader,
  { header, write }: RowWriter,
  { pets, withProfiles, limit }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  let text = header
  let left = limit
  let after: PagePosition | undefined
  do {
    const { json, next } = await readPets(petTable, pets, { after, limit: Math.min(left, LIST_LIMIT_MAX) })
    const page = parseJson(json) as ExportRow[]
    const rows = withProfiles ? await addProfiles(db, page) : page
    yield text + rows.map(write).join('')
    text = ''
    left -= page.length
    after = next
  } while (after !== undefined && left > 0)
}

/** A profile can be newer than its pet, which was read before it. */
async function addProfiles(db: Reader, pets: readonly ExportRow[]): Promise<ExportRow[]> {
  const ids = pets.map(({ id }) => BigInt(id as number | bigint))
  const profiles = new Map((await findProfilesByPetIds(db, ids)).map((profile) => [profile.petId, profile]))
  return pets.map((pet, index) => ({ ...pet, ...profiles.get(ids[index] as bigint) }))
}

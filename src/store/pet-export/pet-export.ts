// Reads the pets of an export, page by page. Each page is a statement of its own, so that a slow reader holds neither a
// connection nor a snapshot. Contains no HTTP.
import { LIST_LIMIT_MAX, type PagePosition } from '../../contract/paging.ts'
import { parseJson } from '../../values/json.ts'
import type { PetTable } from '../pets/table.ts'
import { type PetList, readPets } from '../pets/pets.ts'
import { type Include, INCLUDE_WORDS } from '../pets/included.ts'
import type { ExportRow, RowWriter } from './format.ts'

export interface ExportOptions {
  pets: PetList
  include: Include
  /** Max number of pets. */
  limit: number
}

/** Yields the text of one page after the other, in the order of listPets. The first one starts with the header. */
export async function* exportPets(
  petTable: PetTable,
  { header, write }: RowWriter,
  { pets, include, limit }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  let text = header
  let left = limit
  let after: PagePosition | undefined
  do {
    const { json, next } = await readPets(
      petTable,
      pets,
      { after, limit: Math.min(left, LIST_LIMIT_MAX) },
      include,
    )
    const page = parseJson(json) as ExportRow[]
    yield text + page.map((pet) => write(flatten(pet))).join('')
    text = ''
    left -= page.length
    after = next
  } while (after !== undefined && left > 0)
}

/** The fields of an included object, such as the profile, become columns. */
function flatten(pet: ExportRow): ExportRow {
  return Object.assign({}, pet, ...INCLUDE_WORDS.map((word) => pet[word])) as ExportRow
}

// Reads the file that a person has chosen.
import { shopCurrency } from '../shop/shop.ts'
import { FileError, type PetFile, readPetFile } from './pet-rows.ts'
import { sha256 } from './sha256.ts'

/** About 200,000 pets. `petstore import` reads files of any size. */
const FILE_BYTES_MAX = 10_000_000

/** A file that was read. */
export interface ReadFile extends PetFile {
  name: string
  hash: string
}

export async function readFile(chosen: File): Promise<ReadFile> {
  if (chosen.size > FILE_BYTES_MAX) {
    throw new FileError('It is larger than 10 MB. Split it, or use the command “petstore import”.')
  }
  const bytes = new Uint8Array(await chosen.arrayBuffer())
  return { name: chosen.name, hash: sha256(bytes), ...readPetFile(bytes, shopCurrency(), new Date()) }
}

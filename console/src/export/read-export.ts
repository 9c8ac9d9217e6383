// Reads the file of an export, with the filters of the list.
import type { ExportPetsQuery, Petstore } from '@petstore/client'
import { EXPORT_PETS } from '@petstore/client/rules'
import { BYTE_ORDER_MARK } from '../layout/csv.ts'

/** The max of the service. */
export const EXPORTED_MAX = EXPORT_PETS.limit.maximum

export type ExportFormat = NonNullable<ExportPetsQuery['format']>

export interface ExportedFile {
  bytes: Uint8Array<ArrayBuffer>[]
  petCount: number
  /** Whether more pets can match than the file has. */
  isCut: boolean
}

interface Options {
  signal: AbortSignal
  /** Called with the number of pets that were read so far. */
  onCount: (pets: number) => void
  max?: number
}

export async function readExport(
  store: Petstore,
  query: ExportPetsQuery & { format: ExportFormat },
  { signal, onCount, max = EXPORTED_MAX }: Options,
): Promise<ExportedFile> {
  const file = store.pets.export({ ...query, include: 'profiles', limit: max }, { signal })
  const mark = query.format === 'csv' ? BYTE_ORDER_MARK : ''
  const bytes: Uint8Array<ArrayBuffer>[] = [new TextEncoder().encode(mark)]
  for await (const part of file) {
    bytes.push(new Uint8Array(part))
    onCount(file.petCount)
  }
  return { bytes, petCount: file.petCount, isCut: file.petCount === max }
}

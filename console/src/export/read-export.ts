// Reads the file of an export, with the filters of the list.
import type { ExportPetsQuery, Petstore } from '@petstore/client'
import { EXPORT_PETS } from '@petstore/client/rules'
import { readCsv } from '../import/csv.ts'
import { BYTE_ORDER_MARK, csvLines } from '../layout/csv.ts'

/** The max of the service. */
export const EXPORTED_MAX = EXPORT_PETS.limit.maximum

const LF = 0x0a
const QUOTE = 0x22

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
  const file = store.pets.export({ ...query, include: ['profile'], limit: max }, { signal })
  const isCsv = query.format === 'csv'
  const bytes: Uint8Array<ArrayBuffer>[] = [new TextEncoder().encode(isCsv ? BYTE_ORDER_MARK : '')]
  const toSafe = isCsv ? safeRecords() : (part: Uint8Array) => new Uint8Array(part)
  for await (const part of file) {
    bytes.push(toSafe(part))
    onCount(file.petCount)
  }
  return { bytes, petCount: file.petCount, isCut: file.petCount === max }
}

/** The file of the service is for programs. Returns the records that each part completes, with cells for a spreadsheet. */
function safeRecords(): (part: Uint8Array) => Uint8Array<ArrayBuffer> {
  let started: Uint8Array[] = []
  let isQuoted = false
  return (part) => {
    let end = 0
    for (let at = 0; at < part.length; at += 1) {
      if (part[at] === QUOTE) isQuoted = !isQuoted
      else if (part[at] === LF && !isQuoted) end = at + 1
    }
    const complete = joined([...started, part.subarray(0, end)])
    started = end === 0 ? [...started, part] : [part.subarray(end)]
    if (end === 0) return new Uint8Array()
    const rows = Array.from(readCsv(complete), ({ fields, fault }) => {
      if (fault !== undefined) throw new Error(`The server sent a file that cannot be read: ${fault}`)
      return fields
    })
    return new TextEncoder().encode(csvLines(rows))
  }
}

function joined(parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

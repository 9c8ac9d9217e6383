// The pets that match a filter, as a file. `store.pets` has this method.
import type { CallOptions, Send } from './call.ts'
import type { ExportPetsQuery } from './interface.ts'

/** The bytes of the file. It is complete if the iteration ends without an error. Iterate once. */
export interface PetExport extends AsyncIterable<Uint8Array> {
  /** Number of pets in the bytes so far. If it reaches the limit, more pets can match. */
  readonly petCount: number
}

const LF = 0x0a
const QUOTE = 0x22

export function petExportOf(send: Send) {
  return {
    /**
     * Reads a CSV file, or lines of JSON with `format: 'ndjson'`. The call is retried until the file begins, and not after
     * that.
     */
    export: (query: ExportPetsQuery = {}, options?: CallOptions): PetExport => {
      const isCsv = query.format !== 'ndjson'
      const lines = lineCounter(isCsv)
      async function* read() {
        const call = { operation: 'exportPets', method: 'GET', path: '/pet-export', query } as const
        const { value } = await send({ ...call, idempotent: true, isFile: true }, options)
        for await (const bytes of value) {
          lines.add(bytes)
          yield bytes
        }
      }
      return {
        [Symbol.asyncIterator]: read,
        get petCount() {
          return isCsv ? Math.max(0, lines.count() - 1) : lines.count()
        },
      }
    },
  }
}

/** Counts lines. In CSV, a line break inside quotes is part of a field; JSON has no line break inside a line. */
function lineCounter(hasQuotedLines: boolean) {
  let count = 0
  let isQuoted = false
  return {
    count: () => count,
    add: (bytes: Uint8Array): void => {
      for (const byte of bytes) {
        if (byte === LF && !isQuoted) count += 1
        else if (byte === QUOTE && hasQuotedLines) isQuoted = !isQuoted
      }
    },
  }
}

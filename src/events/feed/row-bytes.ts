// How much memory an event takes.
import type { EventRow } from './queries.ts'

/** An event without its texts: the object, its ids and its time. */
const ROW_BYTES = 512
/** A text that needs no character outside Latin-1 takes half of that. */
const BYTES_PER_CHARACTER = 2

export const textBytes = (characters: number) => characters * BYTES_PER_CHARACTER

/** An estimate, above the true size. */
export function rowBytes({ name, profile, orderState, entry, requestId }: EventRow): number {
  let characters =
    (name?.length ?? 0) + (orderState?.length ?? 0) + (entry?.length ?? 0) + (requestId?.length ?? 0)
  for (const value of Object.values(profile ?? {})) if (typeof value === 'string') characters += value.length
  return ROW_BYTES + textBytes(characters)
}

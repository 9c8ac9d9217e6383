// The pets whose cards are printed, in the address of the page.
import { isId } from '../pets/filters.ts'

/** More would be a book. The address stays short enough for every browser. */
export const CARDS_MAX = 200

export interface CardsSearch {
  ids: string[]
}

/** Reads ids that are separated by commas, and ignores what is none. */
export function readIds(search: Record<string, unknown>): CardsSearch {
  const ids = [search['ids']].flat().join(',').split(',')
  return { ids: [...new Set(ids.filter(isId))].slice(0, CARDS_MAX) }
}

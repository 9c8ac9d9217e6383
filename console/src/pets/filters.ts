// The filters of the list of pets, which are part of the URL of the page. A link to a filtered list can be shared.
import type { PetStatus } from '@petstore/client'

export interface PetSearch {
  status?: PetStatus | undefined
  category?: string | undefined
  /** The start of a name, or an id. */
  q?: string | undefined
  /** Whether the form for a new pet is open. */
  add?: boolean | undefined
}

/** Names are not longer than this. */
const SEARCH_LENGTH_MAX = 500

export const STATUSES: PetStatus[] = ['available', 'pending', 'sold']

/** Reads the filters from the URL, and ignores values that the page does not know. */
export function readFilters({ status, category, q, add }: Record<string, unknown>): PetSearch {
  return {
    status: STATUSES.find((known) => known === status),
    category: typeof category === 'string' && isId(category) ? category : undefined,
    q: typeof q === 'string' && q !== '' ? q.slice(0, SEARCH_LENGTH_MAX) : undefined,
    add: String(add) === 'true' ? true : undefined,
  }
}

export function isId(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text)
}

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

export const STATUSES: PetStatus[] = ['available', 'pending', 'sold']

/** Reads the filters from the URL, and ignores values that the page does not know. */
export function readFilters(search: Record<string, unknown>): PetSearch {
  const { status, category, q, add } = search
  return {
    status: STATUSES.find((known) => known === status),
    category: isId(String(category)) ? String(category) : undefined,
    q: q === undefined || q === '' ? undefined : String(q).slice(0, 500),
    add: add === true ? true : undefined,
  }
}

export function isId(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text)
}

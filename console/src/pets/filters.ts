// The filters of the list of pets, which are part of the URL of the page. A link to a filtered list can be shared.
import type { PetStatus } from '@petstore/client'
import { LIST_PETS } from '@petstore/client/rules'

export interface PetSearch {
  status?: PetStatus | undefined
  category?: string | undefined
  /** The start of a word of the name, an id, or a chip number. */
  q?: string | undefined
  /** How the list is sorted; newest first if undefined. */
  sort?: 'name' | undefined
  /** Whether the form for a new pet is open. */
  add?: boolean | undefined
}

export const STATUSES = LIST_PETS.status.enum

/** Reads the filters from the URL, and ignores values that the page does not know. */
export function readFilters(search: Record<string, unknown>): PetSearch {
  const { status, sort, add } = search
  const category = textOf(search['category'])
  return {
    status: STATUSES.find((known) => known === status),
    category: isId(category) ? category : undefined,
    q: textOf(search['q']).slice(0, LIST_PETS.word.maxLength) || undefined,
    sort: sort === 'name' ? sort : undefined,
    add: String(add) === 'true' ? true : undefined,
  }
}

/** How the list is sorted. The service sorts the pets of a search or of a category newest first. */
export function sortOf({ q, category, sort }: PetSearch): 'name' | undefined {
  return q === undefined && category === undefined ? sort : undefined
}

/** The filters as parameters of the service. `chipNumber` is one of the list of profiles, the others are of the list of pets. */
export function listFilters(search: PetSearch) {
  const { status, category, q } = search
  const chipNumber = chipNumberIn(q)
  const isById = q !== undefined && chipNumber === undefined && isId(q)
  return {
    status,
    categoryId: category,
    word: isById || chipNumber !== undefined ? undefined : q,
    id: isById ? [q] : undefined,
    chipNumber,
    sort: sortOf(search),
  }
}

/** The router reads digits as a number, unless that would change them. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export function isId(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text)
}

/**
 * The chip number that a person searches for. Those of ISO 11784 have 15 digits, which people also write in groups. No store has so many
 * pets that an id is as long.
 */
export function chipNumberIn(text: string | undefined): string | undefined {
  const digits = text?.replaceAll(' ', '')
  return digits !== undefined && /^\d{15}$/.test(digits) ? digits : undefined
}

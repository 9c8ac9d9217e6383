// The filters of the list that was shown last, so that the way back from a pet leads to the same list.
import type { PetSearch } from './filters.ts'

let filters: PetSearch = {}

export function rememberFilters({ status, category, q, sort }: PetSearch): void {
  filters = { status, category, q, sort }
}

export function lastFilters(): PetSearch {
  return filters
}

/** The state of a page that was opened from the list, or from the holds. The browser keeps it, even if the page is reloaded. */
export const FROM_LIST = { isFromList: true } as const
export const FROM_HOLDS = { isFromHolds: true } as const

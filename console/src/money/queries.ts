// What the pages about one pet read of the till.
import type { Entry, Petstore } from '@petstore/client'
import { queryOptions } from '@tanstack/react-query'
import { KEYS } from '../session/query-keys.ts'

/** Hardly any pet has more. */
const ENTRIES_MAX = 200

/** The entries of all orders of a pet. */
export function entriesOfPetQuery(store: Petstore, petId: string) {
  return queryOptions({
    queryKey: KEYS.entriesOfPet(petId),
    queryFn: async ({ signal }) => {
      const entries: Entry[] = []
      for await (const entry of store.till.entries({ petId }, { signal })) {
        entries.push(entry)
        if (entries.length === ENTRIES_MAX) break
      }
      return entries
    },
  })
}

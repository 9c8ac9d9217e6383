// What the pages read about the shop.
import type { Petstore } from '@petstore/client'
import { queryOptions } from '@tanstack/react-query'
import { KEYS } from '../session/query-keys.ts'

/** No event tells of a change of the settings. A page in the background reads them when it is shown again. */
const EVERY_MS = 1_000

export function settingsQuery(store: Petstore) {
  return queryOptions({
    queryKey: KEYS.settings,
    queryFn: ({ signal }) => store.settings.get({ signal }),
    staleTime: 0,
    refetchInterval: EVERY_MS,
    refetchOnWindowFocus: 'always',
  })
}

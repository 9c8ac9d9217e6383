// What the page "Health" and its link in the sidebar read.
import type { Petstore } from '@petstore/client'
import { queryOptions } from '@tanstack/react-query'
import { refreshEvery } from '../session/query-client.ts'
import { KEYS } from '../session/query-keys.ts'

const REFRESHED_EVERY_MS = 60_000

export function healthQuery(store: Petstore) {
  return queryOptions({
    queryKey: KEYS.health,
    queryFn: ({ signal }) => store.healthReport({ signal }),
    refetchInterval: refreshEvery(REFRESHED_EVERY_MS),
  })
}

// What the page about API keys reads and changes.
import type { ApiKey, NewApiKey, Petstore, Rotation } from '@petstore/client'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { refreshEvery } from '../session/query-client.ts'
import { KEYS } from '../session/query-keys.ts'
import { useStore } from '../session/session.ts'

/** The newest keys of a kind that the page shows. */
export const KEYS_MAX = 500
/** The service updates the times of the last use once a minute. The event stream does not contain them. */
const UPDATED_EVERY_MS = 60_000

export function apiKeysQuery(store: Petstore) {
  return newestKeysQuery(store, 'program')
}

/** A person who signs in gets a key. It is valid as long as the session. */
export function sessionsQuery(store: Petstore) {
  return newestKeysQuery(store, 'person')
}

function newestKeysQuery(store: Petstore, kind: 'program' | 'person') {
  return queryOptions({
    queryKey: KEYS.apiKeysOf(kind),
    refetchInterval: refreshEvery(UPDATED_EVERY_MS),
    queryFn: async ({ signal }) => {
      const apiKeys: ApiKey[] = []
      for await (const apiKey of store.apiKeys.list({ kind }, { signal })) {
        apiKeys.push(apiKey)
        if (apiKeys.length === KEYS_MAX) break
      }
      return apiKeys
    },
  })
}

export function deprecatedCallsQuery(store: Petstore) {
  return queryOptions({
    queryKey: KEYS.deprecatedCalls,
    refetchInterval: refreshEvery(UPDATED_EVERY_MS),
    queryFn: ({ signal }) => store.apiKeys.deprecatedCalls({}, { signal }),
  })
}

/** `gcTime: 0` removes the text of the key from memory when its dialog closes. */
export function useCreateApiKey() {
  const store = useStore()
  const refresh = useRefreshApiKeys()
  return useMutation({
    gcTime: 0,
    mutationFn: (apiKey: NewApiKey) => store.apiKeys.create(apiKey),
    onSettled: refresh,
  })
}

export function useRotateApiKey() {
  const store = useStore()
  const refresh = useRefreshApiKeys()
  return useMutation({
    gcTime: 0,
    mutationFn: ({ id, ...rotation }: Rotation & { id: string }) => store.apiKeys.rotate(id, rotation),
    onSettled: refresh,
  })
}

export function useRevokeApiKey() {
  const store = useStore()
  const refresh = useRefreshApiKeys()
  return useMutation({ mutationFn: (id: string) => store.apiKeys.revoke(id), onSettled: refresh })
}

function useRefreshApiKeys(): () => Promise<void> {
  const cache = useQueryClient()
  return () => cache.invalidateQueries({ queryKey: KEYS.apiKeys })
}

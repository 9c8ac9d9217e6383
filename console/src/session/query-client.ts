// The cache of all data that the pages show in one session.
import { PetstoreError } from '@petstore/client'
import { MutationCache, type Query, QueryCache, QueryClient } from '@tanstack/react-query'

/** `onRejected` runs if the service rejects the API key of the session, wherever it is detected. */
export function openCache(onRejected: () => void): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof PetstoreError && error.status === 401) onRejected()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        // The client retries temporary errors itself.
        retry: false,
        // The event stream updates the data. Refetch only what was not on the page for a while.
        staleTime: 60_000,
      },
    },
  })
}

/** Refreshes data that is shown. Without data, the page shows an error and a button, and a refresh would hide both. */
export function refreshEvery(ms: number) {
  return ({ state }: Pick<Query, 'state'>) => state.data !== undefined && ms
}

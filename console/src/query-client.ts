// The cache of all data that the pages show. A rejected API key ends the session, wherever it is detected.
import { PetstoreError } from '@petstore/client'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { endSession } from './session/session.ts'

function endRejectedSession(error: Error): void {
  if (error instanceof PetstoreError && error.status === 401) endSession('rejected')
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endRejectedSession }),
  mutationCache: new MutationCache({ onError: endRejectedSession }),
  defaultOptions: {
    queries: {
      // The client retries temporary errors itself.
      retry: false,
      // The event stream updates the data. Refetch only what was not on the page for a while.
      staleTime: 60_000,
    },
  },
})

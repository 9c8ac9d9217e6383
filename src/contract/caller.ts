// The caller of a request, as stored with its API key.
import type { Scope } from './scopes.ts'

export interface Caller {
  id: bigint
  name: string
  scopes: readonly Scope[]
  /** Max requests per second; undefined if the default limit of the service applies. */
  rateLimit: number | undefined
}

// Who sends a request: what its API key says.
import type { Scope } from './scopes.ts'

export interface Caller {
  id: bigint
  name: string
  scopes: readonly Scope[]
  /** Requests per second; undefined where the limit of the service applies. */
  rateLimit: number | undefined
}

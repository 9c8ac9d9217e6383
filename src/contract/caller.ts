// The caller of a request, as stored with its API key.
import type { Scope } from './scopes.ts'

export interface Caller {
  /** The API key. */
  id: bigint
  /** The program or person that the key belongs to. */
  actorId: bigint
  /** The present name of the actor. */
  name: string
  scopes: readonly Scope[]
  /** Max requests per second; undefined if the default limit of the service applies. */
  rateLimit: number | undefined
}

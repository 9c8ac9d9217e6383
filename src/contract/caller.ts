// The caller of a request, as stored with its API key.
import type { Scope } from './scopes.ts'

export interface Caller {
  id: bigint
  name: string
  /** Stands for the owner of the key. All keys of a person have the same owner, and so have a key and its successors. */
  ownerId: bigint
  scopes: readonly Scope[]
  /** Max requests per second; undefined if the default limit of the service applies. */
  rateLimit: number | undefined
}

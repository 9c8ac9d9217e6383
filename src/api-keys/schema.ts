// What an API key is and what it may do.

export const SCOPES = ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Enough for everything in the interface document: a client of it never meets 403. */
export const DEFAULT_SCOPES: readonly Scope[] = ['pets:read', 'pets:write']

/** What a request may do, as learned from its key. */
export interface Caller {
  id: bigint
  name: string
  scopes: readonly Scope[]
  /** Requests per second; undefined where the service's own limit holds. */
  rateLimit: number | undefined
}

/** A key as an operator sees it; the key itself is shown once, when it is made. */
export interface ApiKey {
  id: bigint
  name: string
  scopes: readonly Scope[]
  rateLimit: number | undefined
  createdAt: Date
  lastUsedAt: Date | undefined
  expiresAt: Date | undefined
  revokedAt: Date | undefined
}

export interface NewApiKey {
  name: string
  scopes: readonly Scope[]
  rateLimit: number | undefined
  expiresInSeconds: number | undefined
}

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text)
}

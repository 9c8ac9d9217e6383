// What a key may do, by name.

export const SCOPES = ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Enough for everything in the interface document: a client of it never meets 403. */
export const DEFAULT_SCOPES: readonly Scope[] = ['pets:read', 'pets:write']

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text)
}

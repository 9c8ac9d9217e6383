// The scopes of API keys. An operation requires one or several of them, or accepts any key.

export const SCOPES = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'till:write',
  'events:read',
  'webhooks:read',
  'webhooks:write',
  'admin',
] as const
export type Scope = (typeof SCOPES)[number]

/** What an operation declares: a scope, several scopes that a key must all have, or `any` if every key can call it. */
export type DeclaredScope = Scope | readonly Scope[] | 'any'

/** The scopes that a key must have. */
export function requiredScopes(declared: DeclaredScope): readonly Scope[] {
  if (declared === 'any') return []
  return typeof declared === 'string' ? [declared] : declared
}

/** The scopes of a new key if none are given. They allow reading and changing pets and categories. */
export const DEFAULT_SCOPES: readonly Scope[] = ['pets:read', 'pets:write']

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text)
}

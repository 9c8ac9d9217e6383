// The scopes of API keys. An operation requires one of them, or accepts any key.

export const SCOPES = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'events:read',
  'webhooks:read',
  'webhooks:write',
  'admin',
] as const
export type Scope = (typeof SCOPES)[number]

/** The scopes of a new key if none are given. They allow reading and changing pets and categories. */
export const DEFAULT_SCOPES: readonly Scope[] = ['pets:read', 'pets:write']

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text)
}

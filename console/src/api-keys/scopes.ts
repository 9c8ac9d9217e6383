// What the scopes of a key allow, in words, and common combinations.
import type { NewApiKey } from '@petstore/client'

export type Scope = NonNullable<NewApiKey['scopes']>[number]

export interface ScopeText {
  scope: Scope
  /** For a badge. */
  label: string
  /** What a key with the scope can do. */
  allows: string
}

export interface Preset {
  name: string
  scopes: Scope[]
}

/** Sorted as the form shows them: what most keys need first. */
export const SCOPE_TEXTS: ScopeText[] = [
  {
    scope: 'pets:read',
    label: 'See pets',
    allows: 'See pets, their history, the categories and the overview.',
  },
  { scope: 'pets:write', label: 'Change pets', allows: 'Add, change and delete pets. Name categories.' },
  { scope: 'orders:read', label: 'See holds', allows: 'See holds and sales, with their notes.' },
  {
    scope: 'orders:write',
    label: 'Hold and sell',
    allows: 'Hold a pet, sell it, or release it. Settle deposits, and undo own sales.',
  },
  {
    scope: 'till:write',
    label: 'Manage the till',
    allows: 'Correct prices, take pets back, undo entries of others, record cash, and close days.',
  },
  {
    scope: 'events:read',
    label: 'Follow changes',
    allows: 'Receive each change at once. Pages then update without a reload.',
  },
  {
    scope: 'webhooks:read',
    label: 'See webhooks',
    allows: 'See webhooks and, together with “See pets”, what was delivered to them.',
  },
  {
    scope: 'webhooks:write',
    label: 'Manage webhooks',
    allows:
      'Delete webhooks and, together with “See pets”, create and change them. They send each change to other programs.',
  },
  {
    scope: 'admin',
    label: 'Manage keys',
    allows: 'Create and revoke API keys. A key with this permission can give itself all others.',
  },
]

/** Those for people first. `Shop staff`, `Cashier` and `Read only` are the roles of people who sign in with an account. */
export const PRESETS: Preset[] = [
  {
    name: 'Shop staff',
    scopes: ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'till:write', 'events:read'],
  },
  { name: 'Cashier', scopes: ['pets:read', 'orders:read', 'orders:write', 'events:read'] },
  { name: 'Read only', scopes: ['pets:read', 'orders:read', 'events:read'] },
  { name: 'Web shop', scopes: ['pets:read', 'orders:write'] },
  { name: 'Administrator', scopes: SCOPE_TEXTS.map(({ scope }) => scope) },
]

/** The service can add scopes that this page does not know. They are shown as they are. */
export function scopeLabel(scope: string): string {
  return SCOPE_TEXTS.find((known) => known.scope === scope)?.label ?? scope
}

/** The preset with exactly these scopes. */
export function presetOf(scopes: readonly string[]): Preset | undefined {
  return PRESETS.find((preset) => isSameSet(preset.scopes, scopes))
}

/** Sorts scopes as SCOPE_TEXTS, with unknown ones last. */
export function sortedScopes(scopes: readonly string[]): string[] {
  const rank = (scope: string) => {
    const index = SCOPE_TEXTS.findIndex((known) => known.scope === scope)
    return index === -1 ? SCOPE_TEXTS.length : index
  }
  return scopes.toSorted((one, other) => rank(one) - rank(other))
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).size === new Set(other).size && one.every((item) => other.includes(item))
}

// The roles of people who sign in with an identity provider. A role is a set of scopes.
// src/access/sign-in/ reads the claims of the identity provider.
import { SCOPES, type Scope } from './scopes.ts'

const VIEWER: readonly Scope[] = ['pets:read', 'orders:read', 'events:read']

/** The scopes of each role, from the lowest role to the highest. */
export const ROLE_SCOPES = {
  viewer: VIEWER,
  cashier: [...VIEWER, 'orders:write'],
  staff: [...VIEWER, 'orders:write', 'pets:write', 'till:write'],
  admin: SCOPES,
} as const satisfies Record<string, readonly Scope[]>

export type Role = keyof typeof ROLE_SCOPES

/** Gives a role to people whose claim contains the value. The value `*` stands for every person. */
export interface RoleRule {
  role: Role
  value: string
}
export type RoleRules = readonly RoleRule[]

const HIGHEST_FIRST = (Object.keys(ROLE_SCOPES) as Role[]).toReversed()

function isRole(text: string): text is Role {
  return Object.hasOwn(ROLE_SCOPES, text)
}

/** Parses `admin=petstore-admins,staff=shop,viewer=*`. Returns undefined if the text has another form. */
export function parseRoleRules(text: string): RoleRules | undefined {
  const rules: RoleRule[] = []
  for (const pair of text.split(',').map((part) => part.trim())) {
    const [, role = '', value = ''] = /^(\w+) *= *(.+)$/.exec(pair) ?? []
    if (isRole(role)) rules.push({ role, value })
    else if (text !== '') return undefined
  }
  return rules
}

/** Returns the role with exactly these scopes; undefined if no role has them, for example because the scopes of the roles have changed since. */
export function roleWithScopes(scopes: readonly Scope[]): Role | undefined {
  const given = new Set(scopes)
  return HIGHEST_FIRST.find((role) => given.symmetricDifference(new Set(ROLE_SCOPES[role])).size === 0)
}

/** Returns the highest role that one of the values gives; undefined if none gives a role. */
export function roleOf(values: readonly string[], rules: RoleRules): Role | undefined {
  const matching = rules.filter(({ value }) => value === '*' || values.includes(value))
  return HIGHEST_FIRST.find((role) => matching.some((rule) => rule.role === role))
}

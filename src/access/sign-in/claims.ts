// Reads the claims that the identity provider makes about a person: the subject, the name, and the values that give a role.
import { type Role, roleOf, type RoleRules } from '../../contract/roles.ts'
import { isSubject, personName, SignInError } from './rules.ts'

export type Claims = Record<string, unknown>

export interface Person {
  subject: string
  name: string
  role: Role
}

export function readPerson(claims: Claims, rolesClaim: string, rules: RoleRules): Person {
  const { sub, name, preferred_username: username, email } = claims
  if (typeof sub !== 'string' || !isSubject(sub)) throw new SignInError('provider_error')
  const role = roleOf(readValues(claims, rolesClaim), rules)
  if (role === undefined) throw new SignInError('no_role')
  return { subject: sub, name: personName([name, username, email]), role }
}

/** Returns the texts of a claim. `realm_access.roles` is a claim of that name or, if there is none, a nested claim. */
function readValues(claims: Claims, path: string): string[] {
  // At some providers, people can enter any email address. It says nothing until the provider has verified it.
  if (path === 'email' && claims['email_verified'] !== true) return []
  const value = Object.hasOwn(claims, path) ? claims[path] : path.split('.').reduce(readProperty, claims)
  return [value].flat().filter((text) => typeof text === 'string')
}

function readProperty(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isObject ? (value as Claims)[name] : undefined
}

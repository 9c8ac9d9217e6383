// Which role and which name a person gets from the claims of the identity provider.
import { describe, expect, test } from 'vitest'
import { readPerson } from '../../src/access/sign-in/claims.ts'
import { personName, SignInError } from '../../src/access/sign-in/rules.ts'
import { parseRoleRules, ROLE_SCOPES } from '../../src/contract/roles.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { openSignInFixture, signIn } from '../support/sign-in.ts'

const rules = parseRoleRules('admin=petstore-admins, staff = shop ,staff=till') ?? []
const roleWith = (claims: object, claim = 'groups', roleRules = rules) => {
  try {
    return readPerson({ sub: 's', ...claims }, claim, roleRules).role
  } catch (error) {
    return (error as SignInError).code
  }
}

describe('the role', () => {
  test.each<[object, string | undefined, string]>([
    [{ groups: ['shop'] }, undefined, 'staff'],
    [{ groups: ['till'] }, undefined, 'staff'],
    [{ groups: ['other', 'shop', 'petstore-admins'] }, undefined, 'admin'],
    [{ groups: 'petstore-admins' }, undefined, 'admin'],
    [{ groups: ['Petstore-Admins', 'petstore-admins2', ' shop'] }, undefined, 'no_role'],
    [{ groups: [] }, undefined, 'no_role'],
    [{}, undefined, 'no_role'],
    [{ groups: { shop: true } }, undefined, 'no_role'],
    [{ groups: [['shop'], 5, null] }, undefined, 'no_role'],
    [{ groups: '*' }, undefined, 'no_role'],
    [{ realm_access: { roles: ['shop'] } }, 'realm_access.roles', 'staff'],
    [{ 'https://shop.example/roles': ['shop'] }, 'https://shop.example/roles', 'staff'],
    [{ groups: ['shop'] }, 'constructor.name', 'no_role'],
    [{ email: 'shop', email_verified: true }, 'email', 'staff'],
    [{ email: 'shop', email_verified: false }, 'email', 'no_role'],
    [{ email: 'shop' }, 'email', 'no_role'],
    [{ email: 'shop', email_verified: 'true' }, 'email', 'no_role'],
  ])('%j with the claim %s gives %s', (claims, claim, role) => {
    expect(roleWith(claims, claim)).toBe(role)
  })

  test('`*` gives a role to every person, and a higher role takes precedence', () => {
    const all = parseRoleRules('viewer=*,admin=petstore-admins') ?? []
    expect(roleWith({}, 'groups', all)).toBe('viewer')
    expect(roleWith({ groups: ['petstore-admins'] }, 'groups', all)).toBe('admin')
  })

  test('each role has the scopes of the lower roles', () => {
    expect(ROLE_SCOPES).toEqual({
      viewer: ['pets:read', 'orders:read', 'events:read'],
      cashier: ['pets:read', 'orders:read', 'events:read', 'orders:write'],
      staff: ['pets:read', 'orders:read', 'events:read', 'orders:write', 'pets:write', 'till:write'],
      admin: [...SCOPES],
    })
  })
})

test.each([undefined, 5, '', 'x'.repeat(256), 'é', 'a\nb'])('a subject %j is rejected', (sub) => {
  expect(roleWith({ sub, groups: ['shop'] })).toBe('provider_error')
})

describe('the name', () => {
  test.each<[unknown[], string]>([
    [['Sam Staff'], 'Sam Staff'],
    [['  Sam \t\n Staff  '], 'Sam Staff'],
    [[undefined, 'sam'], 'sam'],
    [['', ' ', 'sam@shop.example'], 'sam@shop.example'],
    [['petstore', 'sam'], 'sam'],
    [['P e t\u200bs\u00adtore', 'sam'], 'sam'],
    [['Sam\u202e\u0000\u200b\ud800'], 'Sam'],
    [['Zoe\u0308'], 'Zoë'],
    [[5, null, {}], 'unnamed person'],
    [['x'.repeat(200)], 'x'.repeat(100)],
    [['🐶'.repeat(200)], '🐶'.repeat(100)],
  ])('of %j is %s', (candidates, name) => {
    expect(personName(candidates)).toBe(name)
  })
})

test('a key can be stored for a person with unusual claims', async () => {
  const name = `\u202e${'🐶'.repeat(150)}\u0000`
  const fixture = await openSignInFixture({
    people: [{ subject: 'x'.repeat(255), claims: { name, groups: ['shop'] } }],
  })
  expect((await signIn(fixture, 'x'.repeat(255))).name).toBe('🐶'.repeat(100))
})

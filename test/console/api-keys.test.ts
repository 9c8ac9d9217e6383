// Which keys the console shows as valid, what it says about scopes, and how long keys last.
import type { ApiKey } from '@petstore/client'
import { expect, test } from 'vitest'
import { daysLeft, hasEnded, isInUse, keyState } from '../../console/src/api-keys/key-state.ts'
import {
  LIFETIME_DEFAULT,
  LIFETIMES,
  OVERLAP_DEFAULT,
  OVERLAPS,
  oldKeyEndsAt,
  secondsOf,
} from '../../console/src/api-keys/lifetimes.ts'
import { roleText } from '../../console/src/api-keys/roles.ts'
import {
  PRESETS,
  presetOf,
  SCOPE_TEXTS,
  scopeLabel,
  sortedScopes,
} from '../../console/src/api-keys/scopes.ts'
import { LIFETIME_SECONDS_MAX, OVERLAP_SECONDS_DEFAULT } from '../../src/access/api-keys/rules.ts'
import { ROLE_SCOPES } from '../../src/contract/roles.ts'
import { SCOPES } from '../../src/contract/scopes.ts'

const NOW = Date.parse('2026-11-16T12:00:00Z')
const DAY_MS = 86_400_000
const inDays = (days: number) => new Date(NOW + days * DAY_MS).toISOString()

const apiKey = (choices: Partial<ApiKey> = {}): ApiKey => ({
  id: '1',
  actorId: '1',
  kind: 'program',
  name: 'web-shop',
  scopes: ['pets:read', 'orders:write'],
  createdAt: inDays(-30),
  ...choices,
})

test.each([
  { key: {}, state: 'valid' },
  { key: { expiresAt: inDays(14) }, state: 'valid' },
  { key: { expiresAt: inDays(13.9) }, state: 'expires-soon' },
  { key: { expiresAt: inDays(0) }, state: 'expired' },
  { key: { expiresAt: inDays(-1) }, state: 'expired' },
  { key: { expiresAt: inDays(90), revokedAt: inDays(-1) }, state: 'revoked' },
  { key: { expiresAt: inDays(-1), revokedAt: inDays(-2) }, state: 'revoked' },
])('a key with $key is $state', ({ key, state }) => {
  expect(keyState(apiKey(key), NOW)).toBe(state)
  expect(hasEnded(apiKey(key), NOW)).toBe(state === 'expired' || state === 'revoked')
})

test('every role of the service has a text, and an unknown role is shown as it is', () => {
  for (const role of Object.keys(ROLE_SCOPES)) expect(roleText(role)).toMatch(/^[A-Z]/)
  expect(roleText('owner')).toBe('owner')
  expect(roleText(undefined)).toBe('Other permissions')
})

test('a key that was used within a week is in use, and a key that was never used is not', () => {
  expect(isInUse(apiKey({ lastUsedAt: inDays(-6.9) }), NOW)).toBe(true)
  expect(isInUse(apiKey({ lastUsedAt: inDays(-7) }), NOW)).toBe(false)
  expect(isInUse(apiKey(), NOW)).toBe(false)
})

test('the days until a removal are whole days, and never negative', () => {
  expect(daysLeft({ removedAt: inDays(2.5) }, NOW)).toBe(2)
  expect(daysLeft({ removedAt: inDays(-1) }, NOW)).toBe(0)
  expect(daysLeft({}, NOW)).toBeUndefined()
})

test('every scope of the service is explained, and the presets contain no other', () => {
  expect(SCOPE_TEXTS.map(({ scope }) => scope).sort()).toEqual(SCOPES.toSorted())
  for (const { scopes } of PRESETS) expect(SCOPES).toEqual(expect.arrayContaining(scopes))
})

test('the presets begin with those for the people of the shop, and have the scopes of their roles', () => {
  const scopesOf = (name: string) => PRESETS.find((preset) => preset.name === name)?.scopes.toSorted()
  expect(PRESETS.slice(0, 2).map(({ name }) => name)).toEqual(['Shop staff', 'Cashier'])
  expect(scopesOf('Shop staff')).toEqual(ROLE_SCOPES.staff.toSorted())
  expect(scopesOf('Cashier')).toEqual(ROLE_SCOPES.cashier.toSorted())
  expect(scopesOf('Read only')).toEqual(ROLE_SCOPES.viewer.toSorted())
})

test('only the preset for administrators contains the scope admin', () => {
  expect(PRESETS.filter(({ scopes }) => scopes.includes('admin')).map(({ name }) => name)).toEqual([
    'Administrator',
  ])
})

test('scopes select their preset in any order, and other scopes select none', () => {
  for (const preset of PRESETS) expect(presetOf(preset.scopes.toReversed())).toBe(preset)
  expect(presetOf(['admin'])).toBeUndefined()
  expect(presetOf([])).toBeUndefined()
})

test('a scope that the console does not know is shown as it is, after the others', () => {
  expect(scopeLabel('people:write')).toBe('people:write')
  expect(sortedScopes(['people:write', 'admin', 'pets:read'])).toEqual(['pets:read', 'admin', 'people:write'])
})

test('the service accepts every lifetime and overlap of the forms', () => {
  expect(secondsOf(LIFETIMES, LIFETIME_DEFAULT)).toBe(90 * 86_400)
  expect(secondsOf(LIFETIMES, 'never')).toBeUndefined()
  expect(secondsOf(OVERLAPS, OVERLAP_DEFAULT)).toBe(OVERLAP_SECONDS_DEFAULT)
  for (const { seconds } of LIFETIMES) {
    if (seconds === undefined) continue
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(LIFETIME_SECONDS_MAX)
  }
})

test('the old key of a rotation does not outlive its own expiry', () => {
  expect(oldKeyEndsAt(apiKey(), 3_600, NOW)).toBe(NOW + 3_600_000)
  expect(oldKeyEndsAt(apiKey({ expiresAt: inDays(90) }), 3_600, NOW)).toBe(NOW + 3_600_000)
  expect(oldKeyEndsAt(apiKey({ expiresAt: inDays(0.01) }), 3_600, NOW)).toBe(NOW + 864_000)
})

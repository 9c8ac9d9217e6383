// Authorization headers that are not valid, and keys without the required scope.
import * as fc from 'fast-check'
import type { Operation } from './document.ts'
import type { Broken } from './negative.ts'
import type { ServiceFixture } from './fixture.ts'

export function badCredentials(
  { scope }: Operation,
  { key, keyWithout, invalidKeys }: ServiceFixture,
): fc.Arbitrary<Broken> {
  const bad = (kind: string, code: string, ...authorization: string[]): Broken => ({
    kind: `credentials: ${kind}`,
    rejection: { code },
    change: { authorization },
  })
  const invalid = (kind: string, ...authorization: string[]) => bad(kind, 'invalid_api_key', ...authorization)
  const fixed = [
    bad('none', 'missing_api_key'),
    bad('an empty header', 'missing_api_key', ''),
    {
      ...bad('only in the query', 'missing_api_key'),
      change: {
        authorization: [],
        query: [
          ['access_token', key],
          ['api_key', key],
        ],
      },
    } satisfies Broken,
    ...Object.entries(invalidKeys).map(([kind, dead]) => invalid(`a key that is ${kind}`, `Bearer ${dead}`)),
    ...[
      'Bearer',
      key,
      `Basic ${key}`,
      `Token ${key}`,
      `Bearer: ${key}`,
      `Bearer "${key}"`,
      `Bearer ${key},`,
      `Bearer ${key} ${key}`,
      `Bearer\t${key}`,
      `Bearer ${key}\0`.replace('\0', '%00'),
      `Bearer ${key.toUpperCase()}`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key}x`,
    ].map((value) => invalid('malformed', value)),
    invalid('two keys', `Bearer ${key}`, `Bearer ${key}`),
    invalid('a second, empty one', `Bearer ${key}`, ''),
  ]
  const flipped = fc
    .tuple(fc.nat(key.length - 1), fc.constantFrom(...'aZ9_-'.split('')))
    .map(([at, character]) => key.slice(0, at) + character + key.slice(at + 1))
    .filter((value) => value !== key)
    .map((value) => invalid('one character of the key differs', `Bearer ${value}`))
  const junk = fc
    .string({
      unit: fc
        .integer({ min: 0x21, max: 0xff })
        .filter((code) => code !== 0x7f)
        .map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 80,
    })
    .map((value) => invalid('junk', `Bearer ${value}`))
  const all = [fc.constantFrom<Broken>(...fixed), flipped, junk]
  for (const required of scope === 'any' ? [] : scope.split(' ')) {
    const lacking = bad('a key without the scope', 'insufficient_scope', `Bearer ${keyWithout(required)}`)
    all.push(fc.constant(lacking))
  }
  return fc.oneof(...all)
}

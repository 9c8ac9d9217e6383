// Text of every kind that a user or an attacker could send.
import * as fc from 'fast-check'

const from = (low: number, high: number) =>
  fc.integer({ min: low, max: high }).map((codePoint) => String.fromCodePoint(codePoint))

/** One code point that the service must store unchanged. */
const codePoint = fc.oneof(
  { weight: 8, arbitrary: from(0x20, 0x7e) },
  { weight: 2, arbitrary: from(0xa0, 0x17f) },
  { weight: 2, arbitrary: from(0x300, 0x36f) }, // combining
  { weight: 2, arbitrary: from(0x590, 0x6ff) }, // right to left
  { weight: 1, arbitrary: from(0x200b, 0x202e) }, // invisible, and characters that change the text direction
  { weight: 1, arbitrary: from(0x1, 0x1f) },
  { weight: 1, arbitrary: from(0x4e00, 0x9fff) },
  { weight: 2, arbitrary: from(0x1f300, 0x1f9ff) },
  { weight: 1, arbitrary: from(0xe000, 0xffff) }, // private, BOM, replacement, noncharacters
  { weight: 1, arbitrary: from(0x10000, 0x10ffff) },
)

/** Percent-encoded, as in a URL. */
export function encode(value: string, everything = false): string {
  if (!everything) return encodeURIComponent(value)
  return [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

const HOSTILE = [
  "Robert'); drop table pets;--",
  '__proto__',
  'constructor',
  'null',
  'undefined',
  'NaN',
  '0',
  '-1',
  '%00',
  '%zz',
  '\\u0000',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '${7*7}{{7*7}}',
  '\r\nSet-Cookie: a=b',
  '$1',
  'İstanbul ẞς',
  'Z\u0336\u0349\u0301',
  '\u202eabc\u202c',
  '👩‍👩‍👧‍👦',
  '\ufeff\uffff\u{10ffff}',
  '"\\/\b\f\n\r\t',
]

/** Storable text of `min` to `max` code points, mostly short and sometimes of the maximum length. */
export function text(min: number, max: number): fc.Arbitrary<string> {
  const short = Math.min(max, min + 20)
  return fc.oneof(
    { weight: 12, arbitrary: fc.string({ unit: codePoint, minLength: min, maxLength: short }) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(...HOSTILE.filter((one) => lengthOf(one) >= min && lengthOf(one) <= max)),
    },
    {
      weight: 1,
      arbitrary: fc.string({ unit: codePoint, minLength: Math.max(min, max - 3), maxLength: max }),
    },
  )
}

/** Text that cannot be stored: it contains NUL or a lone surrogate. */
export function unstorable(max: number): fc.Arbitrary<string> {
  const half = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit))
  const part = fc.string({ unit: from(0x20, 0x7e), maxLength: Math.min(10, Math.floor((max - 1) / 2)) })
  return fc
    .tuple(part, fc.oneof(fc.constant('\0'), half), part)
    .map(([before, bad, after]) => before + bad + after)
}

export function lengthOf(value: string): number {
  return Array.from(value).length
}

/** The JSON of a string, with some characters escaped. It parses to the same string. */
export function escapeSome(value: string, every: number): string {
  if (every === 0) return JSON.stringify(value)
  const characters = Array.from(value).map((one, index) =>
    index % every === 0 ? escapeAll(one) : JSON.stringify(one).slice(1, -1),
  )
  return `"${characters.join('')}"`
}

function escapeAll(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

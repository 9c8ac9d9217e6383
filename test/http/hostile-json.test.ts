// Bodies made to keep the process busy: parsing with exact integers takes time linear in the length of the text.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { findJsonFault } from '../../src/http/json-fault.ts'
import { parseJson } from '../../src/values/json.ts'

const LENGTH = 1_000_000
const ID = '1234567890123456789'
const ROUNDS = 3
/** Limit of the CPU time relative to JSON.parse of an object of LENGTH bytes. A reviver or a long BigInt needed 20. */
const RATIO_MAX = 5

/** Measures the CPU time of this thread, because elapsed time depends on other work on the host. */
function cpuTime(work: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.threadCpuUsage().user
    work()
    return process.threadCpuUsage().user - before
  })
  return Math.min(...times)
}

const manyKeys = JSON.stringify(
  Object.fromEntries(Array.from({ length: LENGTH / 11 }, (_, n) => [`k${n}`, 1])),
)

test.each([
  { what: 'a number with millions of digits', text: `{"categoryId":${'9'.repeat(4 * LENGTH)}}` },
  { what: 'a long number after half a million values', text: `[${'1,'.repeat(LENGTH / 2)}${ID}]` },
  { what: 'a list of long numbers', text: `[${`${ID},`.repeat(LENGTH / 20)}1]` },
  { what: 'an unterminated string', text: `[${ID},"${'\\"'.repeat(LENGTH / 2)}` },
])('parses or rejects $what in linear time', ({ text }) => {
  const ratio = cpuTime(() => outcomeOf(parseJson, text)) / cpuTime(() => JSON.parse(manyKeys))
  expect(ratio).toBeLessThan(RATIO_MAX)
})

test('parses nesting deeper than the stack together with a long number', () => {
  const depth = LENGTH / 2
  expect(parseJson(`[${'['.repeat(depth)}${']'.repeat(depth)},${ID}]`)).toHaveProperty('1', BigInt(ID))
})

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Reference implementation: the same rules in a reviver, which gets the source text of each value. */
function parseByReviver(text: string): unknown {
  return parseWithSource(text, (_key, value, { source = '' }) => {
    if (typeof value !== 'number') return value
    const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
    const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
    const beyondPoint = (whole + fraction).slice(Math.max(0, whole.length + Number(exponent)))
    if (Number.isSafeInteger(value)) return /^0*$/.test(beyondPoint) ? value : Number.NaN
    if (/^-?\d+$/.test(source)) return source.replace('-', '').length > 19 ? Number.NaN : BigInt(source)
    return value
  })
}

const digits = fc.string({ unit: fc.constantFrom('0', '1', '9'), minLength: 1, maxLength: 22 })
const numberText = fc
  .tuple(
    fc.constantFrom('', '-', '--'),
    fc.oneof(digits, fc.bigInt().map(String)),
    fc.option(digits),
    fc.option(
      fc.tuple(fc.constantFrom('e', 'E-', 'e+'), fc.oneof(digits, fc.constantFrom('400', '320', '15'))),
    ),
  )
  .map(
    ([sign, whole, fraction, exponent]) =>
      `${sign}${whole.replace('-', '')}${fraction === null ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`,
  )
const jsonText = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    numberText,
    fc.oneof(fc.string(), numberText).map((text) => JSON.stringify(text)),
    fc.constantFrom('null', '', '"', '\\"', '\u0000'),
    fc.array(tie('value'), { maxLength: 4 }).map((values) => `[${values.join(',')}]`),
    fc
      .array(fc.tuple(fc.constantFrom('a', '7', '__proto__'), tie('value')), { maxLength: 4 })
      .map((entries) => `{${entries.map(([key, value]) => `"${key}":${value}`).join(',')}}`),
  ),
})).value

function outcomeOf(parse: (text: string) => unknown, text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    return (error as Error).name
  }
}

test('gives the same result as the reference implementation for every text', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      expect(outcomeOf(parseJson, text)).toStrictEqual(outcomeOf(parseByReviver, text))
    }),
    { numRuns: 5_000 },
  )
})

test.each([
  { what: 'a list of numbers', text: `[${'1,'.repeat(LENGTH / 2)}` },
  { what: 'nested arrays', text: '['.repeat(LENGTH) },
  { what: 'nested objects', text: '{"a":'.repeat(LENGTH / 5) },
  { what: 'an unterminated string', text: `"${'\\"'.repeat(LENGTH / 2)}` },
  { what: 'an unterminated string of letters', text: `"${'a'.repeat(LENGTH)}` },
  { what: 'an invalid escape at the end of a string', text: `"${'\\n'.repeat(LENGTH / 2)}\\x"` },
  { what: 'empty lines', text: '\n'.repeat(LENGTH) },
  { what: 'digits', text: `${'1'.repeat(LENGTH)}x` },
  { what: 'characters of four bytes', text: `"${'🐕'.repeat(LENGTH / 4)}` },
  {
    what: 'an invalid byte after characters of two bytes',
    text: Buffer.from(`"${'é'.repeat(LENGTH / 2)}`),
    end: 0xff,
  },
])('finds the first mistake in linear time: $what', ({ text, end }) => {
  const body = Buffer.concat([Buffer.from(text), Buffer.from(end === undefined ? [] : [end])])
  const ratio = cpuTime(() => findJsonFault(body)) / cpuTime(() => JSON.parse(manyKeys))
  expect(ratio).toBeLessThan(RATIO_MAX)
})

/** The text before the mistake, by its line and column. */
function textBefore(text: string, { line, column }: { line: number; column: number }): string {
  const lines = text.split('\n')
  return [
    ...lines.slice(0, line - 1),
    Array.from(lines[line - 1] ?? '')
      .slice(0, column - 1)
      .join(''),
  ].join('\n')
}

test.each([
  ['{"a": 1 "b": 2}', '{"a": 1 '],
  ['{"a": 1,}', '{"a": 1,'],
  ['{"a" 1}', '{"a" '],
  ["{'a': 1}", '{'],
  ['{"a": }', '{"a": '],
  ['{"a": 05}', '{"a": 0'],
  ['{"a": 5.}', '{"a": 5'],
  ['{"a": -}', '{"a": '],
  ['{"a": nul}', '{"a": '],
  ['[1,]', '[1,'],
  ['[1}', '[1'],
  ['[,1]', '['],
  ['{}}', '{}'],
  ['{} []', '{} '],
  ['1 2', '1 '],
  ['"a\tb"', '"a'],
  ['"a\\x"', '"a'],
  ['"a\\u12g4"', '"a'],
  ['"a', '"a'],
  ['[1, 2', '[1, 2'],
  ['\ufeff{}', ''],
  ['{"ä🐕": x}', '{"ä🐕": '],
  ['[\n1,\n\n x]', '[\n1,\n\n '],
  [' ', ' '],
])('the first mistake of %j is after %j', (text, expected) => {
  expect(textBefore(text, findJsonFault(Buffer.from(text)))).toBe(expected)
})

test('finds a mistake at the place where it was inserted, in a text without any other', () => {
  const value = fc.jsonValue({ maxDepth: 4 }).map((one) => JSON.stringify(one, null, 2))
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), fc.nat(), (values, at) => {
      const index = at % values.length
      const head = `[${values
        .slice(0, index)
        .map((one) => `${one}, `)
        .join('')}`
      const text = `${head}§${values.slice(index).join(', ')}]`
      expect(textBefore(text, findJsonFault(Buffer.from(text)))).toBe(head)
    }),
  )
})

test('finds the first bytes that are not UTF-8, wherever they are in a string', () => {
  const bytes = fc.constantFrom(
    [0xff],
    [0x80],
    [0xf0, 0x9f, 0x90],
    [0xc0, 0xaf],
    [0xed, 0xa0, 0xbd],
    [0xef, 0xbf],
  )
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), bytes, fc.string(), (start, invalid, rest) => {
      const head = JSON.stringify(start.replaceAll('\n', ' ')).slice(0, -1)
      const body = Buffer.concat([Buffer.from(head), Buffer.from(invalid), Buffer.from(`"${rest}`)])
      expect(textBefore(`${head}x`, findJsonFault(body))).toBe(head)
    }),
  )
})

test('finds the end of a text that was cut inside a string, an array or an object', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.nat(), (texts, at) => {
      const whole = JSON.stringify(texts)
      const cut = Array.from(whole)
        .slice(0, at % whole.length)
        .join('')
      fc.pre(!cut.endsWith('\\') && !/\\u\w{0,3}$/.test(cut) && outcomeOf(JSON.parse, cut) === 'SyntaxError')
      expect(textBefore(cut, findJsonFault(Buffer.from(cut)))).toBe(cut)
    }),
  )
})

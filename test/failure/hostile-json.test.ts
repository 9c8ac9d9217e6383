// Bodies made to keep the process busy: parsing with exact integers takes time linear in the length of the text.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from '../../src/json.ts'

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

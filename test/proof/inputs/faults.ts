// Values that a schema does not allow, by kind: values just beyond its boundaries, and random values.
import * as fc from 'fast-check'
import { alternativesOf, resolve, type Schema } from './document.ts'
import { lengthOf, text, unstorable } from './texts.ts'
import { edgesOf, INT64_MAX, isWithin, maxLengthOf, rangeOf, valueOf } from './values.ts'

export interface Fault<Value> {
  kind: string
  value: fc.Arbitrary<Value>
}

export interface Edge<Value> {
  kind: string
  value: Value
}

const JSON_TYPES: Record<string, string> = {
  '"': 'string',
  '{': 'object',
  '[': 'array',
  t: 'boolean',
  f: 'boolean',
  n: 'null',
}

function jsonType(json: string): string {
  return JSON_TYPES[json[0] as string] ?? 'number'
}

/** Any JSON of any type, including numbers beyond the range of JavaScript. */
export const anyJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: text(0, 40).map((value) => JSON.stringify(value)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'null',
      'true',
      '[]',
      '{}',
      '""',
      '0',
      '-0',
      '1.5',
      '1e400',
      '-1e400',
      '1e-400',
      '"1"',
      '[1]',
      '{"__proto__":1}',
    ),
  },
  { weight: 1, arbitrary: fc.nat(60).map((depth) => '['.repeat(depth + 1) + ']'.repeat(depth + 1)) },
)

const WRONG_TYPES = ['null', 'true', 'false', '0', '1.5', '""', '"1"', '[]', '[1]', '{}', '{"value":1}']

/** Texts that are no absolute web URL. src/events/webhooks/url.ts rejects some URLs too, after the other fields were checked. */
const NO_URLS = [
  '',
  ' ',
  'shop.example',
  '//shop.example',
  'https:',
  'https://',
  'https:shop.example',
  'ftp://shop.example',
  ' https://shop.example',
  'https://shop.example/a b',
  'https:\\\\shop.example',
  'https://shop.example:99999/',
  'https://[::1',
  'https://shop.example/\0',
  'https://shop.example/\ud83d',
  `https://shop.example/${'x'.repeat(2_048)}`,
]

/** Not of the form of any currency. src/contract/price.ts rejects other decimal places after the other fields were checked. */
const NO_AMOUNTS = [
  '',
  ' ',
  '-1.00',
  '+1.00',
  '1,00',
  '01.00',
  '.50',
  '1.',
  '1e2',
  '0x1',
  'NaN',
  'Infinity',
  ' 1.00',
  '1.00 ',
  '1.00\n',
  '1.00000',
  '10000000000.00',
  '١.00',
  '1.00\0',
]
const NO_CURRENCIES = ['', 'eur', 'EU', 'EURO', 'ZZZ', '€', ' EUR', 'EUR\n', '978']
const NO_DATES = [
  '',
  ' ',
  '1899-12-31',
  '0001-01-01',
  '2025-02-29',
  '2025-13-01',
  '2025-00-10',
  '2025-01-00',
  '2025-1-1',
  '20250101',
  '31.12.2025',
  '2025-01-01T00:00:00Z',
  '2025-01-01 ',
  '2025-01-01\n',
  '+02025-01-01',
  'infinity',
  'today',
  '٢٠٢٥-01-01',
]
const NO_DATE_TIMES = [
  '',
  ' ',
  'now',
  'infinity',
  '2026-11-15',
  '2026-11-15T10:30:00',
  '2026-11-15 10:30:00Z',
  '2026-02-30T10:30:00Z',
  '2026-11-15T24:00:00Z',
  '2026-11-15T10:30:60Z',
  '2026-11-15T10:30:00.1234567Z',
  '2026-11-15T10:30:00+24:00',
  '2026-11-15T10:30:00Z\n',
  '+02026-11-15T10:30:00Z',
]
/** Texts that do not have the format. */
const NOT_OF_FORMAT: Record<string, readonly string[]> = {
  uri: NO_URLS,
  amount: NO_AMOUNTS,
  currency: NO_CURRENCIES,
  date: NO_DATES,
  'date-time': NO_DATE_TIMES,
}

function wrongTypes(type: string): string[] {
  return WRONG_TYPES.filter((json) => jsonType(json) !== (type === 'integer' ? 'number' : type))
}

function ofOtherType(type: string): Fault<string> {
  const expected = type === 'integer' ? 'number' : type
  return { kind: 'wrong type', value: anyJson.filter((json) => jsonType(json) !== expected) }
}

/** Numbers that are not integers, or out of the range. */
function numbersOutside(schema: Schema): string[] {
  const [min, max] = rangeOf(schema)
  const whole = [
    min - 1n,
    min - 2n,
    -1n - max,
    -INT64_MAX - 1n,
    max + 1n,
    max + 2n,
    max * 10n,
    INT64_MAX + 1n,
    2n ** 64n,
    10n ** 40n,
  ]
  const others = ['1.5', `${min}.5`, '1e-1', '1e19', '1e400', '-1e400', `${max}.1`, '1e-400']
  const nearlyWhole = [
    `${min}.00000000000000000001`,
    '9007199254740991.4',
    '9007199254740993.0',
    '0.9999999999999999999',
  ]
  return [...whole.filter((value) => value < min || value > max).map(String), ...others, ...nearlyWhole]
}

/** Invalid values for a field of a body, just beyond the boundaries of the schema. */
export function faultEdges(schema: Schema): Edge<string>[] {
  return edgesWithNull(schema).filter(({ value }) => !schema.isNullable || value !== 'null')
}

function edgesWithNull(schema: Schema): Edge<string>[] {
  const edge = (kind: string) => (value: string) => ({ kind, value })
  if (schema.enum !== undefined) {
    const near = schema.enum.flatMap((one) => [one.toUpperCase(), ` ${one}`, `${one}\0`, one.slice(0, -1)])
    return [...['', ...near].map((one) => JSON.stringify(one)), ...wrongTypes('string')].map(
      edge('not in the list'),
    )
  }
  if (schema.type === 'integer') {
    return [
      ...wrongTypes('integer').map(edge('wrong type')),
      ...numbersOutside(schema).map(edge('out of range')),
    ]
  }
  if (schema.type === 'array') {
    const items = edgesOf(resolve(schema.items as Schema)).map(({ json }) => json)
    const { minItems = 0, maxItems = 0, uniqueItems } = schema
    const lists: Edge<string>[] = faultEdges(resolve(schema.items as Schema)).map(({ kind, value }) => ({
      kind: `entry ${kind}`,
      value: `[${value}]`,
    }))
    if (minItems > 0) lists.push({ kind: 'too few', value: '[]' })
    lists.push({
      kind: 'too many',
      value: `[${Array.from({ length: maxItems + 1 }, (_, index) => items[index % items.length]).join()}]`,
    })
    if (uniqueItems) lists.push({ kind: 'repeated', value: `[${items[0]},${items[0]}]` })
    return [...wrongTypes('array').map(edge('wrong type')), ...lists]
  }
  if (schema.oneOf !== undefined) return itemFaultEdges(schema)
  if (schema.properties !== undefined) return objectFaultEdges(schema.properties)
  if (schema.type === 'boolean') return wrongTypes('boolean').map(edge('wrong type'))
  const others = NOT_OF_FORMAT[schema.format ?? '']
  if (others !== undefined) {
    return [...others.map((one) => JSON.stringify(one)), ...wrongTypes('string')].map(
      edge(`no ${schema.format}`),
    )
  }
  return [
    ...wrongTypes('string').map(edge('wrong type')),
    ...textFaultEdges(schema).map(({ kind, value }) => ({ kind, value: JSON.stringify(value) })),
  ]
}

/** What is no object, has an unknown field, or one invalid field. */
function objectFaultEdges(properties: Record<string, Schema>): Edge<string>[] {
  const invalid = Object.entries(properties).flatMap(([name, part]) =>
    faultEdges(resolve(part)).map(({ kind, value }) => ({
      kind: `${name} ${kind}`,
      value: `{"${name}":${value}}`,
    })),
  )
  return [
    ...wrongTypes('object').map((value) => ({ kind: 'wrong type', value })),
    { kind: 'an unknown field', value: '{"x":null}' },
    ...invalid,
  ]
}

/** Items that are no object, have an unknown field, none or several of the alternatives, or one that is no object. */
function itemFaultEdges(schema: Schema): Edge<string>[] {
  const names = alternativesOf(schema).map(([name]) => name)
  const several = names.flatMap((one) =>
    names.filter((other) => other !== one).map((other) => `{"${one}":{},"${other}":{}}`),
  )
  const ofWrongType = names.flatMap((name) => wrongTypes('object').map((json) => `{"${name}":${json}}`))
  return [
    ...wrongTypes('object').map((value) => ({ kind: 'wrong type', value })),
    ...['{}', '{"x":{}}', '{"__proto__":{}}'].map((value) => ({ kind: 'no alternative', value })),
    ...several.map((value) => ({ kind: 'several alternatives', value })),
    ...ofWrongType.map((value) => ({ kind: 'an alternative of a wrong type', value })),
    ...names.map((name) => ({ kind: 'an unknown field', value: `{"${name}":{},"x":{}}` })),
  ]
}

/** Texts that the schema does not allow, in JSON and in a URL. */
export function textFaultEdges(schema: Schema): Edge<string>[] {
  const max = maxLengthOf(schema)
  const outside = [
    '',
    'x'.repeat(max + 1),
    'x'.repeat(max + 2),
    '🐕'.repeat(max + 1),
    'é'.repeat(max * 2),
    ' ',
    '\t\n\u00a0\u3000\ufeff',
    'a\nb',
    'a\tb',
    'a\u0085b',
    'a-b',
  ]
  return [
    ...outside.filter((one) => !isWithin(schema, one)).map((value) => ({ kind: 'length or blank', value })),
    ...['\0', 'a\0', '\ud83d', 'a\udc15a', '\udc15\ud83d'].map((value) => ({
      kind: 'unstorable text',
      value,
    })),
  ]
}

/** Random invalid values for a field of a body. */
export function faultsOf(schema: Schema): Fault<string>[] {
  const all = faultsWithNull(schema)
  return schema.isNullable
    ? all.map(({ kind, value }) => ({ kind, value: value.filter((json) => json !== 'null') }))
    : all
}

function faultsWithNull(schema: Schema): Fault<string>[] {
  const edges: Fault<string> = {
    kind: 'edge',
    value: fc.constantFrom(...faultEdges(schema)).map(({ value }) => value),
  }
  if (schema.enum !== undefined) {
    const other = anyJson.filter(
      (json) => jsonType(json) !== 'string' || !schema.enum?.includes(JSON.parse(json) as string),
    )
    return [edges, { kind: 'not in the list', value: other }]
  }
  if (schema.type === 'integer') {
    const [min, max] = rangeOf(schema)
    return [
      edges,
      ofOtherType('integer'),
      { kind: 'above', value: fc.bigInt({ min: max + 1n, max: max * 1000n }).map(String) },
      { kind: 'below', value: fc.bigInt({ min: -INT64_MAX * 10n, max: min - 1n }).map(String) },
      {
        kind: 'fraction',
        value: fc
          .tuple(fc.bigInt({ min: min, max: max }), fc.integer({ min: 1, max: 999 }))
          .map(([whole, part]) => `${whole}.${part}`),
      },
      { kind: 'huge exponent', value: fc.integer({ min: 20, max: 5000 }).map((exponent) => `1e${exponent}`) },
    ]
  }
  if (schema.type === 'array') {
    const item = resolve(schema.items as Schema)
    const withFault = fc
      .tuple(fc.array(valueOf(item), { maxLength: 2 }), fc.oneof(...faultsOf(item).map(({ value }) => value)))
      .map(([good, bad]) => `[${[...good.map(({ json }) => json), bad].join()}]`)
    return [edges, ofOtherType('array'), { kind: 'bad entry', value: withFault }]
  }
  if (schema.oneOf !== undefined || schema.properties !== undefined) return [edges, ofOtherType('object')]
  if (schema.type === 'boolean') return [edges, ofOtherType('boolean')]
  if (['amount', 'currency', 'date', 'date-time'].includes(schema.format ?? ''))
    return [edges, ofOtherType('string')]
  return [
    edges,
    ofOtherType('string'),
    ...textFaults(schema).map(({ kind, value }) => ({
      kind,
      value: value.map((one) => JSON.stringify(one)),
    })),
  ]
}

export function textFaults(schema: Schema): Fault<string>[] {
  const max = maxLengthOf(schema)
  return [
    {
      kind: 'too long',
      value: fc
        .tuple(text(1, 60), fc.integer({ min: max + 1, max: max + 60 }))
        .map(([part, length]) => part.repeat(Math.ceil(length / lengthOf(part)))),
    },
    { kind: 'unstorable text', value: unstorable(max) },
  ]
}

// Values that a schema allows: random ones, and those at its boundaries.
import * as fc from 'fast-check'
import { alternativesOf, makerOf, resolve, type Schema } from './document.ts'
import { escapeSome, lengthOf, text } from './texts.ts'

/** Includes offsets of a quarter of an hour, and names without a region. */
const TIME_ZONES = [
  'UTC',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Pacific/Kiritimati',
  'America/St_Johns',
  'Etc/GMT+5',
]

/** Date-times of RFC 3339. */
const DATE_TIMES = [
  '2026-11-15T10:30:00Z',
  '2026-11-15T10:30:00.25+01:00',
  '2024-02-29T23:59:59.999999-12:45',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999Z',
]

/** Date-times within the limit of minutes from now, as the service returns them. */
const timesWithin = (minutes: number) =>
  [60, minutes / 2, minutes - 1].map((after) => new Date(Date.now() + after * 60_000).toISOString())

/** URLs to which the service delivers webhooks. */
const URLS = [
  'https://shop.example',
  'HTTPS://Shop.Example:8443/hooks?a=1&b=%20',
  'https://xn--hndler-bua.example/',
  'https://händler.example/größe',
  'https://93.184.215.14/',
  'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
  `https://shop.example/${'x'.repeat(2_048 - 21)}`,
]

/** Amounts in EUR, the default currency of the service. Some amounts must be more than 0. */
const AMOUNTS = ['0.01', '0.99', '1.00', '129.00', '9999999999.99']
/** The default. Another one is valid, but rejected. */
const CURRENCIES = ['EUR']
const DATES = ['1900-01-01', '1999-12-31', '2000-02-29', '2024-02-29', '2026-01-01']
/** The values of formats that have no random values. */
const FORMAT_VALUES: Record<string, readonly string[]> = {
  'time-zone': TIME_ZONES,
  'date-time': DATE_TIMES,
  position: ['latest'],
  uri: URLS,
  amount: AMOUNTS,
  currency: CURRENCIES,
  date: DATES,
}
/** The values of settings that cannot change while money is open: those of the template of the tests. */
const STORED_VALUES: Record<string, readonly string[]> = { currency: ['EUR'], 'time-zone': ['Europe/Berlin'] }
const LETTERS_AND_DIGITS = '^[0-9A-Za-z]+$'
/** The control characters that a format does not allow. */
const NOT_ALLOWED: Record<string, RegExp> = {
  'single-line': /\p{Cc}/u,
  'multi-line': /[^\P{Cc}\r\n]/u,
}

export const INT64: Schema = { type: 'integer', format: 'int64', minimum: 1 }
export const INT64_MAX = 9_223_372_036_854_775_807n
/** Up to this value, an integer may also be written with a point or an exponent. */
const EXACT_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/** A value as JSON, and its meaning: integers are bigints. */
export interface Sent {
  json: string
  value: unknown
  /** As it appears in a URL before encoding, if that differs from the values. */
  address?: string[]
}

export function rangeOf({ format, minimum, maximum }: Schema): [min: bigint, max: bigint] {
  if (minimum === undefined || (maximum === undefined && format !== 'int64')) {
    throw new Error('openapi.json has a number without a range')
  }
  return [BigInt(minimum), maximum === undefined ? INT64_MAX : BigInt(maximum)]
}

export function isWithin(schema: Schema, value: string): boolean {
  const { minLength = 0, maxLength = Infinity, pattern, format = '' } = schema
  const length = lengthOf(value)
  return (
    length >= minLength &&
    length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(value)) &&
    NOT_ALLOWED[format]?.test(value) !== true
  )
}

export function maxLengthOf({ maxLength }: Schema): number {
  if (maxLength === undefined) throw new Error('openapi.json has a text without a maximum length')
  return maxLength
}

/** Integers in the range, often at its boundaries and at those of integer types. */
export function wholeNumber(schema: Schema): fc.Arbitrary<bigint> {
  const [min, max] = rangeOf(schema)
  return fc.oneof(
    { weight: 3, arbitrary: fc.bigInt({ min: min, max: max }) },
    { weight: 2, arbitrary: fc.bigInt({ min: min, max: min + 60n < max ? min + 60n : max }) },
    { weight: 1, arbitrary: fc.constantFrom(...numberEdges(schema)) },
  )
}

function numberEdges(schema: Schema): bigint[] {
  const [min, max] = rangeOf(schema)
  const powers = [7n, 8n, 15n, 16n, 31n, 32n, 53n, 62n].flatMap((bits) => [
    2n ** bits - 1n,
    2n ** bits,
    2n ** bits + 1n,
  ])
  const all = [min, min + 1n, ...powers, max - 1n, max]
  return [...new Set(all.filter((one) => one >= min && one <= max))]
}

function formsOf(value: bigint): string[] {
  if (value > EXACT_MAX) return [String(value)]
  const zeros = /0*$/.exec(String(value))?.[0].length ?? 0
  const short = value === 0n ? '-0' : `${String(value).slice(0, String(value).length - zeros)}e${zeros}`
  return [String(value), `${value}.0`, `${value}.000e+0`, `${value}E0`, short]
}

export function textOf(schema: Schema): fc.Arbitrary<string> {
  if (schema.pattern === LETTERS_AND_DIGITS) {
    const unit = fc.constantFrom(...'azAZ0123456789'.split(''))
    return fc.string({ unit, minLength: 1, maxLength: maxLengthOf(schema) })
  }
  return text(schema.minLength ?? 0, maxLengthOf(schema)).filter((one) => isWithin(schema, one))
}

const NULL: Sent = { json: 'null', value: null }
let distinctTexts = 0

/** Another first character for each text that no other item can have. */
function distinct(schema: Schema, one: string): string {
  if (!schema['x-unique']) return one
  return String.fromCodePoint(0x4e00 + distinctTexts++) + Array.from(one).slice(1).join('')
}

export function valueOf(schema: Schema): fc.Arbitrary<Sent> {
  const value = notNull(schema)
  return schema.isNullable
    ? fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.constant(NULL) })
    : value
}

/** The values of a schema that has no random ones. */
function knownValues({ format = '', ...schema }: Schema): readonly string[] | undefined {
  const minutes = schema['x-within-minutes']
  if (minutes !== undefined) return timesWithin(minutes)
  return (schema['x-needs-no-open-money'] ? STORED_VALUES : FORMAT_VALUES)[format]
}

function notNull(schema: Schema): fc.Arbitrary<Sent> {
  if (schema.enum !== undefined) {
    return fc.tuple(fc.constantFrom(...schema.enum), fc.nat(3)).map(([value, every]) => asJson(value, every))
  }
  if (schema.type === 'integer') {
    return fc.tuple(wholeNumber(schema), fc.nat(4)).map(([value, form]) => {
      const forms = formsOf(value)
      return { json: forms[form % forms.length] as string, value }
    })
  }
  const known = knownValues(schema)
  if (known !== undefined) return fc.constantFrom(...known).map((value) => asJson(value, 0))
  if (schema.type === 'boolean') return fc.boolean().map((value) => ({ json: String(value), value }))
  if (schema.type === 'string') {
    return fc.tuple(textOf(schema), fc.nat(3)).map(([one, every]) => asJson(distinct(schema, one), every))
  }
  if (schema.type === 'array') {
    const { minItems: minLength = 0, maxItems: maxLength = 10, uniqueItems } = schema
    const item = valueOf(resolve(schema.items as Schema))
    const items = uniqueItems
      ? fc.uniqueArray(item, { minLength, maxLength, selector: ({ value }) => value })
      : fc.array(item, { minLength, maxLength })
    return items.map((all) => asList(all, schema.hasCommas))
  }
  if (schema.oneOf !== undefined) return itemOf(schema)
  if (schema.properties !== undefined) return objectOf(schema)
  throw new Error(`openapi.json has a field of an unsupported type: ${JSON.stringify(schema)}`)
}

function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<Sent> {
  const fields = Object.entries(properties).map(([name, schema]) => [name, valueOf(resolve(schema))])
  return fc
    .record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<Sent>>, { requiredKeys: required })
    .map(asObject)
}

/** The first alternative that names no existing item, because other inputs may change that item. */
function newItemOf(schema: Schema): [field: string, schema: Schema] {
  const free = alternativesOf(schema).find(([, { required = [] }]) => !required.some((name) => makerOf(name)))
  return free ?? ['', {}]
}

/** The JSON of an object with one more field. */
export function withField(json: string, name: string): string {
  return json.replace(
    /^\{\s*(?=(\}?))/,
    (_start, end: string) => `{${JSON.stringify(name)}:{}${end === '' ? ',' : ''}`,
  )
}

/** A valid object but for one unknown field, in itself or in an object that it contains. */
function withUnknownField(schema: Schema): fc.Arbitrary<Sent> {
  const nested = Object.entries(schema.properties ?? {})
    .map(([name, part]): [string, Schema] => [name, resolve(part)])
    .filter(([, part]) => part.properties !== undefined)
  const unknown = fc.constantFrom('extra', '__proto__', 'Name', 'id')
  const own = fc.tuple(objectOf(schema), unknown).map(([{ json }, name]) => withField(json, name))
  const inPart = nested.map(([field, part]) =>
    fc
      .tuple(objectOf({ ...schema, properties: omit(schema.properties, field) }), withUnknownField(part))
      .map(([{ json }, { json: value }]) => withField(json, field).replace('{}', () => value)),
  )
  return fc.oneof(own, ...inPart).map((json) => ({ json, value: {} }))
}

function omit(fields: Record<string, Schema> = {}, name: string): Record<string, Schema> {
  return Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name))
}

/** A valid item, or one of any alternative with a fault, which is the result of the item. It then has no values. */
function itemOf(schema: Schema): fc.Arbitrary<Sent> {
  const [field, valid] = newItemOf(schema)
  const faulty = alternativesOf(schema).flatMap(([name, { required = [] }]) =>
    ['{}', `{"${required[0]}":null}`].map((json) => ({ json: `{"${name}":${json}}`, value: {} })),
  )
  return fc.oneof(
    { weight: 3, arbitrary: objectOf(valid).map((sent) => asObject({ [field]: sent })) },
    { weight: 1, arbitrary: fc.constantFrom(...faulty) },
    {
      weight: 1,
      arbitrary: withUnknownField(valid).map(({ json }) => ({ json: `{"${field}":${json}}`, value: {} })),
    },
  )
}

/** The smallest valid item, and each of its fields at each boundary. */
function itemEdges(schema: Schema): Sent[] {
  const [field, { properties = {}, required = [] }] = newItemOf(schema)
  const edges = (name: string) => edgesOf(resolve(properties[name] as Schema))
  const min = Object.fromEntries(required.map((name) => [name, edges(name)[0] as Sent]))
  const all = Object.keys(properties).flatMap((name) => edges(name).map((sent) => ({ ...min, [name]: sent })))
  return [min, ...all].map((fields) => asObject({ [field]: asObject(fields) }))
}

function asObject(fields: Record<string, Sent>): Sent {
  const members = Object.entries(fields)
  return {
    json: `{${members.map(([name, { json }]) => `${JSON.stringify(name)}: ${json}`).join(', ')}}`,
    value: Object.fromEntries(members.map(([name, { value }]) => [name, value])),
  }
}

function asJson(value: string, every: number): Sent {
  return { json: escapeSome(value, every), value }
}

function asList(items: Sent[], hasCommas = false): Sent {
  const value = items.map((item) => item.value)
  const address = hasCommas && items.length > 0 ? { address: [value.join()] } : {}
  return { json: `[${items.map(({ json }) => json).join(', ')}]`, value, ...address }
}

/** The minimum and maximum lengths, in characters of one, two and four bytes. */
function textEdges(schema: Schema): string[] {
  const { minLength: min = 0 } = schema
  const max = maxLengthOf(schema)
  const lengths = [...new Set([min, min + 1, max - 1, max])].filter(
    (length) => length >= min && length <= max,
  )
  const texts = lengths.flatMap((length) => [
    'x'.repeat(length),
    'é'.repeat(length),
    '🐕'.repeat(length),
    length === 0 ? '' : `e${'\u0301'.repeat(length - 1)}`,
  ])
  return texts.filter((one) => isWithin(schema, one))
}

export function edgesOf(schema: Schema): Sent[] {
  return [...edgesWithoutNull(schema), ...(schema.isNullable ? [NULL] : [])]
}

function edgesWithoutNull(schema: Schema): Sent[] {
  if (schema.enum !== undefined) return schema.enum.map((value) => asJson(value, 0))
  if (schema.type === 'integer') {
    return numberEdges(schema).flatMap((value) => formsOf(value).map((json) => ({ json, value })))
  }
  const known = knownValues(schema)
  if (known !== undefined) return known.map((value) => asJson(value, 0))
  if (schema.type === 'boolean') return [true, false].map((value) => ({ json: String(value), value }))
  if (schema.type === 'string') return textEdges(schema).map((value) => asJson(distinct(schema, value), 0))
  if (schema.oneOf !== undefined) return itemEdges(schema)
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([name, field]) =>
      edgesOf(resolve(field)).map((sent) => asObject({ [name]: sent })),
    )
  }
  const { minItems = 0, maxItems = 10 } = schema
  const items = edgesOf(resolve(schema.items as Schema))
  const lengths = [...new Set([minItems, minItems + 1, maxItems - 1, maxItems])]
  return lengths
    .filter((length) => length >= minItems && length <= maxItems)
    .map((length) =>
      asList(
        Array.from({ length }, (_, index) => items[index % items.length] as Sent),
        schema.hasCommas,
      ),
    )
}

/** A value as it appears in a URL before encoding: a list is several values. */
export function inAddress({ value, address = [value].flat().map(String) }: Sent): string[] {
  return address
}

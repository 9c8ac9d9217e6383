// Inputs that an operation must reject, each with the errors that are correct for it. They are made from a valid request by
// breaking one or more of its parts.
import * as fc from 'fast-check'
import { addressFaults, addressNumberEdges } from './address-faults.ts'
import { badBody, goodBody } from './bodies.ts'
import type { Request } from './connection.ts'
import { badCredentials } from './credentials.ts'
import { choose } from './choices.ts'
import {
  conditionalOf,
  type Fields,
  isOpaque,
  makerOf,
  type Operation,
  OPERATIONS,
  requirementsOf,
  type Schema,
} from './document.ts'
import { isReference, type RequestChoices, type ServiceFixture, toRequest } from './fixture.ts'
import { goodQuery, pairsOf } from './positive.ts'
import { encode, text } from './texts.ts'
import { inAddress, INT64, type Sent, valueOf, wholeNumber } from './values.ts'
import { type BadBody, JSON_TYPE } from './unreadable.ts'

export interface Rejection {
  code: string
  /** Exactly the fields that `details` must name; undefined if it need not name any. */
  fields?: string[] | undefined
}

export interface NegativeInput {
  operation: Operation
  kind: string
  request: Request
  /** The correct rejections. An input with a single fault has one. */
  expected: Rejection[]
}

export interface Broken {
  kind: string
  rejection: Rejection
  change: RequestChoices | Omit<RequestChoices, 'key'>
}

/** Ids from this number on are unknown, because no test creates this many items. */
const UNKNOWN_FROM = 10n ** 12n

/** Credentials are checked first, whatever else is wrong; of the other errors, any may be returned. */
const FIRST = ['missing_api_key', 'invalid_api_key', 'insufficient_scope']

export function negativeInputs(operation: Operation, fixture: ServiceFixture): fc.Arbitrary<NegativeInput> {
  const groups = Object.values(brokenParts(operation, fixture))
  const some = fc.oneof(
    { weight: 5, arbitrary: fc.oneof(...groups).map((one) => [one]) },
    {
      weight: 1,
      arbitrary: fc
        .subarray(groups, { minLength: Math.min(2, groups.length), maxLength: Math.min(3, groups.length) })
        .chain((chosen) => fc.tuple(...chosen)),
    },
  )
  return fc
    .tuple(validParts(operation, fixture), some)
    .map(([valid, broken]) => toInput(operation, valid, broken))
}

export function toInput(operation: Operation, valid: RequestChoices, broken: Broken[]): NegativeInput {
  const choices: RequestChoices = Object.assign({}, valid, ...broken.map(({ change }) => change))
  const rejections = broken.map(({ rejection }) => rejection)
  const first = FIRST.map((code) => rejections.find((rejection) => rejection.code === code)).find(Boolean)
  return {
    operation,
    kind: broken.map(({ kind }) => kind).join(', '),
    request: toRequest(operation, choices),
    expected: first === undefined ? rejections : [first],
  }
}

/** Existing ids, for an input that is rejected for another reason. */
function references(fields: Fields, { existing }: ServiceFixture): Record<string, Sent> {
  const names = Object.keys(fields).filter(isReference)
  return Object.fromEntries(names.map((name) => [name, { json: existing[name]?.id ?? '', value: 0n }]))
}

function validParts(operation: Operation, fixture: ServiceFixture): fc.Arbitrary<RequestChoices> {
  const { pathParameter = '', body } = operation
  const existing = fixture.existing[pathParameter]?.id
  const id = existing === undefined ? wholeNumber(INT64).map(String) : fc.constant(existing)
  const sent = body === undefined ? fc.constant(undefined) : goodBody(body, references(body.fields, fixture))
  return fc.tuple(id, sent).map(([own, filled]) => ({
    key: fixture.key,
    id: own,
    ...(filled && { headers: [JSON_TYPE], body: Buffer.from(filled.json) }),
  }))
}

function brokenParts(operation: Operation, fixture: ServiceFixture): Record<string, fc.Arbitrary<Broken>> {
  const parts: Record<string, fc.Arbitrary<Broken>> = { credentials: badCredentials(operation, fixture) }
  if (operation.pathParameter !== undefined && operation.hasId) parts['path'] = badId(operation)
  parts['query'] =
    Object.keys(operation.query).length > 0
      ? fc.oneof(
          { weight: 7, arbitrary: badQuery(operation) },
          { weight: 2, arbitrary: unknownQuery(operation) },
        )
      : unknownQuery(operation)
  const headers = badHeaders(operation)
  if (headers !== undefined) parts['headers'] = headers
  if (operation.method !== 'GET') {
    const given = references(operation.body?.fields ?? {}, fixture)
    parts['body'] = badBody(operation.body, given).map(fromBody)
    // The body counts twice, because it can be invalid in most ways.
    if (operation.body !== undefined) parts['body, twice as often'] = parts['body']
  }
  return parts
}

export function fromBody({ kind, code, fields, bytes, headers }: BadBody): Broken {
  return { kind: `body: ${kind}`, rejection: { code, fields }, change: { body: bytes, headers } }
}

function badId(operation: Operation): fc.Arbitrary<Broken> {
  const broken =
    (kind: string) =>
    (id: string): Broken => ({
      kind: `id: ${kind}`,
      rejection: { code: operation.notFound },
      change: { id },
    })
  const noId = fc
    .oneof(fc.constantFrom(...addressNumberEdges(INT64)), text(1, 40))
    .filter((value) => !/^\d*$/.test(value) || BigInt(value || 1) >= 2n ** 63n)
    .filter((value) => value !== '.' && value !== '..')
  const all = [
    fc
      .tuple(noId, fc.boolean())
      .map(([value, everything]) => broken('not an int64')(encode(value, everything))),
    fc
      .constantFrom(
        '{}',
        '%zz',
        '%',
        '%ff',
        '%c0%af',
        '-',
        '~',
        '$1',
        "'",
        '1;x',
        '1,2',
        '*',
        '%2e%2e',
        '1%2f2',
        '1%3fx=1',
        '1%00',
      )
      .map(broken('not an id')),
  ]
  const unknown = wholeNumber(INT64)
    .filter((id) => id > UNKNOWN_FROM)
    .map(String)
  if (makerOf(operation.pathParameter) !== undefined) all.push(unknown.map(broken('unknown id')))
  return fc.oneof(...all)
}

const NEVER_PARAMETERS = ['x', '__proto__', 'constructor', 'toString', '', '?', 'id[', '[]', 'a.b', '🐕']

/** Names of no parameter of the operation: those of other operations, misspelt ones, and lists as other services write them. */
function unknownNames({ query }: Operation): string[] {
  const known = Object.keys(query)
  const near = known.flatMap((name) => [
    `${name}s`,
    name.toUpperCase(),
    `${name}[]`,
    `${name}[0]`,
    ` ${name}`,
  ])
  const others = OPERATIONS.flatMap((other) => Object.keys(other.query))
  return [...new Set([...NEVER_PARAMETERS, ...near, ...others])].filter((name) => !known.includes(name))
}

export function unknownParameter(name: string, value: string, others: [string, string][] = []): Broken {
  return {
    kind: others.length > 0 ? 'query: an unknown parameter beside others' : 'query: an unknown parameter',
    rejection: { code: 'unknown_parameter', fields: [name.split('.')[0] as string] },
    change: { query: [...others, [encode(name), encode(value)]] },
  }
}

/** An unknown parameter, alone or after valid ones. */
function unknownQuery(operation: Operation): fc.Arbitrary<Broken> {
  const name = fc
    .oneof(fc.constantFrom(...unknownNames(operation)), text(1, 8))
    .filter((one) => !Object.hasOwn(operation.query, one))
  const others = fc.oneof(
    fc.constant<[string, string][]>([]),
    goodQuery(operation).map((query) => pairsOf(query, false)),
  )
  return fc.tuple(name, text(0, 8), others).map((parts) => unknownParameter(...parts))
}

function badQuery(operation: Operation): fc.Arbitrary<Broken> {
  const { query } = operation
  const toBroken = (kind: string, code: string, pairs: [string, string][], fields?: string[]): Broken => ({
    kind: `query: ${kind}`,
    rejection: { code, fields },
    change: { query: pairs },
  })
  const known = Object.keys(query).filter((name) => !isOpaque(operation, name))
  const faulty = choose(known, 2, (names) => {
    const each = names.map((name) =>
      fc.oneof(
        ...addressFaults(query[name] as Schema).map(({ kind, value }) =>
          value.map((values) => ({ name, kind, values })),
        ),
      ),
    )
    return fc.tuple(fc.tuple(...each), fc.boolean()).map(([parameters, everything]) => {
      const pairs = parameters.flatMap(({ name, values }) =>
        values.map((value): [string, string] => [name, encode(value, everything)]),
      )
      return toBroken(
        parameters.map(({ name, kind }) => `${name} ${kind}`).join(' + '),
        'invalid_parameter',
        pairs,
        names,
      )
    })
  })
  // Broken escapes, and bytes that are not UTF-8.
  const undecodable = fc
    .tuple(
      fc.constantFrom(...Object.keys(query)),
      fc.constantFrom('%', '%z', '%zz', '%ff', 'a%c0%af', '%ed%a0%80', 'a%f0%9f'),
    )
    .map(([name, value]) => toBroken(`${name} not decodable`, 'invalid_parameter', [[name, value]], [name]))
  const opaque = Object.keys(query)
    .filter((name) => isOpaque(operation, name))
    .map((name) =>
      text(1, 60).map((value) => toBroken(`${name} not valid`, `invalid_${name}`, [[name, encode(value)]])),
    )
  return fc.oneof(
    { weight: 6, arbitrary: faulty },
    { weight: 1, arbitrary: undecodable },
    ...opaque.map((arbitrary) => ({ weight: 1, arbitrary })),
    ...exclusions(query, toBroken).map((arbitrary) => ({ weight: 1, arbitrary })),
    ...omissions(query, toBroken).map((arbitrary) => ({ weight: 1, arbitrary })),
  )
}

/** Two valid parameters that exclude each other. */
function exclusions(
  query: Fields,
  toBroken: (kind: string, code: string, pairs: [string, string][], fields: string[]) => Broken,
): fc.Arbitrary<Broken>[] {
  return Object.entries(query).flatMap(([name, schema]) =>
    (schema['x-not-with'] ?? []).map((exclusion) => {
      const [other = '', value] = exclusion.split('=')
      const theirs = value === undefined ? addressValue(query[other] as Schema) : fc.constant([value])
      return fc.tuple(addressValue(schema), theirs).map(([own, others]) => {
        const pairs = [
          ...own.map((one): [string, string] => [name, encode(one)]),
          ...others.map((one): [string, string] => [other, encode(one)]),
          ...Object.entries(requirementsOf(query, other, others[0])),
        ]
        return toBroken(`${name} with ${exclusion}`, 'invalid_parameter', pairs, [name])
      })
    }),
  )
}

/** A valid parameter without the parameters that it requires, or none of two parameters of which one is required. */
function omissions(
  query: Fields,
  toBroken: (kind: string, code: string, pairs: [string, string][], fields: string[]) => Broken,
): fc.Arbitrary<Broken>[] {
  return Object.entries(query)
    .filter(([, schema]) => schema['x-only-with'] !== undefined)
    .map(
      ([name, schema]): fc.Arbitrary<Broken> =>
        addressValue(schema).map((own) => {
          const pairs = own.map((value): [string, string] => [name, encode(value)])
          return toBroken(`${name} alone`, 'invalid_parameter', pairs, [name])
        }),
    )
    .concat(
      conditionalOf(query).map(([name]) =>
        fc.constant(toBroken(`no ${name}`, 'invalid_parameter', [], [name])),
      ),
    )
}

function addressValue(schema: Schema): fc.Arbitrary<string[]> {
  // openapi.json gives no length for an opaque value. Any text works here, because the other parameter excludes it.
  const sent =
    schema.type === 'string' && schema.maxLength === undefined
      ? valueOf({ ...schema, maxLength: 40 })
      : valueOf(schema)
  return sent.map(inAddress).filter((values) => values.length > 0)
}

function badHeaders(operation: Operation): fc.Arbitrary<Broken> | undefined {
  const withJson = (name: string, value: string): [string, string][] => [
    ...(operation.body ? [JSON_TYPE] : []),
    [name, value],
  ]
  const all: fc.Arbitrary<Broken>[] = []
  for (const [name, schema] of Object.entries(operation.headers)) {
    const { minLength = 0, maxLength } = schema
    if (!schema['x-etags']) {
      const second = fc.tuple(fc.constantFrom(name, name.toUpperCase()), fc.constantFrom('a', 'b', ''))
      all.push(
        second.map(([again, value]) => ({
          kind: `header: a second ${name}`,
          rejection: { code: 'invalid_parameter', fields: [name] },
          change: { headers: [...withJson(name, 'a'), [again, value]] },
        })),
      )
    }
    if (maxLength !== undefined) {
      const value = fc.oneof(
        fc.constant('x'.repeat(maxLength + 1)),
        fc.integer({ min: maxLength + 1, max: maxLength * 4 }).map((length) => 'é'.repeat(length)),
      )
      const rejected = minLength > 0 ? fc.oneof(value, fc.constant('')) : value
      all.push(
        rejected.map((one) => ({
          kind: `header: ${name}`,
          rejection: { code: 'invalid_parameter', fields: [name] },
          change: { headers: withJson(name, one) },
        })),
      )
    }
    if (name === 'if-match' && operation.codes.has('precondition_failed')) {
      const stale = fc.constantFrom('', '"00"', '"2147483648"', 'W/"1"', '"*"', '"", "00"')
      const malformed = fc.constantFrom('1', '"1', '**', 'é', '"0", 1')
      const broken = (value: fc.Arbitrary<string>, rejection: Rejection) =>
        value.map((one) => ({
          kind: `header: ${name}`,
          rejection,
          change: { headers: withJson(name, one) },
        }))
      all.push(broken(stale, { code: 'precondition_failed' }))
      all.push(broken(malformed, { code: 'invalid_parameter', fields: [name] }))
    }
  }
  return all.length === 0 ? undefined : fc.oneof(...all)
}

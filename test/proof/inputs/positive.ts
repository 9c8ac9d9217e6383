// Inputs that an operation must accept, in every form that the document allows.
import * as fc from 'fast-check'
import { goodBody, writeObject } from './bodies.ts'
import {
  conditionalOf,
  type Fields,
  isExcluded,
  isOpaque,
  isPosition,
  makerOf,
  type Operation,
  requirementsOf,
  type Schema,
} from './document.ts'
import { isReference } from './fixture.ts'
import { encode } from './texts.ts'
import { edgesOf, inAddress, INT64, type Sent, valueOf, wholeNumber } from './values.ts'
import { JSON_TYPE } from './unreadable.ts'

export interface PositiveInput {
  operation: Operation
  kind: string
  /** Set only if no operation creates what the id refers to. Any id is valid then. */
  id: bigint | undefined
  /** The values by name, and the pairs as they appear in the URL. */
  query: Record<string, unknown>
  pairs: [name: string, value: string][]
  headers: [name: string, value: string][]
  /** The body, with a placeholder for each id that must be created first. */
  json: string | undefined
  values: Record<string, unknown>
  idempotencyKey: string | undefined
  /** An If-Match value that matches. TAG stands for the current ETag. */
  ifMatch: string | undefined
  alsoHead: boolean
}

/** Placeholder in the JSON of a body for an id that is created first. */
export const tokenOf = (field: string) => `<<${field}>>`
export const TAG = '<<etag>>'

const SAFE_ID = fc.string({
  unit: fc.constantFrom(...'abcXYZ019._:/+=@-'.split('')),
  minLength: 1,
  maxLength: 128,
})
/** Headers that must not affect the outcome. */
const neutralHeaders = fc
  .record(
    {
      Accept: fc.constantFrom(
        '*/*',
        'text/html',
        'application/xml;q=0.9',
        'application/json;q=0',
        'nonsense',
        '',
      ),
      'X-Request-Id': SAFE_ID,
      'X-HTTP-Method-Override': fc.constantFrom('DELETE', 'GET', 'PUT'),
      'X-Forwarded-Host': fc.constant('evil.test'),
      'Accept-Language': fc.constantFrom('de', 'x'.repeat(100)),
      Expect: fc.constant('nothing'),
      Cookie: fc.constant('key=value'),
    },
    { requiredKeys: [] },
  )
  .map((headers) => Object.entries(headers))

/** Valid parameters, or none. */
export function goodQuery(operation: Operation): fc.Arbitrary<Record<string, Sent>> {
  const known = Object.entries(operation.query).filter(
    ([name]) => !isOpaque(operation, name) && !isPosition(name),
  )
  const conditional = conditionalOf(operation.query)
  const fields = Object.fromEntries(
    [...known, ...conditional].map(([name, schema]) => [name, valueOf(schema)]),
  )
  return fc.record(fields, { requiredKeys: conditional.map(([name]) => name) }).map((all) => {
    const isNeeded = (name: string) => !((operation.query[name]?.['x-required-without'] ?? '') in all)
    const kept: Record<string, Sent> = {}
    for (const [name, sent] of Object.entries(all)) {
      // An empty list is sent as no parameter.
      if (isNeeded(name) && sent !== undefined && inAddress(sent).length > 0) kept[name] = sent
    }
    for (const name of Object.keys(kept)) Object.assign(kept, required(operation, name, kept[name] as Sent))
    for (const name of Object.keys(kept)) {
      if (isExcluded(operation.query, name, valuesOf(kept))) delete kept[name]
    }
    return kept
  })
}

/** The parameters that the value of another parameter requires. */
function required({ query }: Operation, parameter: string, sent: Sent): Record<string, Sent> {
  return Object.fromEntries(
    Object.entries(requirementsOf(query, parameter, sent.value)).map(([name, value]) => [
      name,
      { json: JSON.stringify(value), value },
    ]),
  )
}

function valuesOf(sent: Record<string, Sent>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(sent).map(([name, { value }]) => [name, value]))
}

export function pairsOf(query: Record<string, Sent>, everything: boolean): [string, string][] {
  return Object.entries(query).flatMap(([name, sent]) =>
    inAddress(sent).map((value): [string, string] => [name, encode(value, everything)]),
  )
}

/** The parameters without which a request is rejected. */
export function minimalQuery(query: Fields): Record<string, Sent> {
  return Object.fromEntries(conditionalOf(query).map(([name, schema]) => [name, edgesOf(schema)[0] as Sent]))
}

function tokens(fields: Fields): Record<string, Sent> {
  const names = Object.keys(fields).filter(isReference)
  return Object.fromEntries(names.map((name) => [name, { json: tokenOf(name), value: tokenOf(name) }]))
}

/** Any text that a header can have, with room for a suffix that makes it unique. */
function headerText({ maxLength = 255 }: Schema): fc.Arbitrary<string> {
  const character = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0x21, max: 0x7e }) },
    { weight: 1, arbitrary: fc.integer({ min: 0xa0, max: 0xff }) },
  )
  return fc.string({
    unit: character.map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: maxLength - 20,
  })
}

export function positiveInputs(operation: Operation): fc.Arbitrary<PositiveInput> {
  const { pathParameter, body, headers, method } = operation
  const isFree = pathParameter !== undefined && makerOf(pathParameter) === undefined
  const idempotencyKey = headers['idempotency-key']
  // Without fields, and if the body is optional.
  const empty = (method === 'GET' ? fc.constant(undefined) : fc.constantFrom(undefined, 'null', '{}')).map(
    (json) => ({ json, values: {} }),
  )
  const good = body && goodBody(body, tokens(body.fields))
  return fc
    .record({
      id: isFree ? wholeNumber(INT64) : fc.constant(undefined),
      query: goodQuery(operation),
      everything: fc.boolean(),
      neutral: neutralHeaders,
      filled: good === undefined ? empty : body?.isOptional ? fc.oneof(good, empty) : good,
      idempotencyKey:
        idempotencyKey === undefined
          ? fc.constant(undefined)
          : fc.option(headerText(idempotencyKey), { nil: undefined }),
      ifMatch:
        headers['if-match'] === undefined
          ? fc.constant(undefined)
          : // The version of what has no id can change at any time.
            pathParameter === undefined
            ? fc.constantFrom(undefined, '*')
            : fc.constantFrom(undefined, '*', TAG, `"0", ${TAG}`, `${TAG},"x"`, ` ${TAG} `),
      alsoHead: method === 'GET' ? fc.boolean() : fc.constant(false),
    })
    .map(({ query, everything, neutral, filled, ...rest }) => ({
      ...rest,
      operation,
      kind: 'random',
      query: valuesOf(query),
      pairs: pairsOf(query, everything),
      headers: [...(filled.json === undefined ? [] : [JSON_TYPE]), ...neutral],
      json: filled.json,
      values: filled.values,
    }))
}

/** Each field and parameter at each of its boundaries, in an otherwise minimal request. */
export function positiveEdges(operation: Operation): PositiveInput[] {
  const { body, query, pathParameter } = operation
  const min: Record<string, Sent> = Object.fromEntries(
    (body?.required ?? []).map((name) => [name, edgesOf(body?.fields[name] as Schema)[0] as Sent]),
  )
  const isFree = pathParameter !== undefined && makerOf(pathParameter) === undefined
  const input = (
    kind: string,
    changes: Partial<PositiveInput>,
    fields: Record<string, Sent> = {},
  ): PositiveInput => {
    const all = { ...min, ...fields, ...tokens(body?.fields ?? {}) }
    return {
      operation,
      kind,
      id: undefined,
      query: {},
      pairs: [],
      headers: body === undefined ? [] : [JSON_TYPE],
      json: body && writeObject(Object.entries(all).map(([name, { json }]) => [name, json])),
      values: body === undefined ? {} : valuesOf(all),
      idempotencyKey: undefined,
      ifMatch: undefined,
      alsoHead: operation.method === 'GET',
      ...changes,
    }
  }
  const ids = isFree ? edgesOf(INT64).map(({ value }) => value as bigint) : []
  let next = 2n ** 40n
  const free = () => (isFree ? { id: next++ } : {})
  return [
    input('minimal', { ...free(), pairs: pairsOf(minimalQuery(query), false) }),
    ...[...new Set(ids)].map((id) => input(`id ${id}`, { id })),
    ...Object.entries(body?.fields ?? {}).flatMap(([name, schema]) =>
      isReference(name)
        ? []
        : edgesOf(schema).map((sent) => input(`${name} at an edge`, free(), { [name]: sent })),
    ),
    ...Object.entries(query).flatMap(([name, schema]) =>
      isOpaque(operation, name) || isPosition(name)
        ? []
        : edgesOf(schema)
            .filter((sent) => inAddress(sent).length > 0)
            .map((sent) => {
              const all = { [name]: sent, ...required(operation, name, sent) }
              return input(`${name} at an edge`, { query: valuesOf(all), pairs: pairsOf(all, false) })
            }),
    ),
  ]
}

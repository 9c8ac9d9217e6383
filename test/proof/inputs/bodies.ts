// Whole bodies: valid ones in every form that JSON allows, and invalid ones.
import * as fc from 'fast-check'
import { choose } from './choices.ts'
import type { Fields, Operation, Schema } from './document.ts'
import { anyJson, faultEdges, faultsOf } from './faults.ts'
import { text } from './texts.ts'
import { type BadBody, JSON_TYPE, unreadable } from './unreadable.ts'
import { type Sent, valueOf } from './values.ts'

type BodySchema = NonNullable<Operation['body']>

/** A body as it is sent, and its values in the documented fields. */
export interface Filled {
  json: string
  values: Record<string, unknown>
}

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'id',
  'ID',
  'Name',
  'extra',
  '',
  '$ref',
  'a.b',
  '🐕',
]

/** One or more unknown fields. */
function unknownFields(fields: Fields): fc.Arbitrary<[name: string, json: string][]> {
  const name = fc.oneof(fc.constantFrom(...NAMES), text(0, 10)).filter((one) => !Object.hasOwn(fields, one))
  return fc.array(fc.tuple(name, anyJson), { minLength: 1, maxLength: 3 })
}

/** Members before the body's own fields that the operation ignores, or none. */
function ignoredMembers({
  fields,
  ignoresUnknown,
}: BodySchema): fc.Arbitrary<[name: string, json: string][]> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant<[string, string][]>([]) },
    { weight: ignoresUnknown ? 1 : 0, arbitrary: unknownFields(fields) },
  )
}

export function writeObject(members: [name: string, json: string][], space = ''): string {
  return `{${members.map(([name, json]) => `${space}${JSON.stringify(name)}${space}:${space}${json}`).join(',')}${space}}`
}

const space = fc.constantFrom('', '', ' ', '\n\t', '\r\n ')

/** Every required field and some of the others; `given` fields keep their values. */
export function goodBody(body: BodySchema, given: Record<string, Sent> = {}): fc.Arbitrary<Filled> {
  const known = Object.fromEntries(
    Object.entries(body.fields).map(([name, schema]) => {
      const fixed = given[name]
      return [name, fixed === undefined ? valueOf(schema) : fc.constant(fixed)]
    }),
  )
  const members = fc.record(known, { requiredKeys: [...body.required, ...Object.keys(given)] })
  // If two members have the same name, the last one counts, so the first may have any value.
  const doubled = fc.option(fc.tuple(fc.constantFrom('', ...Object.keys(body.fields)), anyJson), { freq: 8 })
  return fc.tuple(members, ignoredMembers(body), doubled, space).map(([sent, before, first, between]) => {
    const own = Object.entries(sent).map(([name, { json }]): [string, string] => [name, json])
    const double = own
      .filter(([name]) => name === first?.[0])
      .map(([name]): [string, string] => [name, first?.[1] ?? ''])
    return {
      json: writeObject([...before, ...double, ...own], between),
      values: Object.fromEntries(Object.entries(sent).map(([name, { value }]) => [name, value])),
    }
  })
}

function bad(kind: string, code: string, json: string, fields?: string[]): BadBody {
  return { kind, code, bytes: Buffer.from(json), headers: [JSON_TYPE], ...(fields && { fields }) }
}

/** An object with one or more invalid fields, the others valid. */
function badFields(body: BodySchema, given: Record<string, Sent>): fc.Arbitrary<BadBody> {
  const names = Object.keys(body.fields)
  return choose(names, names.length, (broken) => breaking(body, given, broken))
}

function breaking(body: BodySchema, given: Record<string, Sent>, broken: string[]): fc.Arbitrary<BadBody> {
  const rest = Object.keys(body.fields).filter((name) => !broken.includes(name))
  const faults = broken.map((name) => {
    const values = faultsOf(body.fields[name] as Schema).map(({ kind, value }) =>
      value.map((json) => ({ kind, json })),
    )
    const absent = body.required.includes(name) ? [fc.constant({ kind: 'missing', json: undefined })] : []
    return fc.oneof(...values, ...absent)
  })
  const valid = rest.map((name) => [
    name,
    given[name] ? fc.constant(given[name]) : valueOf(body.fields[name] as Schema),
  ])
  const others = fc.record(Object.fromEntries(valid) as Record<string, fc.Arbitrary<Sent>>, {
    requiredKeys: rest.filter((name) => body.required.includes(name)),
  })
  return fc.tuple(fc.tuple(...faults), others, ignoredMembers(body)).map(([values, good, before]) => {
    const members = [
      ...before,
      ...Object.entries(good).map(([name, sent]): [string, string] => [name, sent?.json ?? '']),
    ]
    for (const [index, { json }] of values.entries()) {
      if (json !== undefined) members.push([broken[index] as string, json])
    }
    return bad(values.map(({ kind }) => kind).join(' + '), 'invalid_body', writeObject(members), broken)
  })
}

/** Every boundary of every field, with the others valid. */
export function badFieldEdges(body: BodySchema, good: Record<string, string>): BadBody[] {
  return Object.entries(body.fields).flatMap(([name, schema]) => {
    const others = Object.entries(good).filter(([other]) => other !== name)
    const missing = body.required.includes(name)
      ? [bad(`${name}: missing`, 'invalid_body', writeObject(others), [name])]
      : []
    const edges = faultEdges(schema).map(({ kind, value }) =>
      bad(`${name}: ${kind}`, 'invalid_body', writeObject([...others, [name, value]]), [name]),
    )
    return [...missing, ...edges]
  })
}

/** Unknown fields in a body that is valid otherwise. */
function unknownIn(json: string, unknown: [name: string, json: string][]): BadBody {
  const own = json.trim().slice(1, -1).trim()
  const added = writeObject(unknown).slice(1, -1)
  const names = unknown.map(([name]) => name.split('.')[0] as string)
  return bad('unknown fields', 'invalid_body', `{${[added, own].filter(Boolean).join()}}`, [
    ...new Set(names),
  ])
}

/** Every name that could have a meaning in JavaScript or in the service, as an unknown field. */
export function unknownFieldEdges(body: BodySchema | undefined, json: string): BadBody[] {
  if (body?.ignoresUnknown) return []
  return NAMES.filter((name) => !Object.hasOwn(body?.fields ?? {}, name)).map((name) =>
    unknownIn(json, [[name, 'null']]),
  )
}

/** Fields inside `__proto__` must count as missing, and `__proto__` itself as an unknown field. */
function hidden({ required, ignoresUnknown }: BodySchema, json: string): BadBody {
  return bad(
    'hidden in __proto__',
    'invalid_body',
    `{"__proto__": ${json}, "constructor": {"prototype": ${json}}}`,
    ignoresUnknown ? required : [...required, '__proto__', 'constructor'],
  )
}

const noObject = anyJson
  .filter((json) => !json.startsWith('{'))
  .map((json) => bad('not an object', 'invalid_body', json, ['']))

/** Every invalid body of the operation; for an operation without fields, unreadable ones and those that are not empty. */
export function badBody(body: BodySchema | undefined, given: Record<string, Sent>): fc.Arbitrary<BadBody> {
  if (body === undefined) {
    return fc.oneof(
      fc.tuple(anyJson, unreadable).map(([json, spoil]) => spoil(`{"x":${json}}`)),
      unknownFields({}).map((unknown) => unknownIn('{}', unknown)),
      noObject.filter(({ bytes }) => String(bytes) !== 'null'),
    )
  }
  const spoilt = fc.tuple(goodBody(body, given), unreadable).map(([{ json }, spoil]) => spoil(json))
  const withHidden = goodBody(body, given).map(({ json }) => hidden(body, json))
  const withUnknown = fc
    .tuple(goodBody(body, given), unknownFields(body.fields))
    .map(([{ json }, unknown]) => unknownIn(json, unknown))
  const nothing = fc.constantFrom<BadBody>(
    { ...bad('no body', 'missing_body', ''), headers: [], bytes: undefined },
    bad('an empty body', 'missing_body', ''),
  )
  return fc.oneof(
    { weight: 10, arbitrary: badFields(body, given) },
    { weight: 4, arbitrary: spoilt },
    { weight: 1, arbitrary: withHidden },
    { weight: body.ignoresUnknown ? 0 : 4, arbitrary: withUnknown },
    // An optional body can be missing or null.
    { weight: 1, arbitrary: noObject.filter(({ bytes }) => !body.isOptional || String(bytes) !== 'null') },
    { weight: body.isOptional ? 0 : 1, arbitrary: nothing },
  )
}

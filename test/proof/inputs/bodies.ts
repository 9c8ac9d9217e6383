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

/** Unknown fields, which must be ignored. */
function unknownFields(fields: Fields): fc.Arbitrary<[name: string, json: string][]> {
  const name = fc.oneof(fc.constantFrom(...NAMES), text(0, 10)).filter((one) => !Object.hasOwn(fields, one))
  return fc.array(fc.tuple(name, anyJson), { maxLength: 3 })
}

/** Unknown members before the body's own fields, or none. */
function unknownMembers({ fields }: BodySchema): fc.Arbitrary<[name: string, json: string][]> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant<[string, string][]>([]) },
    { weight: 1, arbitrary: unknownFields(fields) },
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
  return fc.tuple(members, unknownMembers(body), doubled, space).map(([sent, before, first, between]) => {
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
  return fc.tuple(fc.tuple(...faults), others, unknownMembers(body)).map(([values, good, before]) => {
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

/** Fields inside `__proto__` must count as missing. */
function hidden({ required }: BodySchema, json: string): BadBody {
  return bad(
    'hidden in __proto__',
    'invalid_body',
    `{"__proto__": ${json}, "constructor": {"prototype": ${json}}}`,
    required,
  )
}

/** Every invalid body of the operation; for an operation without a body, only unreadable ones. */
export function badBody(body: BodySchema | undefined, given: Record<string, Sent>): fc.Arbitrary<BadBody> {
  if (body === undefined) {
    return fc.tuple(anyJson, unreadable).map(([json, spoil]) => spoil(`{"x":${json}}`))
  }
  const spoilt = fc.tuple(goodBody(body, given), unreadable).map(([{ json }, spoil]) => spoil(json))
  const withHidden = goodBody(body, given).map(({ json }) => hidden(body, json))
  const noObject = anyJson
    .filter((json) => !json.startsWith('{'))
    .map((json) => bad('not an object', 'invalid_body', json, ['']))
  const nothing = fc.constantFrom<BadBody>(
    { ...bad('no body', 'missing_body', ''), headers: [], bytes: undefined },
    bad('an empty body', 'missing_body', ''),
  )
  return fc.oneof(
    { weight: 10, arbitrary: badFields(body, given) },
    { weight: 4, arbitrary: spoilt },
    // Without required fields, none is missing.
    { weight: body.required.length > 0 ? 1 : 0, arbitrary: withHidden },
    // An optional body can be missing, and any other JSON is ignored.
    { weight: body.isOptional ? 0 : 1, arbitrary: noObject },
    { weight: body.isOptional ? 0 : 1, arbitrary: nothing },
  )
}

// Rules of every operation that concern more than one value: methods, paths, deleted items, cursors.
import { METHODS } from 'node:http'
import * as fc from 'fast-check'
import { writeObject } from './bodies.ts'
import { ADDRESSES, makerOf, type Operation, OPERATIONS, readerOf, requirementsOf } from './document.ts'
import type { NegativeInput } from './negative.ts'
import { Complaint, type Recorder } from './runner.ts'
import { make, type RequestChoices, type ServiceFixture, toRequest } from './fixture.ts'
import { text } from './texts.ts'
import { minimalQuery, pairsOf } from './positive.ts'
import { edgesOf } from './values.ts'
import { JSON_TYPE } from './unreadable.ts'

/** The documented limit. Not imported from src, so that a change there fails. */
const BODY_LIMIT_BYTES = 1_048_576
const UNKNOWN_ID = '9000000000000000000'

/** The minimal request of an operation. Everything that it refers to exists. */
export function minimalRequest(
  operation: Operation,
  fixture: ServiceFixture,
  choices: Partial<RequestChoices> = {},
) {
  const { body, pathParameter, query } = operation
  const members = (body?.required ?? []).map((name): [string, string] => [
    name,
    fixture.existing[name]?.id ?? edgesOf(body?.fields[name] ?? {})[0]?.json ?? '',
  ])
  return toRequest(operation, {
    key: fixture.key,
    id: fixture.existing[pathParameter ?? '']?.id ?? '1',
    query: pairsOf(minimalQuery(query), false),
    ...(body && { headers: [JSON_TYPE], body: Buffer.from(writeObject(members)) }),
    ...choices,
  })
}

export interface MethodInput extends NegativeInput {
  /** The expected `Allow` header. */
  allow: string
}

/** Every method that Node can parse, on every path that does not support it. */
export function otherMethods(fixture: ServiceFixture): MethodInput[] {
  return [...ADDRESSES].flatMap(([path, allowed]) => {
    const operation = OPERATIONS.find((one) => one.path === path) as Operation
    // CONNECT has no path, so it is left out. `self` is not an id, but matches the path of an id.
    const isSupported = (method: string) =>
      OPERATIONS.some((one) => one.method === method && patternOf(one.path).test(path))
    const others = METHODS.filter(
      (method) => !allowed.includes(method) && !isSupported(method) && method !== 'CONNECT',
    )
    const ids =
      operation.pathParameter === undefined
        ? ['']
        : [fixture.existing[operation.pathParameter]?.id ?? '1', 'abc', UNKNOWN_ID]
    return others.flatMap((method) =>
      ids.map((id) => ({
        operation,
        kind: `method ${method}`,
        request: toRequest(operation, { key: fixture.key, id, method }),
        expected: [{ code: 'method_not_allowed' }],
        allow: allowed.join(', '),
      })),
    )
  })
}

/** Suffixes of an id. A query string is not part of the id, and a slash makes another path. */
const DYNAMIC = [
  '?x=1',
  '??',
  '/?/',
  '/1',
  '/',
  '//',
  '#x',
  '?',
  ';x=1',
  '%3Fx=1',
  '%2F1',
  '{}',
  '/..',
  '/.',
  '\\',
  '%5C',
  "'",
  '%20',
  '+',
  '%0d%0a',
]

export function dynamicObjects(fixture: ServiceFixture): NegativeInput[] {
  const withId = OPERATIONS.filter(({ pathParameter, hasId }) => pathParameter !== undefined && hasId)
  return withId.flatMap((operation) =>
    [
      ...DYNAMIC.map((suffix) => UNKNOWN_ID + suffix),
      '{}',
      '..',
      '.',
      '',
      '[]',
      '*',
      'undefined',
      'null',
      'self',
    ].flatMap((id) => {
      const request = minimalRequest(operation, fixture, { id })
      const code = codeAt(request.method, request.target)
      return code === undefined ? [] : [{ operation, kind: `the id ${id}`, request, expected: [{ code }] }]
    }),
  )
}

/** The documented error for a path that names nothing; undefined if it would be accepted. */
function codeAt(method: string, target: string): string | undefined {
  const [path = '', query = ''] = target.slice('/v1'.length).split(/[?#](.*)/s)
  const operations = OPERATIONS.filter((one) => patternOf(one.path).test(path))
  if (operations.length === 0) return 'route_not_found'
  // A path without a parameter is the first choice: `/api-keys/self` is not an id.
  const byMethod = operations.filter((one) => one.method === method)
  const operation = byMethod.find((one) => one.path === path) ?? byMethod[0]
  if (operation === undefined) return 'method_not_allowed'
  if (query !== '') return 'unknown_parameter'
  const isFree = makerOf(operation.pathParameter) === undefined
  return isFree && path.endsWith(`/${UNKNOWN_ID}`)
    ? undefined
    : operation.pathParameter === undefined
      ? undefined
      : operation.notFound
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

/** A body one byte over the limit, otherwise valid. */
export function tooLarge(fixture: ServiceFixture): NegativeInput[] {
  return OPERATIONS.filter(({ method }) => method !== 'GET').map((operation) => {
    const { body = Buffer.from('{}') } = minimalRequest(operation, fixture)
    const padded = Buffer.concat([body, Buffer.alloc(BODY_LIMIT_BYTES + 1 - body.length, ' ')])
    const request = minimalRequest(operation, fixture, { headers: [JSON_TYPE], body: padded })
    return { operation, kind: 'a body of one byte too many', request, expected: [{ code: 'body_too_large' }] }
  })
}

/** Every operation that names a deleted item, which must return its "not found" error. */
export async function usesAfterFree(
  remover: Operation,
  fixture: ServiceFixture,
  via: Recorder,
): Promise<NegativeInput[]> {
  const idName = remover.pathParameter as string
  const { id } = await make(fixture, via, makerOf(idName) as Operation)
  const { status } = await via.send(minimalRequest(remover, fixture, { id }))
  if (status !== 204) throw new Error(`${remover.id} returned ${status}`)
  // An item without a read operation stays in its list: it can be renamed, and deleting it again succeeds again.
  const stays = readerOf(remover) === undefined
  const works = (one: Operation) => stays && (one === remover || one.method === 'PATCH')
  const byAddress = OPERATIONS.filter((one) => one.pathParameter === idName && !works(one))
  const byBody = OPERATIONS.filter(({ body }) => body !== undefined && idName in body.fields)
  return [
    ...byAddress.map((operation) => ({ operation, request: minimalRequest(operation, fixture, { id }) })),
    ...byBody.map((operation) => ({
      operation,
      request: minimalRequest(operation, {
        ...fixture,
        existing: {
          ...fixture.existing,
          [idName]: { ...(fixture.existing[idName] as ServiceFixture['existing'][string]), id },
        },
      }),
    })),
  ].map(({ operation, request }) => ({
    operation,
    kind: `after ${remover.id}`,
    request,
    expected: [{ code: operation.notFound }],
  }))
}

const LISTS = OPERATIONS.filter(({ query }) => 'cursor' in query)

/** The cursor of the second page of every list. Those of an unchanged pet, a new webhook and a new till have only one page. */
export async function someCursors(fixture: ServiceFixture, via: Recorder): Promise<Map<Operation, string>> {
  const cursors = new Map<Operation, string>()
  for (const list of LISTS) {
    const response = await via.send(minimalRequest(list, fixture, { query: [['limit', '1']] }))
    const cursor = /[?&]cursor=([^&>]+)/.exec(response.headers.get('link') ?? '')?.[1]
    if (cursor !== undefined) cursors.set(list, cursor)
  }
  if (cursors.size < LISTS.length - 4) throw new Error(`only ${cursors.size} lists have a second page`)
  return cursors
}

/** Requests that send the cursor of one list to every other list, and to the same list with another filter. */
export async function foreignCursors(fixture: ServiceFixture, via: Recorder): Promise<NegativeInput[]> {
  const cursors = await someCursors(fixture, via)
  const input = (operation: Operation, query: [string, string][]): NegativeInput => ({
    operation,
    kind: 'a cursor of another list or filter',
    request: minimalRequest(operation, fixture, { query }),
    expected: [{ code: 'invalid_cursor' }],
  })
  return [...cursors].flatMap(([from, cursor]) => [
    ...LISTS.filter((list) => list !== from).map((list) => input(list, [['cursor', cursor]])),
    ...Object.entries(from.query)
      .filter(([name, schema]) => schema.type !== 'array' && name !== 'limit' && name !== 'cursor')
      .map(([name, schema]) => {
        const value = String(edgesOf(schema)[0]?.value)
        const needed = Object.entries(requirementsOf(from.query, name, value))
        return input(from, [['cursor', cursor], [name, value], ...needed])
      }),
  ])
}

export interface Tampered {
  operation: Operation
  cursor: string
}

/** Cursors with bytes changed, added or removed. Each must return a page or a documented error, never 500. */
export function tamperedCursors(cursors: Map<Operation, string>): fc.Arbitrary<Tampered> {
  return fc
    .record({
      from: fc.constantFrom(...cursors),
      at: fc.nat(14),
      byte: fc.nat(255),
      added: fc.oneof(
        fc.constant(new Uint8Array()),
        fc.uint8Array({ maxLength: 40 }),
        text(1, 500).map((one) => Buffer.from(one)),
      ),
      keep: fc.integer({ min: 1, max: 40 }),
    })
    .map(({ from: [operation, cursor], at, byte, added, keep }) => {
      const bytes = Buffer.concat([Buffer.from(cursor, 'base64url').subarray(0, keep), added])
      if (at < bytes.length) bytes[at] = byte
      return { operation, cursor: bytes.toString('base64url') }
    })
    .filter(({ cursor }) => cursor !== '')
}

export async function expectPageOrRejection(
  { operation, cursor }: Tampered,
  via: Recorder,
  fixture: ServiceFixture,
): Promise<void> {
  const { status, body } = await via.send(minimalRequest(operation, fixture, { query: [['cursor', cursor]] }))
  if (status === 200) return
  if ((body as { code: string }).code !== 'invalid_cursor')
    throw new Complaint('rejected with the wrong code or field', 'not invalid_cursor')
}

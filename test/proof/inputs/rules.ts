// Rules that hold for every operation and are about more than one value: methods, addresses, what is gone, whose is whose.
import { METHODS } from 'node:http'
import * as fc from 'fast-check'
import { writeObject } from './bodies.ts'
import { ADDRESSES, makerOf, type Operation, OPERATIONS, readerOf } from './document.ts'
import type { NegativeInput } from './negative.ts'
import { Complaint, type Recorder } from './runner.ts'
import { make, type RequestChoices, type ServiceFixture, toRequest } from './fixture.ts'
import { text } from './texts.ts'
import { edgesOf } from './values.ts'
import { JSON_TYPE } from './unreadable.ts'

/** What the interface promises, whatever the source says. */
const BODY_LIMIT_BYTES = 1_048_576
const NOTHING = '9000000000000000000'

/** The least that an operation takes; what it refers to exists. */
export function minimalRequest(
  operation: Operation,
  fixture: ServiceFixture,
  choices: Partial<RequestChoices> = {},
) {
  const { body, pathParameter } = operation
  const members = (body?.required ?? []).map((name): [string, string] => [
    name,
    fixture.existing[name]?.id ?? edgesOf(body?.fields[name] ?? {})[0]?.json ?? '',
  ])
  return toRequest(operation, {
    key: fixture.key,
    id: fixture.existing[pathParameter ?? '']?.id ?? '1',
    ...(body && { headers: [JSON_TYPE], body: Buffer.from(writeObject(members)) }),
    ...choices,
  })
}

export interface MethodInput extends NegativeInput {
  /** What `Allow` must say. */
  allow: string
}

/** Every method that Node can read, on every address that does not answer it. */
export function otherMethods(fixture: ServiceFixture): MethodInput[] {
  return [...ADDRESSES].flatMap(([path, allowed]) => {
    const operation = OPERATIONS.find((one) => one.path === path) as Operation
    // CONNECT has no address, so it has no answer of this kind; `self` is no id, but where an id may stand.
    const isDone = (method: string) =>
      OPERATIONS.some((one) => one.method === method && patternOf(one.path).test(path))
    const others = METHODS.filter(
      (method) => !allowed.includes(method) && !isDone(method) && method !== 'CONNECT',
    )
    const ids =
      operation.pathParameter === undefined
        ? ['']
        : [fixture.existing[operation.pathParameter]?.id ?? '1', 'abc', NOTHING]
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

/** Ids that are more than an id: what stands behind a question mark is no part of it, a slash makes another address. */
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
  return OPERATIONS.filter(({ pathParameter }) => pathParameter !== undefined).flatMap((operation) =>
    [
      ...DYNAMIC.map((suffix) => NOTHING + suffix),
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

/** What the document says about an address that names nothing; undefined where it would be accepted. */
function codeAt(method: string, target: string): string | undefined {
  const [path = ''] = target.slice('/v1'.length).split(/[?#]/, 1)
  const operations = OPERATIONS.filter((one) => patternOf(one.path).test(path))
  if (operations.length === 0) return 'route_not_found'
  const operation = operations.find((one) => one.method === method)
  if (operation === undefined) return 'method_not_allowed'
  const isFree = makerOf(operation.pathParameter) === undefined
  return isFree && path.endsWith(`/${NOTHING}`)
    ? undefined
    : operation.pathParameter === undefined
      ? undefined
      : operation.notFound
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/, '[^/]*')}$`)
}

/** One byte more than a body may have, valid but for that. */
export function tooLarge(fixture: ServiceFixture): NegativeInput[] {
  return OPERATIONS.filter(({ method }) => method !== 'GET').map((operation) => {
    const { body = Buffer.from('{}') } = minimalRequest(operation, fixture)
    const padded = Buffer.concat([body, Buffer.alloc(BODY_LIMIT_BYTES + 1 - body.length, ' ')])
    const request = minimalRequest(operation, fixture, { headers: [JSON_TYPE], body: padded })
    return { operation, kind: 'a body of one byte too many', request, expected: [{ code: 'body_too_large' }] }
  })
}

/** After something is gone, whoever names it is told so, in whatever way. */
export async function usesAfterFree(
  remover: Operation,
  fixture: ServiceFixture,
  via: Recorder,
): Promise<NegativeInput[]> {
  const idName = remover.pathParameter as string
  const { id } = await make(fixture, via, makerOf(idName) as Operation)
  const { status } = await via.send(minimalRequest(remover, fixture, { id }))
  if (status !== 204) throw new Error(`${remover.id} answered ${status}`)
  // Where nothing reads it, what is removed stays listed, and removing it again is the same answer.
  const stays = readerOf(remover) === undefined
  const byAddress = OPERATIONS.filter((one) => one.pathParameter === idName && !(stays && one === remover))
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

/** The cursor to the second page of every list; the history of what nobody changed has one page. */
export async function someCursors(fixture: ServiceFixture, via: Recorder): Promise<Map<Operation, string>> {
  const cursors = new Map<Operation, string>()
  for (const list of LISTS) {
    const response = await via.send(minimalRequest(list, fixture, { query: [['limit', '1']] }))
    const cursor = /[?&]cursor=([^&>]+)/.exec(response.headers.get('link') ?? '')?.[1]
    if (cursor !== undefined) cursors.set(list, cursor)
  }
  if (cursors.size < LISTS.length - 1) throw new Error(`only ${cursors.size} lists have a second page`)
  return cursors
}

/** Cursors of one list, offered to every other, and to the same one with another filter. */
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
      .map(([name, schema]) =>
        input(from, [
          ['cursor', cursor],
          [name, String(edgesOf(schema)[0]?.value)],
        ]),
      ),
  ])
}

export interface Tampered {
  operation: Operation
  cursor: string
}

/** Cursors of ours with bytes changed, added or lost: another place of the list, or none, but never a failure. */
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

export async function expectPageOrRefusal(
  { operation, cursor }: Tampered,
  via: Recorder,
  fixture: ServiceFixture,
): Promise<void> {
  const { status, body } = await via.send(minimalRequest(operation, fixture, { query: [['cursor', cursor]] }))
  if (status === 200) return
  if ((body as { code: string }).code !== 'invalid_cursor')
    throw new Complaint('refused with another code or field', 'not invalid_cursor')
}

// Sends an input that must be accepted, and checks that reads return what was sent.
import { assert } from 'vitest'
import type { TestResponse } from '../../support/client.ts'
import { linkTo } from '../../support/pets.ts'
import {
  findOperation,
  isOnOwnKey,
  listOf,
  makerOf,
  type Operation,
  OPERATIONS,
  readerOf,
  resolve,
  type Schema,
} from './document.ts'
import {
  isReference,
  type Made,
  make,
  type RequestChoices,
  type ServiceFixture,
  toRequest,
} from './fixture.ts'
import { tokenOf, type PositiveInput, TAG } from './positive.ts'
import { Complaint, counts, type Recorder } from './runner.ts'

type Item = Record<string, unknown>

/** The values that were sent for an item, or `deleted`. */
type Sent = Item | 'deleted'
export type Things = Map<string, Sent>
/** Acknowledged changes, by the list that must show them. */
export type Acknowledged = Map<Operation, Things>

/** A key that is valid for this long is still valid when it is read, even on a busy host. */
const LASTING_SECONDS = 3_600n

const named = new Set<bigint>()
let keysUsed = 0

export async function expectAcceptance(
  input: PositiveInput,
  via: Recorder,
  fixture: ServiceFixture,
  done: Acknowledged,
): Promise<void> {
  const { operation } = input
  if (input.id !== undefined) {
    // The order of two concurrent inputs with the same id is unknown.
    if (named.has(input.id)) return
    named.add(input.id)
  }
  counts['positive inputs'] += 1
  const maker = makerOf(operation.pathParameter)
  const made = maker && (await make(fixture, via, maker))
  const { choices, values } = await complete(input, made, via, fixture)
  const request = toRequest(operation, choices)
  const response = await via.send(request)
  const [repeated = 0, first = repeated] = operation.success
  expectStatus(response, first)
  expectRequestId(input, response)
  if (input.alsoHead) await expectSameHead(request, response, via)
  if (Array.isArray(response.body)) return expectList(operation, input.query, response, via, fixture)

  const { body } = response as { body: Item }
  if (operation.method === 'GET') {
    const { secret: _secret, ...readable } = (made?.response.body ?? {}) as Item
    const isItem = readerOf(operation) === operation && operation.path.endsWith('}')
    // What is included stands beside the item.
    const own = 'include' in input.query ? pickOf(body, Object.keys(readable)) : body
    if (made !== undefined && isItem) assert.deepEqual(own, readable)
    return
  }
  const returned = response.status === 204 ? undefined : (plain(body['id']) as string | undefined)
  const id = returned ?? made?.id
  const kept = pick(values, listOf(operation))
  if (response.status === 204) note(done, operation, id, readerOf(operation) ? 'deleted' : {})
  else note(done, operation, id, kept)
  if (response.status !== 204) expectKept(values, body)
  if (response.status !== 204 && Array.isArray(body['results']))
    await expectResults(values, body['results'] as Item[], via, fixture, done)
  await expectReadBack(operation, { id: id ?? '', values, response, made }, via, fixture)
  if (input.idempotencyKey !== undefined) {
    const replayed = await via.send(request)
    expectStatus(replayed, first)
    assert.equal(replayed.headers.get('idempotency-replayed'), 'true')
    assert.equal(replayed.text, response.text, 'a replay differs from the first response')
  }
  if (first !== repeated) {
    const second = await via.send(request)
    expectStatus(second, repeated)
    assert.deepEqual(second.body, body)
  }
}

function pickOf(item: Item, names: string[]): Item {
  return Object.fromEntries(names.map((name) => [name, item[name]]))
}

/** Creates everything that the input refers to, and returns the request. */
async function complete(
  input: PositiveInput,
  made: Made | undefined,
  via: Recorder,
  fixture: ServiceFixture,
): Promise<{ choices: RequestChoices; values: Item }> {
  const { operation, json, values } = input
  const headers = [...input.headers]
  if (input.idempotencyKey !== undefined)
    headers.push(['Idempotency-Key', `${input.idempotencyKey}-${keysUsed++}`])
  if (input.ifMatch !== undefined) {
    const etag = input.ifMatch.includes(TAG) ? await etagOf(operation, made, via, fixture) : ''
    headers.push(['If-Match', input.ifMatch.replace(TAG, etag)])
  }
  let text = json
  const meant = { ...values }
  for (const name of Object.keys(operation.body?.fields ?? {}).filter(isReference)) {
    const { id } = await make(fixture, via, makerOf(name) as Operation)
    text = text?.replace(tokenOf(name), id)
    meant[name] = BigInt(id)
  }
  const body = text === undefined ? undefined : Buffer.from(text)
  return {
    choices: {
      key: isOnOwnKey(operation) ? await newKey(fixture, via) : fixture.key,
      id: String(input.id ?? made?.id),
      query: input.pairs,
      headers,
      body,
    },
    values: meant,
  }
}

/** The version of what the operation changes, which is a part of the item or the item itself. */
async function etagOf(
  operation: Operation,
  made: Made | undefined,
  via: Recorder,
  fixture: ServiceFixture,
): Promise<string> {
  const reader = findOperation('GET', operation.path)
  if (reader === undefined || made === undefined) return made?.etag ?? ''
  const { headers } = await via.send(toRequest(reader, { key: fixture.key, id: made.id }))
  return headers.get('etag') ?? ''
}

async function newKey(fixture: ServiceFixture, via: Recorder): Promise<string> {
  const { response } = await make(fixture, via, makerOf('apiKeyId') as Operation)
  return (response.body as { key: string }).key
}

function expectStatus({ status }: TestResponse, expected: number): void {
  if (status >= 400) throw new Complaint('wrongly rejected', `rejected instead of ${expected}`)
  assert.equal(status, expected)
}

function expectRequestId({ headers }: PositiveInput, response: TestResponse): void {
  const sent = headers.find(([name]) => name === 'X-Request-Id')?.[1]
  if (sent !== undefined) assert.equal(response.headers.get('x-request-id'), sent)
}

async function expectSameHead(
  request: ReturnType<typeof toRequest>,
  response: TestResponse,
  via: Recorder,
): Promise<void> {
  const head = await via.send({ ...request, method: 'HEAD' })
  assert.equal(head.status, response.status)
  assert.equal(head.headers.get('etag'), response.headers.get('etag'))
}

/** Integers as text, because small ones are numbers here and large ones bigints. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
}

/** Fields that are returned in another form than sent. */
const DERIVED: Record<string, (body: Item) => number> = {
  holdMinutes: ({ createdAt, expiresAt }) => (timeOf(expiresAt) - timeOf(createdAt)) / 60_000,
  expiresInSeconds: ({ createdAt, expiresAt }) => (timeOf(expiresAt) - timeOf(createdAt)) / 1000,
}

function timeOf(value: unknown): number {
  return new Date(value as string).getTime()
}

function expectKept(values: Item, body: Item): void {
  for (const [name, value] of Object.entries(values)) {
    const derive = DERIVED[name]
    if (derive !== undefined)
      assert.equal(String(derive(body)), String(value), `${name} is not what was sent`)
    else if (name in body) assert.deepEqual(plain(body[name]), plain(value), `${name} is not what was sent`)
  }
}

/**
 * One result for each item of the only list of the body. An item without values has a fault. An item with values creates a
 * pet; its parts, such as its profile, are read back.
 */
async function expectResults(
  values: Item,
  results: Item[],
  via: Recorder,
  fixture: ServiceFixture,
  done: Acknowledged,
): Promise<void> {
  const [items] = Object.values(values) as Item[][]
  assert.equal(results.length, items?.length)
  const maker = makerOf('petId') as Operation
  for (const [index, { status, pet, error }] of results.entries()) {
    const [wanted] = Object.values(items?.[index] ?? {}) as Item[]
    if (wanted === undefined) {
      assert.equal(status, 400)
      assert.equal((error as Item)['code'], 'invalid_body')
      continue
    }
    assert.equal(status, 201)
    expectKept(wanted, pet as Item)
    const id = String((pet as Item)['id'])
    note(done, maker, id, pick(wanted, listOf(maker)))
    for (const [name, part] of Object.entries(wanted)) {
      if (typeof part !== 'object' || part === null) continue
      const reader = findOperation('GET', `${maker.path}/{petId}/${name}`) as Operation
      const read = await via.send(toRequest(reader, { key: fixture.key, id }))
      expectStatus(read, 200)
      expectKept(part as Item, read.body as Item)
    }
  }
}

interface Done {
  id: string
  values: Item
  response: TestResponse
  made: Made | undefined
}

async function expectReadBack(
  operation: Operation,
  { id, values, response, made }: Done,
  via: Recorder,
  fixture: ServiceFixture,
): Promise<void> {
  const get = (path: string, key = fixture.key) =>
    via.send({ method: 'GET', target: path, headers: [], authorization: [`Bearer ${key}`], body: undefined })
  const reader = readerOf(operation)
  const location = response.headers.get('location')
  if (reader !== undefined) {
    const read = await get(location ?? toRequest(reader, { key: '', id }).target)
    if (response.status === 204)
      assert.equal((read.body as { code: string }).code, reader.notFound, 'deleted, but still found')
    else {
      expectStatus(read, 200)
      // Only the response contains a secret.
      const { secret: _secret, ...readable } = response.body as Item
      if (Object.keys(readable).length > 0)
        assert.deepEqual(read.body, readable, 'a read differs from the response')
    }
  }
  const { key, name, scopes } = (response.body ?? {}) as { key?: string; name?: string; scopes?: string[] }
  if (
    key !== undefined &&
    ((values['expiresInSeconds'] as bigint | undefined) ?? LASTING_SECONDS) >= LASTING_SECONDS
  ) {
    const own = OPERATIONS.find(
      ({ scope, response: returned }) => scope === 'any' && 'scopes' in (returned?.properties ?? {}),
    ) as Operation
    const read = await get(toRequest(own, { key: '' }).target, key)
    expectStatus(read, 200)
    assert.deepInclude(read.body as Item, { name, scopes })
  }
  if ('reason' in values) await expectReason(operation, id, values, response, made, get)
}

/** The history must contain the reason in the entry of its change. */
async function expectReason(
  { path }: Operation,
  id: string,
  { reason, ...changes }: Item,
  response: TestResponse,
  made: Made | undefined,
  get: (path: string) => Promise<TestResponse>,
): Promise<void> {
  const before = made?.response.body as Item
  const isChange = Object.entries(changes).some(([name, value]) => plain(before[name]) !== plain(value))
  const history = OPERATIONS.find(
    (other) =>
      other.method === 'GET' && other.path.startsWith(`${path}/`) && other.response?.type === 'array',
  )
  // Of a sale, only the ledger shows it.
  if (history === undefined) return
  const { body } = await get(toRequest(history, { key: '', id }).target)
  const requestId = response.headers.get('x-request-id')
  const entry = (body as Item[]).find((one) => one['requestId'] === requestId)
  assert.equal(entry?.['reason'], isChange ? reason : undefined, 'the reason is not what was sent')
}

/** Every item must match the filters, and the next page must continue where this one ends. */
async function expectList(
  operation: Operation,
  query: Item,
  response: TestResponse,
  via: Recorder,
  fixture: ServiceFixture,
): Promise<void> {
  const items = response.body as Item[]
  const itemSchema = resolve(operation.response?.items as Schema)
  const { default: usual, maximum } = (operation.query['limit'] ?? {}) as {
    default?: number
    maximum?: number
  }
  const isById = query['id'] !== undefined
  const limit = Number(query['limit'] ?? (isById ? maximum : usual) ?? operation.response?.maxItems)
  assert.isAtMost(items.length, limit, 'more than the limit')
  for (const [name, value] of Object.entries(query)) {
    if (name === 'name' || !(name in (itemSchema.properties ?? {}))) continue
    const wanted = [value].flat().map(String)
    for (const item of items) assert.include(wanted, String(item[name]), `${name} does not match the filter`)
  }
  const ids = items.map(({ id }) => id as number | bigint | undefined)
  const next = linkTo('next', response, 'http://petstore.test')
  if (next === undefined) return
  // The event feed has no last page: after the newest event, a page is empty. Some lists of pets can stop before a page is full.
  const canBeShort =
    'after' in operation.query || Object.keys(query).some((name) => operation.canBeShort.has(name))
  if (canBeShort && items.length < limit) return
  assert.equal(items.length, limit, 'a page that is not full has a next page')
  const page = await via.send({
    method: 'GET',
    target: next,
    headers: [],
    authorization: [`Bearer ${fixture.key}`],
    body: undefined,
  })
  expectStatus(page, 200)
  if (!canBeShort) assert.isNotEmpty(page.body as Item[], 'the next page is empty')
  for (const { id } of page.body as Item[]) if (id !== undefined) assert.notInclude(ids, id, 'on two pages')
}

function pick(values: Item, list: Operation | undefined): Item {
  const { properties = {} } = resolve(list?.response?.items ?? {})
  // Ignore the status, which orders change: an order holds a pet, and releases it when it ends.
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => name in properties && name !== 'status'),
  )
}

function note(done: Acknowledged, operation: Operation, id: string | undefined, values: Sent): void {
  const list = listOf(operation)
  if (list === undefined || id === undefined) return
  const things: Things = done.get(list) ?? new Map()
  done.set(list, things.set(id, values))
}

/** Reads a whole list: it must have every acknowledged item as sent, and no deleted one. */
export async function expectWholeList(
  list: Operation,
  done: Things,
  via: Recorder,
  fixture: ServiceFixture,
): Promise<void> {
  const listed = new Map<string, Item>()
  let target: string | undefined = toRequest(list, { key: '', query: [['limit', '100']] }).target
  while (target !== undefined) {
    const page = await via.send({
      method: 'GET',
      target,
      headers: [],
      authorization: [`Bearer ${fixture.key}`],
      body: undefined,
    })
    expectStatus(page, 200)
    for (const item of page.body as Item[]) listed.set(String(item['id']), item)
    target = linkTo('next', page, 'http://petstore.test')
  }
  for (const [id, values] of done) {
    if (values === 'deleted') assert.isFalse(listed.has(id), `${list.id} still has ${id}`)
    else expectKept(values, listed.get(id) ?? assert.fail(`${list.id} has lost ${id}`))
  }
}

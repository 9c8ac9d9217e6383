// Two instances of the service on one database, and the reference model. Sends each call to an instance and to the model,
// and compares the responses.
import { inspect } from 'node:util'
import { Client } from 'pg'
import { afterAll, expect } from 'vitest'
import { apiKeyVerifier } from '../../../src/access/api-keys/api-keys.ts'
import { SCOPES } from '../../../src/contract/scopes.ts'
import type { Db } from '../../../src/db/database.ts'
import { writePosition } from '../../../src/events/feed/format.ts'
import { findFeedState } from '../../../src/events/feed/queries.ts'
import { type Holds, trackHolds } from '../../../src/store/holds/sweep.ts'
import { openLog } from '../../../src/telemetry/log.ts'
import { issueApiKey, startApp } from '../../support/app.ts'
import type { TestResponse, TestClient } from '../../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../../support/database.ts'
import { numberAllEvents } from '../../support/feed-audit.ts'
import { asSuperuser } from '../../support/roles.ts'
import { keepLog, type KeptLog } from '../../support/test-log.ts'
import { countLate, isUnknown, mayBeLate, retryWhileLate, workInTime } from '../late.ts'
import { mayBeCached, rejectCaller } from './reference/api-keys.ts'
import type { List, Place } from './reference/lists.ts'
import { HOLD_MINUTES } from './reference/orders.ts'
import {
  type ApiKey,
  type Caller,
  emptyStore,
  type Expected,
  nameOf,
  reject,
  type Seen,
  type Store,
  withNames,
} from './reference/store.ts'

export interface Instance {
  client: TestClient
  db: Db
  holds: Holds
}

/** Shared by all sequences of the file. */
export interface Fixture {
  instances: readonly [Instance, Instance]
  /** Has every scope, and is never revoked. */
  staff: ApiKey
  /** All keys that exist before the first command, the staff key last. */
  apiKeys: readonly ApiKey[]
  /** The names of their programs. */
  names: ReadonlyMap<number, string>
  /** Runs SQL as a superuser: to let time pass, and for the audit. */
  query: <Row>(text: string, values?: unknown[]) => Promise<Row[]>
  clock: { ms: number }
  /** The log of both instances since the start of the sequence. */
  kept: KeptLog
  /** How often each operation was called, and which error codes were returned. */
  called: Map<string, number>
  rejections: Set<string>
}

/** The state of one sequence of commands. */
export interface Session extends Fixture {
  store: Store
  /** The position of the feed at which the store was empty. */
  feedStart: string
  /** The event that was seen at each position. */
  positions: Map<string, string>
  /** Pages that have a next page, newest last. */
  cursors: { list: List; after: Place; cursor: string }[]
  /** Every call and its response, for the report of a failure. */
  calls: string[]
}

/** The instance and the API key of a call. */
export interface Sender {
  at: 0 | 1
  /** The n-th newest key that was created; `staff` has every scope, `anonymous` sends no key. */
  as: 'staff' | 'anonymous' | number
}

export async function openFixture(): Promise<Fixture> {
  const databaseUrl = await createTestDatabase()
  // Only commands advance this clock, so that caches stay valid until a command expires them.
  const clock = { ms: 0 }
  const kept = keepLog()
  const open = async (): Promise<Instance> => {
    const db = openTestDatabase(databaseUrl, 3)
    const holds = trackHolds(db, openLog('silent'), () => clock.ms)
    const verifyApiKey = apiKeyVerifier(db, 'production', () => clock.ms)
    const client = await startApp(db, { log: kept.log, holds, verifyApiKey, holdMinutes: HOLD_MINUTES })
    return { client, db, holds }
  }
  const instances = [await open(), await open()] as const
  const issued = await issueApiKey(instances[0].db, { name: 'staff', scopes: SCOPES })
  const owner = new Client(asSuperuser(databaseUrl))
  await owner.connect()
  afterAll(() => owner.end())
  const query = async <Row>(text: string, values: unknown[] = []) =>
    (await owner.query(text, values)).rows as Row[]
  const rows = await query<{ id: string; actor_id: string; scopes: string[]; created_at: Date }>(
    'select id, actor_id, scopes, created_at from api_keys order by id',
  )
  const actors = await query<{ id: string; name: string }>('select id, name from actors')
  const apiKeys = rows.map(({ id, actor_id, scopes, created_at }) => ({
    id: Number(id),
    actorId: Number(actor_id),
    scopes,
    text: id === String(issued.id) ? issued.text : '',
    createdAt: created_at.toISOString(),
    isRevoked: false,
  }))
  return {
    instances,
    staff: apiKeys.at(-1) as ApiKey,
    apiKeys,
    names: new Map(actors.map(({ id, name }) => [Number(id), name])),
    query,
    clock,
    kept,
    called: new Map(),
    rejections: new Set(),
  }
}

/** Starts a sequence on an empty store. */
export async function openSession(fixture: Fixture): Promise<Session> {
  const { staff, apiKeys, names, clock, kept, query } = fixture
  kept.clear()
  // Delete the rows, because truncating would take ten times as long. Deleting the pets also resets the counts.
  await query(`
    set session_replication_role = replica; delete from entries; delete from day_closings;
    set session_replication_role = origin;
    delete from orders; delete from pets; delete from categories; delete from idempotency_keys;
    delete from pet_count_deltas; delete from pet_counts_by_category; update pet_counts set count = 0;
    delete from webhooks; delete from api_keys where id > ${staff.id}; delete from actors where id > ${staff.actorId};
    update store_settings set version = 1, name = '', address = '', receipt_text = '', is_tax_invoice = false,
      time_zone = 'Europe/Berlin';
    select setval(pg_get_serial_sequence('api_keys', 'id'), ${staff.id}),
      setval('pets_id_seq', 1, false), setval(pg_get_serial_sequence('orders', 'id'), 1, false),
      setval(pg_get_serial_sequence('entries', 'id'), 1, false),
      setval(pg_get_serial_sequence('webhooks', 'id'), 1, false)`)
  clock.ms += SECOND_PAST_MS
  const store = emptyStore()
  for (const apiKey of apiKeys) store.apiKeys.set(apiKey.id, apiKey)
  for (const [actorId, name] of names) store.actors.set(actorId, name)
  Object.assign(store.newestIds, { apiKey: staff.id, actor: staff.actorId })
  // The service has also recorded the deletions above.
  const [{ db }] = fixture.instances
  const { epoch, head } = await workInTime(async () => {
    await numberAllEvents(db)
    return findFeedState(db)
  })
  const feedStart = writePosition({ epoch, number: head })
  const session = { ...fixture, store, feedStart, positions: new Map(), cursors: [], calls: [] }
  await setTillClock(session, store.till.now)
  return session
}

/** Nobody knows whether the service has made a change, because the host is busy. The sequence must start again. */
export class UnknownOutcome extends Error {}

/** Waits until no instance still works on a request. */
export async function settle({ instances }: Fixture): Promise<void> {
  for (const { db } of instances) {
    const isIdle = () => db.connections().idle === db.connections().total && db.connections().waiting === 0
    await expect.poll(isIdle).toBe(true)
  }
}

/** Sets the clock of the till in the database and in the model. */
export async function setTillClock({ query, store, calls }: Session, now: number): Promise<void> {
  store.till.now = now
  const time = new Date(now).toISOString()
  await query(
    `create or replace function till_now() returns timestamptz language sql volatile return timestamptz '${time}'`,
  )
  calls.push(`the clock of the till says ${time}`)
}

/** Gives the entries that the model has just written their ids, which no response may have told. */
async function numberEntries({ query, store }: Session): Promise<void> {
  const written = store.entries.filter(({ id }) => id === undefined)
  if (written.length === 0) return
  const rows = await query<{ id: number; order_id: string }>(
    'select id::int, order_id from entries where id > $1 order by id',
    [store.newestIds.entry],
  )
  const ordersOf = (orders: unknown[]) => orders.map(Number).toSorted((a, b) => a - b)
  requireSame(
    'orders of the new entries',
    ordersOf(rows.map(({ order_id }) => order_id)),
    ordersOf(written.map(({ orderId }) => orderId)),
  )
  for (const entry of written) {
    entry.id = rows.find(({ order_id }) => Number(order_id) === entry.orderId)?.id
  }
  // One request can refund several pets in any order.
  store.entries.sort((a, b) => (a.id ?? 0) - (b.id ?? 0))
  store.newestIds.entry = rows.at(-1)?.id ?? 0
}

const SECOND_PAST_MS = 1_001

export function passSecond({ clock, store, calls }: Session): void {
  clock.ms += SECOND_PAST_MS
  store.second += 1
  calls.push('a second passes')
}

export interface Call {
  operation: string
  scope: string
  method: string
  path: string
  body?: Record<string, unknown>
  headers?: Record<string, string | undefined>
}

/** Calls the service, then the model, and compares. */
export async function callBoth(
  session: Session,
  { at, as }: Sender,
  call: Call,
  callModel: (caller: Caller, seen: Seen, apiKey: ApiKey) => Expected,
): Promise<TestResponse> {
  const { store, calls, called, rejections } = session
  const apiKey = apiKeyOf(session, as)
  const requestId = `call-${calls.length + 1}`
  const description = `${'AB'[at]}, as ${store.actors.get(apiKey?.actorId ?? 0) ?? 'anonymous'}: ${describeCall(call)}`
  const place = calls.push(description) - 1
  called.set(call.operation, (called.get(call.operation) ?? 0) + 1)
  const startedAt = performance.now()
  const response = await retryWhileLate(() =>
    session.instances[at].client.call(call.method, `/v1${call.path}`, {
      apiKey: apiKey?.text ?? null,
      headers: { 'x-request-id': requestId, ...givenHeaders(call) },
      ...(call.body !== undefined && { body: toJson(call.body) }),
    }),
  )
  if (isUnknown(response) && mayBeLate(startedAt)) {
    countLate()
    throw new UnknownOutcome()
  }
  calls[place] = `${description} -> ${describeResponse(response)}`
  if (apiKey === undefined) {
    compare(rejections, response, reject('missing_api_key'))
  } else if (!(mayBeCached(store, apiKey) && response.status === 401)) {
    const caller = { actorId: apiKey.actorId, name: nameOf(apiKey.actorId), scopes: apiKey.scopes, requestId }
    const expected =
      rejectCaller(store, apiKey, call.scope) ?? callModel(caller, response.body as Seen, apiKey)
    compare(rejections, response, { ...expected, body: withNames(store, expected.body) })
    await numberEntries(session)
  }
  return response
}

function compare(rejections: Set<string>, { status, body, headers }: TestResponse, expected: Expected): void {
  const code = (body as { code?: string } | undefined)?.code
  const seen = status < 400 ? { status } : { status, code }
  requireSame('response', seen, {
    status: expected.status,
    ...(expected.code !== undefined && { code: expected.code }),
  })
  if (expected.code !== undefined) rejections.add(expected.code)
  if (expected.body !== undefined) requireSame('body', body, expected.body)
  if (expected.etag !== undefined) requireSame('ETag', headers.get('etag'), expected.etag)
  if (expected.replayed !== undefined)
    requireSame(
      'Idempotency-Replayed',
      headers.get('idempotency-replayed'),
      expected.replayed ? 'true' : null,
    )
}

/** Throws both values if they differ. */
export function requireSame(what: string, seen: unknown, expected: unknown): void {
  try {
    expect(seen).toEqual(expected)
  } catch {
    const show = (value: unknown) => inspect(value, { depth: 6, breakLength: 110, sorted: true })
    throw new Error(`${what} differs from the model\nservice: ${show(seen)}\nmodel:   ${show(expected)}`)
  }
}

/** The keys that commands have created, newest first. */
export function madeApiKeys({ store, staff }: Session): ApiKey[] {
  return [...store.apiKeys.values()].filter(({ id }) => id > staff.id).toReversed()
}

function apiKeyOf(session: Session, as: Sender['as']): ApiKey | undefined {
  if (as === 'anonymous') return undefined
  const made = madeApiKeys(session)
  return (as === 'staff' ? undefined : made[as % made.length]) ?? session.staff
}

function givenHeaders({ headers = {} }: Call): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
}

/** As JSON with every digit of a bigint. */
function toJson(body: Record<string, unknown>): string {
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }
  return JSON.stringify(body, (_name, value: unknown) =>
    typeof value === 'bigint' ? rawJSON(String(value)) : value,
  )
}

function describeCall(call: Call): string {
  const headers = Object.entries(givenHeaders(call)).map(([name, value]) => `${name}: ${value}`)
  const body = call.body === undefined ? [] : [toJson(call.body)]
  return [call.method, `/v1${call.path}`, ...body, ...headers].join(' ')
}

function describeResponse({ status, body }: TestResponse): string {
  const { code, id } = (body ?? {}) as { code?: string; id?: number }
  return [status, ...(code === undefined ? [] : [code]), ...(id === undefined ? [] : [`id ${id}`])].join(' ')
}

// The running service that receives the inputs: the executable on its own database, keys of every kind, and an item in
// each collection that an id can refer to.
import { afterAll } from 'vitest'
import { makeApiKeyText } from '../../../src/access/api-keys/format.ts'
import { isScope, type Scope, SCOPES } from '../../../src/contract/scopes.ts'
import { issueApiKey } from '../../support/app.ts'
import type { TestResponse } from '../../support/client.ts'
import { createTestDatabase, openTestDatabase, sql } from '../../support/database.ts'
import { startService } from '../../support/service.ts'
import { workInTime } from '../late.ts'
import { writeObject } from './bodies.ts'
import { type Connection, openConnection, type Request } from './connection.ts'
import { makerOf, type Operation, OPERATIONS } from './document.ts'
import { JSON_TYPE } from './unreadable.ts'
import { edgesOf, type Sent } from './values.ts'

export const IN_FLIGHT = 32

export interface ServiceFixture {
  connections: Connection[]
  /** A key with every scope. */
  key: string
  /** A key with every scope except this one. */
  keyWithout: (scope: string) => string
  /** Another key with the same scopes as `key`. */
  otherKey: string
  /** Well-formed keys that are not valid. */
  invalidKeys: { unknown: string; revoked: string; expired: string; staging: string }
  /** By the name of its id: an existing item, which no negative input may change. */
  existing: Record<string, Made>
  databaseUrl: string
  log: () => string
  stop: () => Promise<void>
}

export interface Made {
  id: string
  etag: string
  /** The response that returned its id. */
  response: TestResponse
}

export async function openServiceFixture(): Promise<ServiceFixture> {
  const databaseUrl = await createTestDatabase()
  const db = openTestDatabase(databaseUrl)
  const issue = async (scopes: readonly Scope[], expiresInSeconds?: number) =>
    issueApiKey(db, { name: `proof ${scopes.length}`, scopes, expiresInSeconds })
  const key = (await issue(SCOPES)).text
  const limited = new Map<string, string>()
  for (const scope of SCOPES) {
    limited.set(scope, (await issue(SCOPES.filter((other) => other !== scope))).text)
  }
  const revoked = await issue(SCOPES)
  const expired = await issue(SCOPES, 1)
  await sql(databaseUrl, 'update api_keys set revoked_at = now() where id = $1', [revoked.id])
  await sql(databaseUrl, "update api_keys set expires_at = now() - interval '1 s' where id = $1", [
    expired.id,
  ])

  const service = await startService({
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: 'error',
    WEBHOOKS_MAX: '10000',
  })
  const connections = Array.from({ length: IN_FLIGHT }, () => openConnection(service.origin))
  const stop = async () => {
    for (const connection of connections) connection.close()
    await service.stop()
  }
  afterAll(stop)
  const fixture: ServiceFixture = {
    connections,
    key,
    keyWithout: (scope) => {
      if (!isScope(scope)) throw new Error(`openapi.json names a scope that does not exist: ${scope}`)
      return limited.get(scope) ?? ''
    },
    otherKey: (await issue(SCOPES)).text,
    invalidKeys: {
      unknown: makeApiKeyText('production'),
      revoked: revoked.text,
      expired: expired.text,
      staging: makeApiKeyText('staging'),
    },
    existing: {},
    databaseUrl,
    log: service.log,
    stop,
  }
  for (const { pathParameter } of OPERATIONS) {
    const maker = makerOf(pathParameter)
    if (pathParameter === undefined || maker === undefined || pathParameter in fixture.existing) continue
    fixture.existing[pathParameter] = await workInTime(() =>
      make(fixture, connections[0] as Connection, maker),
    )
  }
  return fixture
}

export function isReference(field: string): boolean {
  return makerOf(field) !== undefined
}

/** Creates an item with the minimum that its operation accepts, and every item that it refers to. */
export async function make(
  fixture: ServiceFixture,
  connection: Pick<Connection, 'send'>,
  maker: Operation,
): Promise<Made> {
  const members: [string, string][] = []
  for (const name of maker.body?.required ?? [])
    members.push([name, (await someValue(fixture, connection, maker, name)).json])
  const response = await connection.send(
    toRequest(maker, { key: fixture.key, headers: [JSON_TYPE], body: Buffer.from(writeObject(members)) }),
  )
  if (response.status !== 201) throw new Error(`${maker.id} created nothing: ${response.text}`)
  const { id } = response.body as { id: number | bigint }
  return { id: String(id), etag: response.headers.get('etag') ?? '', response }
}

async function someValue(
  fixture: ServiceFixture,
  connection: Pick<Connection, 'send'>,
  maker: Operation,
  name: string,
): Promise<Sent> {
  const madeBy = makerOf(name)
  if (madeBy === undefined) return edgesOf(maker.body?.fields[name] ?? {})[0] as Sent
  const { id } = await make(fixture, connection, madeBy)
  return { json: id, value: BigInt(id) }
}

export interface RequestChoices {
  key: string
  /** As it appears in the URL. */
  id?: string
  /** As they appear in the URL. */
  query?: [name: string, value: string][]
  headers?: [name: string, value: string][]
  body?: Buffer | undefined
  authorization?: string[]
  method?: string
}

/** How many keys were added to requests that need one. */
let keysAdded = 0

export function toRequest(
  { method, path, pathParameter, needsKey }: Operation,
  choices: RequestChoices,
): Request {
  const { key, id = '', query = [], headers: given = [], body, authorization = [`Bearer ${key}`] } = choices
  const hasKey = given.some(([name]) => name.toLowerCase() === 'idempotency-key')
  const added: [string, string][] = needsKey && !hasKey ? [['Idempotency-Key', `added-${keysAdded++}`]] : []
  const headers = [...given, ...added]
  const own = pathParameter === undefined ? path : path.replace(`{${pathParameter}}`, () => id)
  // The item that a nested item belongs to. The first of its collection exists.
  const address = own.replace(/\{\w+\}/, '1')
  const search = query.map((pair) => pair.join('=')).join('&')
  return {
    method: choices.method ?? method,
    target: `/v1${address}${query.length === 0 ? '' : `?${search}`}`,
    headers,
    authorization,
    body,
  }
}

/** Everything in the database that a client can change, which excludes the last use of a key. */
export async function snapshot(databaseUrl: string): Promise<Record<string, string>> {
  const tables = {
    pets: 'pets',
    pet_history: 'pet_history',
    pet_profiles: 'pet_profiles',
    orders: 'orders',
    entries: 'entries',
    day_closings: 'day_closings',
    categories: 'categories',
    idempotency_keys: 'idempotency_keys',
    outbox: 'outbox',
    webhooks: 'webhooks',
    webhook_secrets: 'webhook_secrets',
    webhook_retries: 'webhook_retries',
    actors: 'actors',
    api_keys: `(select id, actor_id, scopes, rate_limit, expires_at, revoked_at from api_keys)`,
  }
  const states: Record<string, string> = {}
  for (const [table, source] of Object.entries(tables)) {
    const [row] = await sql<{ state: string }>(
      databaseUrl,
      `select count(*) || ' rows, ' || md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as state
        from ${source} as t`,
    )
    states[table] = row?.state ?? ''
  }
  return states
}

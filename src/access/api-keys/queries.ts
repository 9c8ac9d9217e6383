// SQL statements on API keys and their usage. A statement contains the hash of a key, never the key itself.
import type { ActorKind } from '../../contract/actor.ts'
import type { Caller } from '../../contract/caller.ts'
import { roleWithScopes } from '../../contract/roles.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { Reader, Tx, Writer } from '../../db/database.ts'
import { INT64_MAX } from '../../values/int64.ts'
import type { ApiKey, DeprecatedCall, NewApiKey } from './schema.ts'

interface ApiKeyRow {
  id: bigint
  actor_id: bigint
  name: string
  kind: ActorKind
  scopes: Scope[]
  rate_limit: number | null
  created_at: Date
  last_used_at: Date | null
  expires_at: Date | null
  revoked_at: Date | null
}

const COLUMNS = `api_keys.id, actor_id, actors.name, actors.kind, scopes, rate_limit, api_keys.created_at, last_used_at,
  expires_at, revoked_at`
const FROM = 'api_keys join actors on actors.id = actor_id'

const VALID = '(revoked_at is null and (expires_at is null or expires_at > now()))'
/** Lists hide personal keys that are expired or revoked. */
const LISTED = `(actors.kind = 'program' or ${VALID})`

export async function findCallersByHashes(
  db: Reader,
  hashes: readonly Buffer[],
): Promise<Map<string, Caller>> {
  const rows = await db.read<
    Pick<ApiKeyRow, 'id' | 'actor_id' | 'name' | 'scopes' | 'rate_limit'> & { hash: string }
  >({
    name: 'find_callers_by_hashes',
    bounded: 'by unique keys',
    text: `select encode(hash, 'hex') as hash, api_keys.id, actor_id, name, scopes, rate_limit
      from ${FROM}
      where hash = any($1::bytea[]) and ${VALID}`,
    values: [hashes],
  })
  return new Map(
    rows.map(({ hash, id, actor_id: actorId, name, scopes, rate_limit }) => [
      hash,
      { id, actorId, name, scopes, rateLimit: rate_limit ?? undefined },
    ]),
  )
}

/** Returns those of the keys that are neither revoked nor expired. */
export async function findValidApiKeyIds(db: Reader, ids: readonly bigint[]): Promise<Set<bigint>> {
  const rows = await db.read<{ id: bigint }>({
    name: 'find_valid_api_key_ids',
    bounded: 'by unique keys',
    text: `select id from api_keys where id = any($1::bigint[]) and ${VALID}`,
    values: [ids],
  })
  return new Set(rows.map(({ id }) => id))
}

/** A key for an actor that exists. */
export type ApiKeyToInsert = Omit<NewApiKey, 'name'> & { actorId: bigint }

export async function insertApiKey(
  tx: Tx,
  hash: Buffer,
  { actorId, scopes, rateLimit, expiresInSeconds }: ApiKeyToInsert,
): Promise<ApiKey> {
  const [row] = await tx.write<ApiKeyRow>({
    name: 'insert_api_key',
    bounded: 'by the given rows',
    text: `with inserted as (
        insert into api_keys (hash, actor_id, scopes, rate_limit, lifetime_seconds, expires_at)
        values ($1, $2, $3, $4, $5, now() + make_interval(secs => $5))
        returning *
      )
      select ${COLUMNS} from inserted as ${FROM}`,
    values: [hash, actorId, scopes, rateLimit ?? null, expiresInSeconds ?? null],
  })
  return toApiKey(row as ApiKeyRow)
}

/** Revokes the valid keys of an actor, except the newest `kept` ones. */
export async function revokeOldestApiKeys(tx: Tx, actorId: bigint, kept: number): Promise<void> {
  await tx.write({
    name: 'revoke_oldest_api_keys',
    bounded: 'by a small table',
    text: `update api_keys set revoked_at = now()
      where id = any(array(
        select id from api_keys
        where actor_id = $1 and ${VALID}
        order by id desc
        offset $2
      ))`,
    values: [actorId, kept],
  })
}

/** Deletes up to `max` personal keys that ended more than `days` ago; returns how many. */
export async function purgePersonalApiKeys(db: Writer, days: number, max: number): Promise<number> {
  const rows = await db.write({
    name: 'purge_personal_api_keys',
    bounded: 'by a small table',
    text: `delete from api_keys
      where id = any(array(
        select api_keys.id from ${FROM}
        where actors.kind = 'person' and least(expires_at, revoked_at) < now() - make_interval(days => $1)
        order by api_keys.id
        limit $2
        for update of api_keys skip locked
      ))
      returning 1`,
    values: [days, max],
    isIdempotent: true,
  })
  return rows.length
}

/** `withEnded` includes expired and revoked personal keys. */
export async function findAllApiKeys(db: Reader, withEnded: boolean): Promise<ApiKey[]> {
  const rows = await db.read<ApiKeyRow>({
    name: 'find_all_api_keys',
    bounded: 'by a small table',
    text: `select ${COLUMNS} from ${FROM} where $1 or ${LISTED} order by api_keys.id`,
    values: [withEnded],
  })
  return rows.map(toApiKey)
}

export async function findApiKeysByIds(db: Reader, ids: readonly bigint[]): Promise<ApiKey[]> {
  const rows = await db.read<ApiKeyRow>({
    name: 'find_api_keys_by_ids',
    bounded: 'by unique keys',
    text: `select ${COLUMNS} from ${FROM} where api_keys.id = any($1::bigint[])`,
    values: [ids],
  })
  return rows.map(toApiKey)
}

/** Returns keys with an id below `beforeId`, newest first; all kinds if `kind` is undefined. */
export async function findApiKeysBefore(
  db: Reader,
  kind: ActorKind | undefined,
  beforeId: bigint | undefined,
  max: number,
): Promise<ApiKey[]> {
  const rows = await db.read<ApiKeyRow>({
    name: 'find_api_keys_before',
    bounded: 'by a small table',
    text: `select ${COLUMNS} from ${FROM}
      where api_keys.id < $1 and ${LISTED} and ($2::text is null or actors.kind = $2)
      order by api_keys.id desc
      limit $3`,
    values: [beforeId ?? INT64_MAX, kind ?? null, max],
  })
  return rows.map(toApiKey)
}

/** Revokes the key, unless it is already revoked, and returns the key; undefined for an unknown id. Idempotent. */
export async function setApiKeyRevoked(db: Writer, id: bigint): Promise<ApiKey | undefined> {
  const [row] = await db.write<ApiKeyRow>({
    name: 'set_api_key_revoked',
    bounded: 'by unique keys',
    text: `update api_keys set revoked_at = coalesce(revoked_at, now())
      from actors
      where api_keys.id = $1 and actors.id = actor_id
      returning ${COLUMNS}`,
    values: [id],
  })
  return row && toApiKey(row)
}

/** Renames the program that the key belongs to; returns the key. Undefined for an unknown id, and for the key of a person. */
export async function setProgramName(
  db: Writer,
  apiKeyId: bigint,
  name: string,
): Promise<ApiKey | undefined> {
  const [row] = await db.write<ApiKeyRow>({
    name: 'set_program_name',
    bounded: 'by unique keys',
    text: `update actors set name = $2
      from api_keys
      where api_keys.id = $1 and actors.id = actor_id and actors.kind = 'program'
      returning ${COLUMNS}`,
    values: [apiKeyId, name],
  })
  return row && toApiKey(row)
}

/**
 * Makes a valid key expire after the overlap, or earlier if it already expires earlier. Returns the properties of its
 * successor; undefined if the key is unknown, revoked, expired or personal.
 */
export async function retireApiKey(
  tx: Tx,
  id: bigint,
  overlapSeconds: number,
): Promise<ApiKeyToInsert | undefined> {
  const [row] = await tx.write<
    Pick<ApiKeyRow, 'actor_id' | 'scopes' | 'rate_limit'> & { lifetime_seconds: number | null }
  >({
    name: 'retire_api_key',
    bounded: 'by unique keys',
    text: `update api_keys set expires_at = least(expires_at, now() + make_interval(secs => $2))
      from actors
      where api_keys.id = $1 and ${VALID} and actors.id = actor_id and actors.kind = 'program'
      returning actor_id, scopes, rate_limit, lifetime_seconds`,
    values: [id, overlapSeconds],
  })
  if (row === undefined) return undefined
  return {
    actorId: row.actor_id,
    scopes: row.scopes,
    rateLimit: row.rate_limit ?? undefined,
    expiresInSeconds: row.lifetime_seconds ?? undefined,
  }
}

/** Saves when keys were last used. Locks the rows in the order of their ids, so that two instances cannot deadlock. */
export async function touchApiKeys(tx: Tx, used: ReadonlyMap<bigint, Date>): Promise<void> {
  await tx.write({
    name: 'touch_api_keys',
    bounded: 'by unique keys',
    text: `with used as (
        select api_keys.id, input.at
        from unnest($1::bigint[], $2::timestamptz[]) as input (id, at)
        join api_keys on api_keys.id = input.id
        order by api_keys.id
        for no key update of api_keys
      )
      update api_keys set last_used_at = greatest(last_used_at, used.at)
      from used where api_keys.id = used.id`,
    values: [[...used.keys()], [...used.values()]],
  })
}

export interface DeprecatedCalls {
  apiKeyId: bigint
  operation: string
  /** The day in UTC, such as 2026-11-15. */
  day: string
  calls: number
}

/** Ignores calls with a key that no longer exists, for example after a failover that lost it. */
export async function addDeprecatedCalls(tx: Tx, counted: readonly DeprecatedCalls[]): Promise<void> {
  await tx.write({
    name: 'add_deprecated_calls',
    bounded: 'by the given rows',
    text: `insert into deprecated_calls (api_key_id, operation, day, calls)
      select api_key_id, operation, day, calls
      from unnest($1::bigint[], $2::text[], $3::date[], $4::bigint[])
        as input (api_key_id, operation, day, calls)
      join api_keys on api_keys.id = api_key_id
      order by api_key_id, operation, day
      on conflict (api_key_id, operation, day)
      do update set calls = deprecated_calls.calls + excluded.calls`,
    values: [
      counted.map((row) => row.apiKeyId),
      counted.map((row) => row.operation),
      counted.map((row) => row.day),
      counted.map((row) => row.calls),
    ],
  })
}

/** The database does not know when an operation will be removed. */
export type DeprecatedUse = Omit<DeprecatedCall, 'removedAt'>

/** Lists calls of deprecated operations by key and operation, the most calls in the last 30 days first. */
export async function listDeprecatedUse(db: Reader, max: number): Promise<DeprecatedUse[]> {
  return db.read<DeprecatedUse>({
    name: 'list_deprecated_use',
    bounded: 'by a small table',
    text: `select api_keys.id as "apiKeyId", actors.name as actor, operation,
        sum(calls)::bigint as calls,
        coalesce(sum(calls) filter (where day > (now() at time zone 'utc')::date - 30), 0)::bigint
          as "callsLast30Days",
        min(day)::text as "firstDay", max(day)::text as "lastDay"
      from deprecated_calls
      join (${FROM}) on api_keys.id = deprecated_calls.api_key_id
      group by api_keys.id, actors.id, operation
      order by "callsLast30Days" desc, calls desc, api_keys.id, operation
      limit $1`,
    values: [max],
  })
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    actorId: row.actor_id,
    name: row.name,
    kind: row.kind,
    role: row.kind === 'person' ? roleWithScopes(row.scopes) : undefined,
    scopes: row.scopes,
    rateLimit: row.rate_limit ?? undefined,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  }
}

// SQL statements on API keys and their usage. A statement contains the hash of a key, never the key itself.
import type { Caller } from '../../contract/caller.ts'
import { roleWithScopes } from '../../contract/roles.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { Reader, Tx, Writer } from '../../db/database.ts'
import { INT64_MAX } from '../../values/int64.ts'
import type { ApiKey, ApiKeyKind, DeprecatedCall, NewApiKey, NewPersonalApiKey } from './schema.ts'

interface ApiKeyRow {
  id: bigint
  name: string
  kind: ApiKeyKind
  scopes: Scope[]
  rate_limit: number | null
  created_at: Date
  last_used_at: Date | null
  expires_at: Date | null
  revoked_at: Date | null
}

const COLUMNS = 'id, name, kind, scopes, rate_limit, created_at, last_used_at, expires_at, revoked_at'

/**
 * Lists hide personal keys that are expired or revoked. The first line is the condition of the index api_keys_listed,
 * which skips purged keys.
 */
const LISTED = `(kind = 'program' or subject is not null)
  and (kind = 'program' or (revoked_at is null and expires_at > now()))`

export async function findCallersByHashes(
  db: Reader,
  hashes: readonly Buffer[],
): Promise<Map<string, Caller>> {
  const rows = await db.read<
    Pick<ApiKeyRow, 'id' | 'name' | 'scopes' | 'rate_limit'> & {
      hash: string
      ownerId: bigint
    }
  >({
    name: 'find_callers_by_hashes',
    bounded: 'by unique keys',
    text: `select encode(hash, 'hex') as hash, id, name, scopes, rate_limit,
        coalesce(owner_id, id) as "ownerId"
      from api_keys
      where hash = any($1::bytea[])
        and revoked_at is null
        and (expires_at is null or expires_at > now())`,
    values: [hashes],
  })
  return new Map(
    rows.map(({ hash, id, name, scopes, rate_limit, ownerId }) => [
      hash,
      { id, name, scopes, rateLimit: rate_limit ?? undefined, ownerId },
    ]),
  )
}

/** Returns those of the keys that are neither revoked nor expired. */
export async function findValidApiKeyIds(db: Reader, ids: readonly bigint[]): Promise<Set<bigint>> {
  const rows = await db.read<{ id: bigint }>({
    name: 'find_valid_api_key_ids',
    bounded: 'by unique keys',
    text: `select id from api_keys
      where id = any($1::bigint[])
        and revoked_at is null
        and (expires_at is null or expires_at > now())`,
    values: [ids],
  })
  return new Set(rows.map(({ id }) => id))
}

/** `ownerId` is that of the key that this one succeeds, if there is one. */
export async function insertApiKey(
  db: Writer,
  hash: Buffer,
  { name, scopes, rateLimit, expiresInSeconds, ownerId }: NewApiKey & { ownerId?: bigint },
): Promise<ApiKey> {
  const [row] = await db.write<ApiKeyRow>({
    name: 'insert_api_key',
    bounded: 'by the given rows',
    text: `insert into api_keys (hash, name, scopes, rate_limit, lifetime_seconds, owner_id, expires_at)
      values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $5))
      returning ${COLUMNS}`,
    values: [hash, name, scopes, rateLimit ?? null, expiresInSeconds ?? null, ownerId ?? null],
  })
  return toApiKey(row as ApiKeyRow)
}

/** The owner is that of the person's newest key. That key is purged later than the responses stored for it. */
export async function insertPersonalApiKey(
  tx: Tx,
  hash: Buffer,
  { name, scopes, expiresInSeconds, subject }: NewPersonalApiKey,
): Promise<ApiKey & { ownerId: bigint }> {
  const [row] = await tx.write<ApiKeyRow & { ownerId: bigint }>({
    name: 'insert_personal_api_key',
    bounded: 'by the given rows',
    text: `insert into api_keys (kind, hash, name, scopes, subject, expires_at, owner_id)
      values ('personal', $1, $2, $3, $4, now() + make_interval(secs => $5),
        (select coalesce(owner_id, id) from api_keys where subject = $4 order by id desc limit 1))
      returning ${COLUMNS}, coalesce(owner_id, id) as "ownerId"`,
    values: [hash, name, scopes, subject, expiresInSeconds],
  })
  const { ownerId, ...inserted } = row as ApiKeyRow & { ownerId: bigint }
  return { ...toApiKey(inserted), ownerId }
}

/** Revokes the valid keys of a person, except the newest `kept` ones. */
export async function revokeOldestPersonalApiKeys(tx: Tx, subject: string, kept: number): Promise<void> {
  await tx.write({
    name: 'revoke_oldest_personal_api_keys',
    bounded: 'by a small table',
    text: `update api_keys set revoked_at = now()
      where id = any(array(
        select id from api_keys
        where subject = $1 and revoked_at is null and expires_at > now()
        order by id desc
        offset $2
      ))`,
    values: [subject, kept],
  })
}

/**
 * Purges up to `max` personal keys that ended more than `days` ago; returns how many. Removes the subject, which takes
 * the key out of all lists. The row stays, because history, orders and events show its name.
 */
export async function purgePersonalApiKeys(db: Writer, days: number, max: number): Promise<number> {
  const rows = await db.write({
    name: 'purge_personal_api_keys',
    bounded: 'by a small table',
    text: `update api_keys set subject = null
      where id = any(array(
        select id from api_keys
        where subject is not null and least(expires_at, revoked_at) < now() - make_interval(days => $1)
        order by id
        limit $2
        for no key update skip locked
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
    text: `select ${COLUMNS} from api_keys where $1 or (${LISTED}) order by id`,
    values: [withEnded],
  })
  return rows.map(toApiKey)
}

export async function findApiKeysByIds(db: Reader, ids: readonly bigint[]): Promise<ApiKey[]> {
  const rows = await db.read<ApiKeyRow>({
    name: 'find_api_keys_by_ids',
    bounded: 'by unique keys',
    text: `select ${COLUMNS} from api_keys where id = any($1::bigint[])`,
    values: [ids],
  })
  return rows.map(toApiKey)
}

/** Returns keys with an id below `beforeId`, newest first; all kinds if `kind` is undefined. */
export async function findApiKeysBefore(
  db: Reader,
  kind: ApiKeyKind | undefined,
  beforeId: bigint | undefined,
  max: number,
): Promise<ApiKey[]> {
  const rows = await db.read<ApiKeyRow>({
    name: 'find_api_keys_before',
    bounded: 'by a small table',
    text: `select ${COLUMNS} from api_keys
      where id < $1 and ${LISTED} and ($2::text is null or kind = $2)
      order by id desc
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
    text: `update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${COLUMNS}`,
    values: [id],
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
): Promise<(NewApiKey & { ownerId: bigint }) | undefined> {
  const [row] = await tx.write<
    Pick<ApiKeyRow, 'name' | 'scopes' | 'rate_limit'> & {
      lifetime_seconds: number | null
      ownerId: bigint
    }
  >({
    name: 'retire_api_key',
    bounded: 'by unique keys',
    text: `update api_keys set expires_at = least(expires_at, now() + make_interval(secs => $2))
      where id = $1 and kind = 'program' and revoked_at is null and (expires_at is null or expires_at > now())
      returning name, scopes, rate_limit, lifetime_seconds, coalesce(owner_id, id) as "ownerId"`,
    values: [id, overlapSeconds],
  })
  if (row === undefined) return undefined
  return {
    name: row.name,
    scopes: row.scopes,
    rateLimit: row.rate_limit ?? undefined,
    expiresInSeconds: row.lifetime_seconds ?? undefined,
    ownerId: row.ownerId,
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

export async function addDeprecatedCalls(tx: Tx, counted: readonly DeprecatedCalls[]): Promise<void> {
  await tx.write({
    name: 'add_deprecated_calls',
    bounded: 'by the given rows',
    text: `insert into deprecated_calls (api_key_id, operation, day, calls)
      select api_key_id, operation, day, calls
      from unnest($1::bigint[], $2::text[], $3::date[], $4::bigint[])
        as input (api_key_id, operation, day, calls)
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
    text: `select api_keys.id as "apiKeyId", api_keys.name as "apiKeyName", operation,
        sum(calls)::bigint as calls,
        coalesce(sum(calls) filter (where day > (now() at time zone 'utc')::date - 30), 0)::bigint
          as "callsLast30Days",
        min(day)::text as "firstDay", max(day)::text as "lastDay"
      from deprecated_calls
      join api_keys on api_keys.id = deprecated_calls.api_key_id
      group by api_keys.id, operation
      order by "callsLast30Days" desc, calls desc, api_keys.id, operation
      limit $1`,
    values: [max],
  })
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    role: row.kind === 'personal' ? roleWithScopes(row.scopes) : undefined,
    scopes: row.scopes,
    rateLimit: row.rate_limit ?? undefined,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  }
}

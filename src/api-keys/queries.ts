// Every statement on api_keys. Only hashes come here; no statement ever sees a key.
import type { Reader, Tx, Writer } from '../db/database.ts'
import type { ApiKey, Caller, NewApiKey, Scope } from './schema.ts'

interface ApiKeyRow {
  id: bigint
  name: string
  scopes: Scope[]
  rate_limit: number | null
  created_at: Date
  last_used_at: Date | null
  expires_at: Date | null
  revoked_at: Date | null
}

const COLUMNS = 'id, name, scopes, rate_limit, created_at, last_used_at, expires_at, revoked_at'

export async function findCallersByHashes(
  db: Reader,
  hashes: readonly Buffer[],
): Promise<Map<string, Caller>> {
  const rows = await db.read<Pick<ApiKeyRow, 'id' | 'name' | 'scopes' | 'rate_limit'> & { hash: string }>({
    name: 'find_callers_by_hashes',
    text: `select encode(hash, 'hex') as hash, id, name, scopes, rate_limit
      from api_keys
      where hash = any($1::bytea[])
        and revoked_at is null
        and (expires_at is null or expires_at > now())`,
    values: [hashes],
  })
  return new Map(
    rows.map(({ hash, id, name, scopes, rate_limit }) => [
      hash,
      { id, name, scopes, rateLimit: rate_limit ?? undefined },
    ]),
  )
}

export async function insertApiKey(db: Writer, hash: Buffer, apiKey: NewApiKey): Promise<ApiKey> {
  const [row] = await db.write<ApiKeyRow>({
    name: 'insert_api_key',
    text: `insert into api_keys (hash, name, scopes, rate_limit, expires_at)
      values ($1, $2, $3, $4, now() + make_interval(secs => $5))
      returning ${COLUMNS}`,
    values: [hash, apiKey.name, apiKey.scopes, apiKey.rateLimit ?? null, apiKey.expiresInSeconds ?? null],
  })
  return toApiKey(row as ApiKeyRow)
}

export async function listApiKeys(db: Reader): Promise<ApiKey[]> {
  const rows = await db.read<ApiKeyRow>({
    name: 'list_api_keys',
    text: `select ${COLUMNS} from api_keys order by id`,
    values: [],
  })
  return rows.map(toApiKey)
}

/** Answers the key as revoked, the first time and every time after; undefined for an unknown id. */
export async function revokeApiKey(db: Writer, id: bigint): Promise<ApiKey | undefined> {
  const [row] = await db.write<ApiKeyRow>({
    name: 'revoke_api_key',
    text: `update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${COLUMNS}`,
    values: [id],
  })
  return row && toApiKey(row)
}

/** Ends a working key after the overlap and answers what its successor takes over; undefined if none works. */
export async function retireApiKey(
  tx: Tx,
  id: bigint,
  overlapSeconds: number,
): Promise<NewApiKey | undefined> {
  const [row] = await tx.write<ApiKeyRow & { lifetime_seconds: number | null }>({
    name: 'retire_api_key',
    text: `with old as (
        select id, extract(epoch from expires_at - created_at)::float8 as lifetime_seconds
        from api_keys
        where id = $1 and revoked_at is null and (expires_at is null or expires_at > now())
        for update
      )
      update api_keys set expires_at = least(expires_at, now() + make_interval(secs => $2))
      from old where api_keys.id = old.id
      returning api_keys.name, api_keys.scopes, api_keys.rate_limit, old.lifetime_seconds`,
    values: [id, overlapSeconds],
  })
  if (row === undefined) return undefined
  return {
    name: row.name,
    scopes: row.scopes,
    rateLimit: row.rate_limit ?? undefined,
    expiresInSeconds: row.lifetime_seconds ?? undefined,
  }
}

export async function touchApiKeys(db: Writer, used: ReadonlyMap<bigint, Date>): Promise<void> {
  await db.write({
    name: 'touch_api_keys',
    text: `update api_keys set last_used_at = greatest(last_used_at, used.at)
      from unnest($1::bigint[], $2::timestamptz[]) as used (id, at)
      where api_keys.id = used.id`,
    values: [[...used.keys()], [...used.values()]],
  })
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    rateLimit: row.rate_limit ?? undefined,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  }
}

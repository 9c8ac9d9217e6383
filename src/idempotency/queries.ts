// Every statement on idempotency_keys.
import type { Tx, Writer } from '../db/database.ts'

/** A key as its client sent it, and whose it is. */
export interface ClientKey {
  apiKeyId: bigint
  key: string
}

export interface StoredResponse {
  fingerprint: Buffer
  response: string
}

/**
 * Which of the keys this transaction may work under; false at once where another one does. A plain insert would
 * wait for that other one instead, and each waiter would hold a connection. Only who tries again waits: the other
 * one is most likely its own first attempt, of which PostgreSQL has yet to notice that nobody is there.
 */
export async function lockIdempotencyKeys(tx: Tx, keys: readonly ClientKey[]): Promise<boolean[]> {
  const rows = await tx.read<{ locked: boolean }>({
    name: 'lock_idempotency_keys',
    text: `select case
        when $3 then pg_advisory_xact_lock(hashtextextended(key, api_key_id)) is not null
        else pg_try_advisory_xact_lock(hashtextextended(key, api_key_id))
      end as locked
      from unnest($1::bigint[], $2::text[]) with ordinality as input (api_key_id, key, position)
      order by position`,
    values: [...columns(keys), tx.isRetry],
  })
  return rows.map(({ locked }) => locked)
}

/** After the lock, as a statement of its own: only then does it see what the last holder committed. */
export async function findStoredResponses(
  tx: Tx,
  keys: readonly ClientKey[],
): Promise<(StoredResponse | undefined)[]> {
  const rows = await tx.read<{ position: number } & StoredResponse>({
    name: 'find_kept_answers',
    text: `select position::int, fingerprint, answer as response
      from unnest($1::bigint[], $2::text[]) with ordinality as input (api_key_id, key, position)
      join idempotency_keys using (api_key_id, key)`,
    values: columns(keys),
  })
  const byPosition = new Map(rows.map(({ position, ...kept }) => [position, kept]))
  return keys.map((_, index) => byPosition.get(index + 1))
}

export async function insertStoredResponses(
  tx: Tx,
  kept: readonly (ClientKey & StoredResponse)[],
): Promise<void> {
  await tx.write({
    name: 'insert_kept_answers',
    text: `insert into idempotency_keys (api_key_id, key, fingerprint, answer)
      select * from unnest($1::bigint[], $2::text[], $3::bytea[], $4::text[])`,
    values: [
      ...columns(kept),
      kept.map(({ fingerprint }) => fingerprint),
      kept.map(({ response }) => response),
    ],
  })
}

/** Deletes at most so many answers older than the age; answers how many. */
export async function purgeStoredResponses(db: Writer, olderThanHours: number, max: number): Promise<number> {
  const rows = await db.write({
    name: 'purge_kept_answers',
    text: `delete from idempotency_keys
      where ctid = any(array(
        select ctid from idempotency_keys
        where created_at < now() - make_interval(hours => $1)
        order by created_at
        limit $2
        for update skip locked
      ))
      returning 1`,
    values: [olderThanHours, max],
  })
  return rows.length
}

function columns(keys: readonly ClientKey[]): [bigint[], string[]] {
  return [keys.map(({ apiKeyId }) => apiKeyId), keys.map(({ key }) => key)]
}

// All SQL statements on idempotency_keys.
import type { Tx, Writer } from '../../db/database.ts'

/** An Idempotency-Key, and the actor that sent it. */
export interface ClientKey {
  actorId: bigint
  key: string
}

export interface StoredResponse {
  fingerprint: Buffer
  response: string
}

/**
 * Locks the keys for this transaction; returns false for each key that another transaction has locked. A first attempt
 * does not wait for locks, because every waiting request would occupy a connection. A retry after a lost connection
 * waits: its own first attempt probably holds the lock until PostgreSQL notices that the connection is lost.
 */
export async function lockIdempotencyKeys(tx: Tx, keys: readonly ClientKey[]): Promise<boolean[]> {
  const rows = await tx.read<{ locked: boolean }>({
    name: 'lock_idempotency_keys',
    bounded: 'without a table',
    text: `select case when $3 then pg_advisory_xact_lock(lock) is not null else pg_try_advisory_xact_lock(lock) end as locked
      from unnest($1::bigint[], $2::text[]) with ordinality as input (actor_id, key, position)
      cross join lateral idempotency_lock(actor_id, key) as lock
      order by position`,
    values: [...columns(keys), tx.isAfterLostConnection],
  })
  return rows.map(({ locked }) => locked)
}

/** Call after lockIdempotencyKeys. As a separate statement, it sees what the previous holder of a lock committed. */
export async function findStoredResponses(
  tx: Tx,
  keys: readonly ClientKey[],
): Promise<(StoredResponse | undefined)[]> {
  const rows = await tx.read<{ position: number } & StoredResponse>({
    name: 'find_stored_responses',
    bounded: 'by unique keys',
    text: `select position::int, fingerprint, response
      from unnest($1::bigint[], $2::text[]) with ordinality as input (actor_id, key, position)
      join idempotency_keys using (actor_id, key)`,
    values: columns(keys),
  })
  const byPosition = new Map(rows.map(({ position, ...stored }) => [position, stored]))
  return keys.map((_, index) => byPosition.get(index + 1))
}

export async function insertStoredResponses(
  tx: Tx,
  responses: readonly (ClientKey & StoredResponse)[],
): Promise<void> {
  await tx.write({
    name: 'insert_stored_responses',
    bounded: 'by the given rows',
    text: `insert into idempotency_keys (actor_id, key, fingerprint, response)
      select * from unnest($1::bigint[], $2::text[], $3::bytea[], $4::text[])`,
    values: [
      ...columns(responses),
      responses.map(({ fingerprint }) => fingerprint),
      responses.map(({ response }) => response),
    ],
  })
}

/** Deletes up to `max` responses that are older than `olderThanHours`; returns how many it deleted. */
export async function purgeStoredResponses(db: Writer, olderThanHours: number, max: number): Promise<number> {
  const rows = await db.write({
    name: 'purge_stored_responses',
    bounded: 'by a narrow index',
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
  return [keys.map(({ actorId }) => actorId), keys.map(({ key }) => key)]
}

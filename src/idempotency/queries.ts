// Every statement on idempotency_keys.
import type { Tx, Writer } from '../db/database.ts'

export interface KeptAnswer {
  fingerprint: Buffer
  answer: string
}

/**
 * Whether this transaction may work under the key; false at once while another one does. A plain insert
 * would wait for that other one instead, and each waiter would hold a connection.
 */
export async function lockIdempotencyKey(tx: Tx, apiKeyId: bigint, key: string): Promise<boolean> {
  const [row] = await tx.read<{ locked: boolean }>({
    name: 'lock_idempotency_key',
    text: 'select pg_try_advisory_xact_lock(hashtextextended($1, $2)) as locked',
    values: [key, apiKeyId],
  })
  return row?.locked === true
}

/** After the lock, as a statement of its own: only then does it see what the last holder committed. */
export async function findKeptAnswer(tx: Tx, apiKeyId: bigint, key: string): Promise<KeptAnswer | undefined> {
  const [row] = await tx.read<KeptAnswer>({
    name: 'find_kept_answer',
    text: 'select fingerprint, answer from idempotency_keys where api_key_id = $1 and key = $2',
    values: [apiKeyId, key],
  })
  return row
}

export async function insertKeptAnswer(
  tx: Tx,
  apiKeyId: bigint,
  key: string,
  { fingerprint, answer }: KeptAnswer,
): Promise<void> {
  await tx.write({
    name: 'insert_kept_answer',
    text: 'insert into idempotency_keys (api_key_id, key, fingerprint, answer) values ($1, $2, $3, $4)',
    values: [apiKeyId, key, fingerprint, answer],
  })
}

/** Deletes at most so many answers older than the age; answers how many. */
export async function purgeKeptAnswers(db: Writer, olderThanHours: number, most: number): Promise<number> {
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
    values: [olderThanHours, most],
  })
  return rows.length
}

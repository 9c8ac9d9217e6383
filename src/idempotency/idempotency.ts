// Repeating a request without doing it twice: the first answer is kept in the transaction that made it.
import { hash } from 'node:crypto'
import type { Db, Tx } from '../db/database.ts'
import { AppError } from '../errors.ts'
import { findKeptAnswer, insertKeptAnswer, lockIdempotencyKey, purgeKeptAnswers } from './queries.ts'

const KEPT_FOR_HOURS = 24
const PURGE_BATCH = 1_000

export interface Repeatable {
  apiKeyId: bigint
  /** What the client sent as Idempotency-Key. */
  key: string
  operation: string
  /** The validated values of the request, always in the same sequence. */
  values: readonly unknown[]
}

export interface Outcome {
  /** The JSON text of the answer. */
  answer: string
  replayed: boolean
}

/** Does the work and keeps its answer, or answers again what the same request was answered before. */
export async function doOnce(
  db: Db,
  { apiKeyId, key, operation, values }: Repeatable,
  work: (tx: Tx) => Promise<string>,
): Promise<Outcome> {
  const fingerprint = hash('sha256', JSON.stringify([operation, ...values.map(String)]), 'buffer')
  return db.transaction(async (tx) => {
    if (!(await lockIdempotencyKey(tx, apiKeyId, key))) throw new AppError('idempotency_key_in_use')
    const kept = await findKeptAnswer(tx, apiKeyId, key)
    if (kept === undefined) {
      const answer = await work(tx)
      await insertKeptAnswer(tx, apiKeyId, key, { fingerprint, answer })
      return { answer, replayed: false }
    }
    if (!kept.fingerprint.equals(fingerprint)) throw new AppError('idempotency_key_reused')
    return { answer: kept.answer, replayed: true }
  })
}

export async function purgeIdempotencyKeys(db: Db): Promise<void> {
  while ((await purgeKeptAnswers(db, KEPT_FOR_HOURS, PURGE_BATCH)) === PURGE_BATCH);
}

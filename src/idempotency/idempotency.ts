// Repeating a request without doing it twice: the first answer is kept in the transaction that made it.
import { hash } from 'node:crypto'
import type { Db, Tx } from '../db/database.ts'
import { AppError } from '../errors.ts'
import {
  type ClientKey,
  findKeptAnswers,
  insertKeptAnswers,
  lockIdempotencyKeys,
  purgeKeptAnswers,
} from './queries.ts'

const KEPT_FOR_HOURS = 24
const PURGE_BATCH = 1_000

export interface Repeatable extends ClientKey {
  operation: string
  /** The validated values of the request, always in the same sequence. */
  values: readonly unknown[]
}

/** The answer of a request, or why it has none. */
export type Outcome = { answer: string; replayed: boolean } | { refusal: AppError }

/**
 * Does the work for those requests that were not answered before and keeps its answers, all in one transaction.
 * The work is told which requests to do, and answers them in that sequence.
 */
export async function doManyOnce(
  db: Db,
  requests: readonly Repeatable[],
  work: (tx: Tx, indexes: number[]) => Promise<string[]>,
): Promise<Outcome[]> {
  const fingerprints = requests.map(fingerprintOf)
  return db.transaction(async (tx) => {
    const locked = await lockIdempotencyKeys(tx, requests)
    const kept = await findKeptAnswers(tx, requests)
    const outcomes: (Outcome | undefined)[] = requests.map((request, index) => {
      const before = kept[index]
      if (before !== undefined) {
        // A kept response never changes, so a replay does not need the lock.
        if (before.fingerprint.equals(fingerprints[index] as Buffer))
          return { answer: before.answer, replayed: true }
        return { refusal: new AppError('idempotency_key_reused') }
      }
      // The lock does not keep two requests of one transaction apart: of those the first one works.
      const isSecond = requests.findIndex((other) => isSame(other, request)) < index
      if (locked[index] !== true || isSecond) return { refusal: new AppError('idempotency_key_in_use') }
      return undefined
    })
    const todo = [...requests.keys()].filter((index) => outcomes[index] === undefined)
    if (todo.length > 0) {
      const answers = await work(tx, todo)
      const toKeep = todo.map((index, place) => ({
        ...(requests[index] as Repeatable),
        fingerprint: fingerprints[index] as Buffer,
        answer: answers[place] as string,
      }))
      await insertKeptAnswers(tx, toKeep)
      for (const [place, index] of todo.entries()) {
        outcomes[index] = { answer: answers[place] as string, replayed: false }
      }
    }
    return outcomes as Outcome[]
  })
}

/** The same for one request; throws its refusal. */
export async function doOnce(
  db: Db,
  request: Repeatable,
  work: (tx: Tx) => Promise<string>,
): Promise<{ answer: string; replayed: boolean }> {
  const [outcome] = await doManyOnce(db, [request], async (tx) => [await work(tx)])
  return orThrow(outcome as Outcome)
}

export function orThrow(outcome: Outcome): { answer: string; replayed: boolean } {
  if ('refusal' in outcome) throw outcome.refusal
  return outcome
}

export async function purgeIdempotencyKeys(db: Db): Promise<void> {
  while ((await purgeKeptAnswers(db, KEPT_FOR_HOURS, PURGE_BATCH)) === PURGE_BATCH);
}

function fingerprintOf({ operation, values }: Repeatable): Buffer {
  return hash('sha256', JSON.stringify([operation, ...values.map(String)]), 'buffer')
}

function isSame(one: ClientKey, other: ClientKey): boolean {
  return one.key === other.key && one.apiKeyId === other.apiKeyId
}

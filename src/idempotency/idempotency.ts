// Repeating a request without doing it twice: the first answer is kept in the transaction that made it.
import { hash } from 'node:crypto'
import type { Db, Tx } from '../db/database.ts'
import { AppError } from '../errors.ts'
import {
  type ClientKey,
  findStoredResponses,
  insertStoredResponses,
  lockIdempotencyKeys,
  purgeStoredResponses,
} from './queries.ts'

const KEPT_FOR_HOURS = 24
const PURGE_BATCH = 1_000

export interface IdempotentRequest extends ClientKey {
  operation: string
  /** The validated values of the request, always in the same sequence. */
  values: readonly unknown[]
}

/** The answer of a request, or why it has none. */
export type Outcome = { response: string; replayed: boolean } | { rejection: AppError }

/**
 * Does the work for those requests that were not answered before and keeps its answers, all in one transaction.
 * The work is told which requests to do, and answers them in that sequence.
 */
export async function doManyOnce(
  db: Db,
  requests: readonly IdempotentRequest[],
  work: (tx: Tx, indexes: number[]) => Promise<string[]>,
): Promise<Outcome[]> {
  const fingerprints = requests.map(fingerprintOf)
  return db.transaction(async (tx) => {
    const locked = await lockIdempotencyKeys(tx, requests)
    const kept = await findStoredResponses(tx, requests)
    const outcomes: (Outcome | undefined)[] = requests.map((request, index) => {
      const before = kept[index]
      if (before !== undefined) {
        // A kept response never changes, so a replay does not need the lock.
        if (before.fingerprint.equals(fingerprints[index] as Buffer))
          return { response: before.response, replayed: true }
        return { rejection: new AppError('idempotency_key_reused') }
      }
      // The lock does not keep two requests of one transaction apart: of those the first one works.
      const isSecond = requests.findIndex((other) => isSame(other, request)) < index
      if (locked[index] !== true || isSecond) return { rejection: new AppError('idempotency_key_in_use') }
      return undefined
    })
    const todo = [...requests.keys()].filter((index) => outcomes[index] === undefined)
    if (todo.length > 0) {
      const responses = await work(tx, todo)
      const toKeep = todo.map((index, place) => ({
        ...(requests[index] as IdempotentRequest),
        fingerprint: fingerprints[index] as Buffer,
        response: responses[place] as string,
      }))
      await insertStoredResponses(tx, toKeep)
      for (const [place, index] of todo.entries()) {
        outcomes[index] = { response: responses[place] as string, replayed: false }
      }
    }
    return outcomes as Outcome[]
  })
}

/** The same for one request; throws its refusal. */
export async function doOnce(
  db: Db,
  request: IdempotentRequest,
  work: (tx: Tx) => Promise<string>,
): Promise<{ response: string; replayed: boolean }> {
  const [outcome] = await doManyOnce(db, [request], async (tx) => [await work(tx)])
  return unwrap(outcome as Outcome)
}

export function unwrap(outcome: Outcome): { response: string; replayed: boolean } {
  if ('rejection' in outcome) throw outcome.rejection
  return outcome
}

export async function purgeIdempotencyKeys(db: Db): Promise<void> {
  while ((await purgeStoredResponses(db, KEPT_FOR_HOURS, PURGE_BATCH)) === PURGE_BATCH);
}

function fingerprintOf({ operation, values }: IdempotentRequest): Buffer {
  return hash('sha256', JSON.stringify([operation, ...values.map(String)]), 'buffer')
}

function isSame(one: ClientKey, other: ClientKey): boolean {
  return one.key === other.key && one.apiKeyId === other.apiKeyId
}

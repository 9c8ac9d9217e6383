// Idempotency-Key: the transaction that makes a change also stores the response. A retry gets the stored response.
import { hash } from 'node:crypto'
import { AppError } from '../../contract/errors.ts'
import type { Db, Tx } from '../../db/database.ts'
import { waitForStandbys } from '../../db/durable-read.ts'
import {
  type ClientKey,
  findStoredResponses,
  insertStoredResponses,
  lockIdempotencyKeys,
  purgeStoredResponses,
} from './queries.ts'

const STORED_FOR_HOURS = 24
const PURGE_BATCH = 1_000

export interface IdempotentRequest extends ClientKey {
  operation: string
  /** The validated values of the request, in the same order for every request of an operation. */
  values: readonly unknown[]
}

/** The response to a request, or the error that rejects it. */
export type OnceResult = { response: string; replayed: boolean } | { rejection: AppError }

/**
 * Runs `work` for the requests that have no stored response, and stores the new responses, all in one transaction.
 * `work` gets the indexes of these requests and returns their responses in the same order, or the error that rejects one.
 */
export async function runIdempotentBatch(
  db: Db,
  requests: readonly IdempotentRequest[],
  work: (tx: Tx, indexes: number[]) => Promise<(string | AppError)[]>,
): Promise<OnceResult[]> {
  const fingerprints = requests.map(fingerprintOf)
  return db.transaction(async (tx) => {
    const locked = await lockIdempotencyKeys(tx, requests)
    const stored = await findStoredResponses(tx, requests)
    const outcomes: (OnceResult | undefined)[] = requests.map((request, index) => {
      const before = stored[index]
      if (before !== undefined) {
        // A stored response never changes, so a replay does not need the lock.
        if (before.fingerprint.equals(fingerprints[index] as Buffer))
          return { response: before.response, replayed: true }
        return { rejection: new AppError('idempotency_key_reused') }
      }
      // Two requests in this transaction may have the same key. The lock does not stop the second, so it is rejected
      // here.
      const isSecond = requests.findIndex((other) => isSame(other, request)) < index
      if (locked[index] !== true || isSecond) return { rejection: new AppError('idempotency_key_in_use') }
      return undefined
    })
    const todo = [...requests.keys()].filter((index) => outcomes[index] === undefined)
    if (todo.length > 0) {
      const responses = await work(tx, todo)
      const toStore = todo.flatMap((index, position) => {
        const response = responses[position] as string | AppError
        outcomes[index] =
          typeof response === 'string' ? { response, replayed: false } : { rejection: response }
        if (typeof response !== 'string') return []
        const request = requests[index] as IdempotentRequest
        return [{ ...request, fingerprint: fingerprints[index] as Buffer, response }]
      })
      await insertStoredResponses(tx, toStore)
    } else if (outcomes.some((outcome) => outcome !== undefined && 'replayed' in outcome)) {
      // Without a write, the commit would not wait for the standbys: a replay must be as durable as its first response.
      await waitForStandbys(tx)
    }
    return outcomes as OnceResult[]
  })
}

/** Runs runIdempotentBatch for one request. Throws if the request is rejected. */
export async function doOnce(
  db: Db,
  request: IdempotentRequest,
  work: (tx: Tx) => Promise<string>,
): Promise<{ response: string; replayed: boolean }> {
  const [outcome] = await runIdempotentBatch(db, [request], async (tx) => [await work(tx)])
  return unwrap(outcome as OnceResult)
}

export function unwrap(outcome: OnceResult): { response: string; replayed: boolean } {
  if ('rejection' in outcome) throw outcome.rejection
  return outcome
}

export async function purgeIdempotencyKeys(db: Db): Promise<void> {
  while ((await purgeStoredResponses(db, STORED_FOR_HOURS, PURGE_BATCH)) === PURGE_BATCH);
}

export function fingerprintOf({ operation, values }: IdempotentRequest): Buffer {
  return hash('sha256', JSON.stringify([operation, ...values.map(String)]), 'buffer')
}

function isSame(one: ClientKey, other: ClientKey): boolean {
  return one.key === other.key && one.actorId === other.actorId
}

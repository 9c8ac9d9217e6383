// Imports the accepted rows of a file in batches. Only the file decides which rows a batch has, so that a batch has the same
// pets whenever the file is imported. Its Idempotency-Key makes it safe to send it again.
import type { ErrorBody, PetChangeResult, PetToCreate } from '@petstore/client'
import { PET_CHANGES } from '@petstore/client/rules'
import { isAccepted, isRejected, type PetFile, type PetRow, type RejectedRow } from './pet-rows.ts'

/** The max of the service for one request. */
const BATCH_ROWS = PET_CHANGES.changes.maxItems
/** Less than the max of the service for a body, 1 MiB. No row alone has as many bytes. */
const BATCH_BYTES = 1_000_000

/** How much of a file is imported. */
export interface Progress {
  /** Counts the imports of the same file. A person can import it a second time on purpose. */
  run: number
  /** The rows of the file that are done, rejected ones too. */
  rows: number
  added: number
  /** The rows that the service has rejected, by their index in the file. */
  rejected: { index: number; reason: string }[]
}

export const NOTHING_DONE: Progress = { run: 1, rows: 0, added: 0, rejected: [] }

export interface ImportOptions {
  /** The SHA-256 of the file. */
  hash: string
  /** Sends one batch. Returns a result for each pet, in the same order. */
  send: (pets: PetToCreate[], idempotencyKey: string) => Promise<PetChangeResult[]>
  onProgress: (progress: Progress) => void
}

/** Continues after the rows that are done. Rejects with the error of the batch that failed. */
export async function runImport(
  { rows }: PetFile,
  from: Progress,
  { hash, send, onProgress }: ImportOptions,
): Promise<void> {
  let progress = from
  for (const [number, { start, end }] of batchesOf(rows).entries()) {
    if (end <= progress.rows) continue
    const batch = rows
      .slice(start, end)
      .flatMap((row, offset) => (isRejected(row) ? [] : [{ pet: row.pet, index: start + offset }]))
    const pets = batch.map(({ pet }) => pet)
    const key = batchKey(hash, progress.run, number + 1)
    const results = pets.length === 0 ? [] : await send(pets, key)
    const rejected = batch.flatMap(({ index }, position) => {
      const error = results[position]?.error
      return error === undefined ? [] : [{ index, reason: reasonOf(error) }]
    })
    progress = {
      run: progress.run,
      rows: end,
      added: progress.added + batch.length - rejected.length,
      rejected: [...progress.rejected, ...rejected],
    }
    onProgress(progress)
  }
}

/** The rows of each batch, from `start` to before `end`. */
function batchesOf(rows: PetFile['rows']): { start: number; end: number }[] {
  const batches: { start: number; end: number }[] = []
  let start = 0
  let bytes = 0
  for (const [index, row] of rows.entries()) {
    const added = isAccepted(row) ? bytesOf(row) : 0
    if (index - start === BATCH_ROWS || bytes + added > BATCH_BYTES) {
      batches.push({ start, end: index })
      start = index
      bytes = 0
    }
    bytes += added
  }
  return [...batches, { start, end: rows.length }]
}

/** The bytes of a row in the body of a request, with the comma after it. */
function bytesOf({ pet }: PetRow): number {
  return new TextEncoder().encode(JSON.stringify({ create: pet })).length + 1
}

function batchKey(hash: string, run: number, number: number): string {
  return run === 1 ? `${hash}-${number}` : `${hash}-${run}-${number}`
}

/** Everything that is wrong with a pet, like the reasons of the preview. */
function reasonOf({ message, details = [] }: ErrorBody): string {
  return details.length === 0 ? message : details.map((detail) => detail.message).join(' ')
}

/** The rejected rows of the preview and of the service, in the order of the file. */
export function rejectedRows({ rows }: PetFile, { rejected }: Progress): RejectedRow[] {
  const reasons = new Map(rejected.map(({ index, reason }) => [index, reason]))
  return rows.flatMap((row, index) => {
    if (isRejected(row)) return [row]
    const reason = reasons.get(index)
    return reason === undefined ? [] : [{ record: row.record, values: row.values, reason }]
  })
}

// Imports the accepted rows of a file in batches. Only the file decides which rows a batch has, so that a batch has the same
// pets whenever the file is imported. Its Idempotency-Key makes it safe to send it again, for a while and with a key of the
// same owner. Before a batch is sent, its sender and the time are remembered: in all other cases, a person must decide.
import { type ErrorBody, type PetChangeResult, PetstoreError, type PetToCreate } from '@petstore/client'
import { PET_CHANGES } from '@petstore/client/rules'
import { isAccepted, isRejected, type PetFile, type PetRow, type RejectedRow } from './pet-rows.ts'

/** The max of the service for one request. */
const BATCH_ROWS = PET_CHANGES.changes.maxItems
/** Less than the max of the service for a body, 1 MiB. No row alone has as many bytes. */
const BATCH_BYTES = 1_000_000
/** The service stores the response to a batch for 24 hours. The clock of the browser can be wrong. */
const REPLAYED_FOR_MS = 23 * 3_600_000

/** A batch that was sent. Its rows may have been added, until its response has come. */
export interface SentBatch {
  /** The rows of the file up to the end of the batch. */
  rows: number
  /** The actor of the API key. The service knows the batch again only from the same actor. */
  actorId: string
  /** When it was sent first. */
  at: string
}

/** How much of a file is imported. */
export interface Progress {
  /** Counts the imports of the same file. A person can import it a second time on purpose. */
  run: number
  /** The rows of the file that are done, rejected ones too. */
  rows: number
  added: number
  /** The rows that the service has rejected, by their index in the file. */
  rejected: { index: number; reason: string }[]
  /** The next batch, if it was sent and got no response. */
  sent?: SentBatch | undefined
}

export const NOTHING_DONE: Progress = { run: 1, rows: 0, added: 0, rejected: [] }

export interface ImportOptions {
  /** The SHA-256 of the file. */
  hash: string
  /** The actor of the API key that sends the batches. */
  actorId: string
  now: () => Date
  /** Sends one batch. Returns a result for each pet, in the same order. */
  send: (pets: PetToCreate[], idempotencyKey: string) => Promise<PetChangeResult[]>
  onProgress: (progress: Progress) => void
}

/** Thrown instead of sending a batch whose rows could be added twice. */
export class DoubtfulImport extends Error {}

/** Whether the service no longer knows the batch that got no response. Its rows would be added again, if they were added. */
export function isDoubtful({ sent }: Progress, actorId: string, now: Date): boolean {
  if (sent === undefined) return false
  return sent.actorId !== actorId || now.getTime() - Date.parse(sent.at) >= REPLAYED_FOR_MS
}

/** The person has found the rows of the doubtful batch in the list, or not. */
export function decided({ rows }: PetFile, progress: Progress, wasAdded: boolean): Progress {
  const { sent, ...known } = progress
  if (sent === undefined || !wasAdded) return known
  const batch = rows.slice(known.rows, sent.rows)
  return { ...known, rows: sent.rows, added: known.added + batch.filter(isAccepted).length }
}

/** Continues after the rows that are done. Rejects with the error of the batch that failed. */
export async function runImport({ rows }: PetFile, from: Progress, options: ImportOptions): Promise<void> {
  const { hash, actorId, now, onProgress } = options
  if (isDoubtful(from, actorId, now())) throw new DoubtfulImport('Some rows may have been added already.')
  let progress = from
  for (const [number, { start, end }] of batchesOf(rows).entries()) {
    if (end <= progress.rows) continue
    const batch = rows
      .slice(start, end)
      .flatMap((row, offset) => (isRejected(row) ? [] : [{ pet: row.pet, index: start + offset }]))
    const pets = batch.map(({ pet }) => pet)
    const key = batchKey(hash, progress.run, number + 1)
    const results = pets.length === 0 ? [] : await sendBatch({ pets, key, end }, progress, options)
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

interface Batch {
  pets: PetToCreate[]
  key: string
  /** The rows of the file up to the end of the batch. */
  end: number
}

/** Remembers the batch before it sends it, and forgets it if the service has rejected it: its rows are not added then. */
async function sendBatch(
  { pets, key, end }: Batch,
  { sent: earlier, ...progress }: Progress,
  { actorId, now, send, onProgress }: ImportOptions,
): Promise<PetChangeResult[]> {
  // A retry keeps the time of the first attempt, whose response the service may have stored.
  onProgress({ ...progress, sent: earlier ?? { rows: end, actorId, at: now().toISOString() } })
  try {
    return await send(pets, key)
  } catch (error) {
    const isKnown = error instanceof PetstoreError && error.status !== undefined && !error.outcomeUnknown
    if (isKnown && earlier === undefined) onProgress(progress)
    throw error
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

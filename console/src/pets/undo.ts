// Undoes a change of a pet. If that is no longer possible, says what has happened to the pet since.
import { type HistoryEntry, PetstoreError, type Petstore, type PetStatus } from '@petstore/client'
import { ConflictError, ExplainedError, hasCode } from '../layout/describe-error.ts'
import { clockText } from '../layout/hold-time.ts'

/** The reason that the history shows for a change that undoes another one. */
export const UNDO_REASON = 'Undo'

/** The statuses of a response that mean: the pet is no longer as the change has left it. */
const CONFLICTS = new Set([404, 409, 412])

/** Returns what `undo` says about the pet, as a sentence. */
export async function undoChange(
  store: Petstore,
  { id, name }: { id: string; name: string },
  undo: () => Promise<string>,
): Promise<string> {
  try {
    return `Undone: ${await undo()}`
  } catch (error) {
    if (!isConflict(error)) throw error
    const last = await lastEntry(store, id)
    const isOnlyLate = hasCode(error, 'entry_final') && last?.event === 'order_completed'
    const since = isOnlyLate ? TOO_LATE : sinceText(last, Date.now())
    throw new ExplainedError(`Not undone: ${name}`, `This can no longer be undone: ${since}.`)
  }
}

/** Nothing has happened to the pet since its sale. */
const TOO_LATE = '15 minutes have passed, or the day is closed'

function isConflict(error: unknown): boolean {
  if (error instanceof ConflictError) return true
  return error instanceof PetstoreError && CONFLICTS.has(error.status ?? 0)
}

/** The newest entry in the history of the pet; null if the pet does not exist any more. */
async function lastEntry(store: Petstore, petId: string): Promise<HistoryEntry | null | undefined> {
  try {
    const { items } = await store.pets.history(petId, { limit: 1 }).page()
    return items[0]
  } catch (error) {
    return error instanceof PetstoreError && error.status === 404 ? null : undefined
  }
}

const STATUS_CHANGES: Record<PetStatus, string> = {
  available: 'the pet was made available',
  pending: 'the pet was put on hold',
  sold: 'the pet was sold',
}

const ORDER_EVENTS: Partial<Record<HistoryEntry['event'], string>> = {
  order_placed: STATUS_CHANGES.pending,
  order_completed: STATUS_CHANGES.sold,
  order_cancelled: 'the hold was released',
  order_expired: 'the time of the hold ran out',
  taken_back: 'the pet was taken back',
  sale_voided: 'the sale was undone',
  return_voided: 'the return was undone',
}

/** What happened last, such as "the pet was sold at 22:05". Undefined: the history could not be read. */
export function sinceText(entry: HistoryEntry | null | undefined, nowMs: number): string {
  if (entry === null) return 'the pet was deleted'
  return entry === undefined ? 'the pet has changed' : `${whatText(entry)} at ${clockText(entry.at, nowMs)}`
}

function whatText({ event, to }: HistoryEntry): string {
  if (event === 'updated' && to?.status !== undefined) return STATUS_CHANGES[to.status]
  return ORDER_EVENTS[event] ?? 'the pet was changed'
}

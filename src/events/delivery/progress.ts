// What a process has done for one webhook and not saved yet, and how it is saved.
// Every event up to the position of a webhook is done, or has a row in webhook_retries. Otherwise the event would be lost.
// Therefore the position and the rows are saved in one transaction.
import type { Db } from '../../db/database.ts'
import type { Position } from '../feed/format.ts'
import { firstOf, type Lanes } from './lanes.ts'
import type { Message } from './message.ts'
import {
  deleteWebhookEventRetries,
  deleteWebhookRetries,
  insertWebhookDeliveries,
  moveLeasedWebhook,
  type Progress,
  type DeliveryResult,
  type RetryToSave,
  updateRequestedWebhookRetries,
  upsertWebhookEventRetries,
} from './queries.ts'

/** An attempt in flight for longer than this does not hold back the position. */
const SLOW_AFTER_MS = 1_000

/** Only functions that transitions.ts calls change it. */
export interface Unsaved {
  /** Events that hold back the position, in the order of the feed. Done ones are removed before it is used, stored ones by `takeChanges`. */
  unstored: Message[]
  /** Numbers of done events. Those up to the position are removed when the position is saved. */
  ahead: bigint[]
  changes: Changes
}

/** What must be saved besides the position. */
export interface Changes {
  /** Messages whose rows in webhook_retries are inserted or updated. */
  stored: Set<Message>
  /** Messages whose rows in webhook_retries are deleted. */
  finished: Message[]
  results: DeliveryResult[]
}

type SavedChanges = Pick<
  Progress,
  'position' | 'done' | 'deletedIds' | 'deletedNumbers' | 'retries' | 'results'
>

const noChanges = (): Changes => ({ stored: new Set(), finished: [], results: [] })

/** @param doneAhead Numbers of events that need no further attempt, although they come after the position. */
export function initialUnsaved(doneAhead: readonly bigint[] = []): Unsaved {
  return { unstored: [], ahead: [...doneAhead], changes: noChanges() }
}

/** Adds an event of the feed. */
export function addEvent({ unstored }: Unsaved, message: Message): void {
  unstored.push(message)
}

/** The message gets a row in webhook_retries, or its row changes. */
export function storeRetry({ changes }: Unsaved, message: Message): void {
  message.isStored = true
  changes.stored.add(message)
}

/** The message needs no further attempt. */
export function recordDone({ ahead, changes }: Unsaved, message: Message): void {
  changes.stored.delete(message)
  if (message.isStored) changes.finished.push(message)
  if (message.kind === 'event' && message.number !== null) ahead.push(message.number)
}

export function recordResult({ changes }: Unsaved, result: DeliveryResult): void {
  changes.results.push(result)
}

/** The events that hold back the position: their number and bytes. */
export function measureUnstored(unsaved: Unsaved): { count: number; bytes: number } {
  removeDone(unsaved)
  const { unstored } = unsaved
  return { count: unstored.length, bytes: unstored.reduce((sum, { eventBytes }) => sum + eventBytes, 0) }
}

/** `finishFirst` of lanes.ts sets this state; it is called together with `recordDone`. */
function removeDone(unsaved: Unsaved): void {
  unsaved.unstored = unsaved.unstored.filter(({ state }) => state !== 'done')
}

/** Whether anything besides the position has changed. */
export function hasChanges({ changes: { stored, finished, results } }: Readonly<Unsaved>): boolean {
  return results.length + stored.size + finished.length > 0
}

/**
 * Removes what must be saved. `addBack` adds the changes again, if they could not be saved.
 * @param readUpTo All events up to here were added.
 */
export function takeChanges(
  unsaved: Unsaved,
  lanes: Readonly<Lanes>,
  { epoch, number: readUpTo }: Position,
  now: number,
): { progress: SavedChanges; changes: Changes } {
  removeDone(unsaved)
  storeDue(unsaved, lanes, now)
  // The position is just before the first event that holds it back. It never moves back, even if the save fails.
  const [first] = unsaved.unstored
  const number = first?.number == null ? readUpTo : first.number - 1n
  unsaved.ahead = unsaved.ahead.filter((doneNumber) => doneNumber > number)
  const { ahead, changes } = unsaved
  unsaved.changes = noChanges()
  return { progress: { position: { epoch, number }, done: [...ahead], ...toRows(changes, now) }, changes }
}

function storeDue(unsaved: Unsaved, lanes: Readonly<Lanes>, now: number): void {
  for (const message of unsaved.unstored)
    if (mustStoreLane(firstOf(lanes, message.lane), now)) storeRetry(unsaved, message)
  unsaved.unstored = unsaved.unstored.filter(({ isStored }) => !isStored)
}

/**
 * Whether all events of a lane get rows in webhook_retries, so that they no longer hold back the position: its first message
 * has such a row, or its attempt takes long.
 */
function mustStoreLane(first: Message | undefined, now: number): boolean {
  if (first === undefined) return false
  return first.isStored || (first.state === 'in_flight' && now - first.sentAt > SLOW_AFTER_MS)
}

function toRows(
  { stored, finished, results }: Changes,
  now: number,
): Omit<SavedChanges, 'position' | 'done'> {
  return {
    deletedIds: requestIdsOf(finished),
    deletedNumbers: eventNumbersOf(finished),
    retries: [...stored].map((message) => toRetry(message, now)),
    results,
  }
}

/** Adds what could not be saved to the changes since then. */
export function addBack({ changes: { stored, finished, results } }: Unsaved, taken: Changes): void {
  // A message that is done by now is already in `finished`, in case the failed transaction has committed its row.
  for (const message of taken.stored) if (message.state !== 'done') stored.add(message)
  finished.push(...taken.finished)
  results.unshift(...taken.results)
}

/** The row of a requested message is identified by its id, the row of an event by its number. */
const requestIdsOf = (messages: readonly Message[]) => messages.flatMap(({ id }) => (id === null ? [] : [id]))
/** A redelivery has an id and the number of its event. */
const eventNumbersOf = (messages: readonly Message[]) =>
  messages.flatMap(({ id, number }) => (id === null && number !== null ? [number] : []))

function toRetry(
  { id, number, petId, type, occurredAt, attempts, dueAt }: Message,
  now: number,
): RetryToSave {
  return { id, number, petId, type, occurredAt, attempts, dueInSeconds: Math.max(0, dueAt - now) / 1_000 }
}

/** Throws LeaseLost if the lease has ended, or if the webhook was restarted, disabled or deleted. */
export async function saveProgress(db: Db, deliverer: string, progress: Progress): Promise<void> {
  const { webhookId, newEpoch, deletedIds, deletedNumbers, retries, results } = progress
  const requested = retries.filter(({ id }) => id !== null)
  // With a new epoch, the webhook forgets the events of the earlier ones.
  const events = newEpoch === undefined ? retries.filter(({ id }) => id === null) : []
  await db.transaction(async (tx) => {
    // First, because it checks the lease, and locks the webhook until the end of the transaction.
    await moveLeasedWebhook(tx, deliverer, progress)
    if (newEpoch !== undefined) await deleteWebhookEventRetries(tx, webhookId)
    if (deletedIds.length + deletedNumbers.length > 0)
      await deleteWebhookRetries(tx, webhookId, deletedIds, deletedNumbers)
    if (requested.length > 0) await updateRequestedWebhookRetries(tx, webhookId, requested)
    if (events.length > 0) await upsertWebhookEventRetries(tx, webhookId, events)
    if (results.length > 0) await insertWebhookDeliveries(tx, webhookId, results)
  })
}

// What a process has done for one webhook and not saved yet.
// The position of the webhook and the rows of the retries before it are saved in one transaction. Without its row, an
// event before the position would be lost.
import type { Db } from '../../db/database.ts'
import type { Position } from '../feed/format.ts'
import type { Lanes } from './lanes.ts'
import type { Message } from './message.ts'
import {
  deleteWebhookEventRetries,
  deleteWebhookRetries,
  insertWebhookDeliveries,
  moveLeasedWebhook,
  type Progress,
  type Result,
  type RetryToSave,
  updateRequestedWebhookRetries,
  upsertWebhookEventRetries,
} from './queries.ts'

/** An attempt in flight for longer than this does not hold back the position. */
const SLOW_AFTER_MS = 1_000

export interface Unsaved {
  /** Adds an event of the feed. */
  add: (message: Message) => void
  /** The message gets a row in webhook_retries, or its row changes. */
  store: (message: Message) => void
  /** The message needs no further attempt. */
  finish: (message: Message) => void
  report: (result: Result) => void
  /** Number of results that are not saved yet. */
  resultCount: () => number
  /** Number of events that hold back the position. */
  heldCount: () => number
  /** Whether anything besides the position has changed. */
  hasChanges: () => boolean
  /** Removes what must be saved. `restore` adds it again, if it could not be saved. */
  take: (read: Position, now: number) => { progress: Taken; restore: () => void }
}

type Taken = Pick<Progress, 'position' | 'done' | 'doneIds' | 'doneNumbers' | 'retries' | 'results'>

/** What must be saved besides the position. */
interface Changes {
  changed: Set<Message>
  done: Message[]
  results: Result[]
}

const noChanges = (): Changes => ({ changed: new Set(), done: [], results: [] })

/** @param doneBefore Numbers of events that need no further attempt, although they come after the position. */
export function trackProgress(lanes: Pick<Lanes, 'firstOf'>, doneBefore: readonly bigint[] = []): Unsaved {
  /** Events of the feed that are neither done nor stored, in the order of their numbers. Done ones are removed late. */
  let held: Message[] = []
  /** Numbers of done events that may come after the position. */
  let ahead = [...doneBefore]
  let changes = noChanges()

  function store(message: Message): void {
    message.isStored = true
    changes.changed.add(message)
  }

  function storeHeld(now: number): void {
    const waiting = held.filter(({ state }) => state !== 'done')
    // All are chosen before the first is marked as stored.
    for (const message of waiting.filter(({ lane }) => mustStore(lanes.firstOf(lane), now))) store(message)
    held = waiting.filter(({ isStored }) => !isStored)
  }

  return {
    add: (message) => held.push(message),
    store,
    finish: (message) => {
      changes.changed.delete(message)
      if (message.isStored) changes.done.push(message)
      if (message.kind === 'event' && message.number !== null) ahead.push(message.number)
    },
    report: (result) => changes.results.push(result),
    resultCount: () => changes.results.length,
    heldCount: () => {
      held = held.filter(({ state }) => state !== 'done')
      return held.length
    },
    hasChanges: () => changes.results.length + changes.changed.size + changes.done.length > 0,
    take: ({ epoch, number: read }, now) => {
      storeHeld(now)
      const [first] = held
      const number = first?.number == null ? read : first.number - 1n
      ahead = ahead.filter((doneNumber) => doneNumber > number)
      const taken = changes
      changes = noChanges()
      return {
        progress: { position: { epoch, number }, done: [...ahead], ...toRows(taken, now) },
        restore: () => restore(changes, taken),
      }
    },
  }
}

/** An event behind a message that waits for a retry, or that takes long, waits in webhook_retries. */
function mustStore(first: Message | undefined, now: number): boolean {
  if (first === undefined) return false
  return first.isStored || (first.state === 'in_flight' && now - first.sentAt > SLOW_AFTER_MS)
}

function toRows({ changed, done, results }: Changes, now: number): Omit<Taken, 'position' | 'done'> {
  return {
    doneIds: idsOf(done),
    doneNumbers: numbersOf(done),
    retries: [...changed].map((message) => toRetry(message, now)),
    results,
  }
}

/** Adds what could not be saved to the changes since. */
function restore({ changed, done, results }: Changes, taken: Changes): void {
  for (const message of taken.changed) {
    // The failed transaction may have committed, so the row of a message that is done meanwhile is deleted.
    if (message.state === 'done') done.push(message)
    else changed.add(message)
  }
  done.push(...taken.done)
  results.unshift(...taken.results)
}

const idsOf = (messages: readonly Message[]) => messages.flatMap(({ id }) => (id === null ? [] : [id]))
const numbersOf = (messages: readonly Message[]) =>
  messages.flatMap(({ id, number }) => (id === null && number !== null ? [number] : []))

function toRetry(
  { id, number, petId, type, occurredAt, attempts, dueAt }: Message,
  now: number,
): RetryToSave {
  return { id, number, petId, type, occurredAt, attempts, dueInSeconds: Math.max(0, dueAt - now) / 1_000 }
}

/** Throws LeaseLost if another process delivers the webhook now, or if a caller has changed it. */
export async function saveProgress(db: Db, deliverer: string, progress: Progress): Promise<void> {
  const { webhookId, newEpoch, doneIds, doneNumbers, retries, results } = progress
  const requested = retries.filter(({ id }) => id !== null)
  const events = newEpoch === undefined ? retries.filter(({ id }) => id === null) : []
  await db.transaction(async (tx) => {
    await moveLeasedWebhook(tx, deliverer, progress)
    if (newEpoch !== undefined) await deleteWebhookEventRetries(tx, webhookId)
    if (doneIds.length + doneNumbers.length > 0)
      await deleteWebhookRetries(tx, webhookId, doneIds, doneNumbers)
    if (requested.length > 0) await updateRequestedWebhookRetries(tx, webhookId, requested)
    if (events.length > 0) await upsertWebhookEventRetries(tx, webhookId, events)
    if (results.length > 0) await insertWebhookDeliveries(tx, webhookId, results)
  })
}

// How the delivery to a webhook changes its state; see endpoint-state.ts. Only `apply` changes it after `initialState`. It
// uses no database and no HTTP, and its caller passes the time; only results get their time from the clock.
import { isAborted, isGone, retryAfterMs, toResult, verdictOf } from './attempt.ts'
import type { Closing, Effect, EndpointState, Conditions, Saving, Trigger } from './endpoint-state.ts'
import { hasRoom, initialHealth, recordFailure, recordSuccess } from './health.ts'
import { addToLane, finishFirst, firstOf, hasDue, initialLanes, retryFirst, takeDue, wake } from './lanes.ts'
import type { LeasedWebhook } from './lease-queries.ts'
import { eventMessage, type Message, petLane, retryMessage } from './message.ts'
import { type AttemptOutcome, NOT_SUBSCRIBED } from './outcome.ts'
import {
  addBack,
  addEvent,
  hasChanges,
  initialUnsaved,
  measureUnstored,
  recordDone,
  recordResult,
  storeRetry,
  takeChanges,
} from './progress.ts'
import type { RetryRow } from './queries.ts'
import { DISABLED_AFTER_MS } from './schedule.ts'
import type { FeedMoved, WebhookPage } from './webhook-feed.ts'

/** Max attempts in flight per webhook. */
export const IN_FLIGHT_MAX = 16
/** Max events in memory that are neither done nor in webhook_retries, and therefore hold back the position. */
const UNSTORED_MAX = 1_000
/** Max bytes of their events, which should still be in memory when they are sent. */
const UNSTORED_MAX_BYTES = 1_048_576
/** Max events of a page. webhook-feed.ts limits its bytes. */
const PAGE_SIZE = 500
/** Max unfinished messages in memory; most wait for a retry, or behind one. At this number, no further event is read. */
export const RETRIES_MAX = 10_000
/**
 * No attempt starts while this many results wait for a save. After a kill, the next process sends these messages again, and
 * those of the save in flight.
 */
const UNSAVED_MAX = 300
/** Min time between the starts of two saves. */
const SAVED_EVERY_MS = 100
/** The same, if only the position has changed. */
const POSITION_SAVED_EVERY_MS = 5_000
/** Time until the feed, or an event that was not sent, is read again. */
const READ_AGAIN_AFTER_MS = 1_000

type Tick = Extract<Trigger, { kind: 'tick' }>

/** @param rows All rows of the webhook in webhook_retries. */
export function initialState(webhook: LeasedWebhook, rows: readonly RetryRow[], now: number): EndpointState {
  const { epoch, number, done, failingSeconds } = webhook
  const failingSince = failingSeconds === null ? undefined : now - failingSeconds * 1_000
  const state: EndpointState = {
    phase: 'running',
    closing: {},
    webhook,
    lanes: initialLanes(),
    unsaved: initialUnsaved(done),
    health: initialHealth(failingSince),
    unfinished: new Set(),
    handledBefore: new Set(done),
    lastRequestId: 0n,
    readUpTo: { epoch, number },
    isReading: false,
    readAgainAt: 0,
    savedNumber: number,
    saveStartedAt: now,
    saving: undefined,
    inFlight: 0,
  }
  for (const row of rows) addRetry(state, row, now)
  return state
}

/** Whether a message can be sent now. */
export function canSend(state: Readonly<EndpointState>, { now, hasLease }: Conditions): boolean {
  const unsavedCount = state.unsaved.changes.results.length
  const isBelowLimits = state.inFlight < IN_FLIGHT_MAX && unsavedCount < UNSAVED_MAX
  if (state.phase !== 'running' || !isBelowLimits || !hasLease) return false
  return hasDue(state.lanes, isRequestedOnly(state, now))
}

/** Between two probes of a receiver that is down, and during a pause that it has asked for. */
const isRequestedOnly = ({ health, inFlight }: Readonly<EndpointState>, now: number) =>
  !hasRoom(health, now, inFlight)

const isOver = ({ phase }: Readonly<EndpointState>) => phase === 'over'

/**
 * Changes the state in place, because a copy could contain 20,000 messages. Returns what must be done. After any trigger, a
 * save can be due.
 */
export function apply(state: EndpointState, trigger: Trigger, conditions: Conditions): Effect[] {
  if (isOver(state)) return []
  wake(state.lanes, conditions.now)
  const effects = transition(state, trigger, conditions)
  return isOver(state) ? effects : [...effects, ...saveDue(state, conditions)]
}

function transition(state: EndpointState, trigger: Trigger, conditions: Conditions): Effect[] {
  const { now } = conditions
  switch (trigger.kind) {
    case 'tick':
      return readMore(state, trigger, now)
    case 'page_read':
      state.isReading = false
      return state.phase === 'running' ? addPage(state, trigger.page, now) : []
    case 'read_failed':
      state.isReading = false
      state.readAgainAt = now + READ_AGAIN_AFTER_MS
      return []
    case 'slot_taken':
      return sendNext(state, now)
    case 'attempt_ended':
      state.inFlight -= 1
      return settle(state, trigger.message, trigger.outcome, conditions)
    case 'not_sent':
      state.inFlight -= 1
      return sendLater(state, trigger.message, now)
    case 'saved':
      return endSave(state, true)
    case 'save_failed':
      return endSave(state, false)
    case 'refreshed':
      return refresh(state, trigger.webhook, trigger.rows, now)
    case 'stop':
      return close(state, { isStopping: true })
    case 'stop_timeout':
      return close(state, { isStopping: true, isTimedOut: true })
    case 'abort':
      break
  }
  // Only `abort` gets here. The linter wants a return after the switch.
  return end(state)
}

function close(state: EndpointState, closing: Closing): Effect[] {
  state.phase = 'closing'
  state.closing = { ...state.closing, ...closing }
  return []
}

function end(state: EndpointState): Effect[] {
  state.phase = 'over'
  return [{ kind: 'end' }]
}

function readMore(state: EndpointState, { newest, messagesMax }: Tick, now: number): Effect[] {
  const { readUpTo, unsaved, unfinished } = state
  if (newest === undefined || state.phase !== 'running' || state.isReading || now < state.readAgainAt)
    return []
  const isBehind = newest.epoch !== readUpTo.epoch || newest.number > readUpTo.number
  // The other half is for the page. A webhook without messages always reads.
  const half = Math.max(1, Math.floor(messagesMax / 2))
  if (!isBehind || unfinished.size >= Math.min(half, RETRIES_MAX)) return []
  const unstored = measureUnstored(unsaved)
  if (unstored.count >= UNSTORED_MAX || unstored.bytes >= UNSTORED_MAX_BYTES) return []
  state.isReading = true
  return [{ kind: 'read', after: readUpTo, types: state.webhook.types, max: Math.min(PAGE_SIZE, half) }]
}

function addPage(state: EndpointState, page: WebhookPage | FeedMoved, now: number): Effect[] {
  if ('position' in page) return skipTo(state, page, now)
  const { handledBefore, unsaved } = state
  const { epoch } = state.readUpTo
  for (const row of page.rows) {
    // The feed returns each event once, so its number is not needed again.
    if (handledBefore.delete(row.number)) continue
    const message = eventMessage(row, epoch)
    addEvent(unsaved, message)
    add(state, message, now)
  }
  state.readUpTo = { epoch, number: page.upTo }
  return []
}

/** The webhook never gets the events after `readUpTo` and up to `position`: the retention has deleted them, or a new epoch has begun. */
function skipTo(state: EndpointState, { position, isNewEpoch }: FeedMoved, now: number): Effect[] {
  const fields = { from: state.readUpTo, to: position, isNewEpoch }
  const message = 'a webhook skips events that are not stored'
  if (isNewEpoch) {
    close(state, { newEpoch: position })
  } else {
    // Messages that are already in memory are still tried.
    state.readUpTo = position
    // If no later event is stored yet, the position is the same as before. The pause limits the reads and warnings.
    state.readAgainAt = now + READ_AGAIN_AFTER_MS
  }
  return [{ kind: 'warn', message, fields }]
}

function add({ unfinished, lanes }: EndpointState, message: Message, now: number): void {
  unfinished.add(message)
  addToLane(lanes, message, now)
}

function addRetry(state: EndpointState, row: RetryRow, now: number): void {
  const { webhook, handledBefore } = state
  const message = retryMessage(row, webhook.epoch, now)
  if (row.kind === 'event' && row.number !== null) handledBefore.add(row.number)
  if (row.kind !== 'event' && row.id > state.lastRequestId) state.lastRequestId = row.id
  const isSubscribed = row.kind === 'test' || webhook.types.some((type) => type === row.type)
  if (isSubscribed) add(state, message, now)
  else skipUnsubscribed(state, message)
}

/** A caller has removed the type since. The URL may be new too, and its receiver must not get this event. */
function skipUnsubscribed({ unsaved }: EndpointState, message: Message): void {
  recordDone(unsaved, message)
  // Callers look for the result of a redelivery, because they have requested it.
  if (message.kind !== 'redelivery') return
  message.attempts += 1
  recordResult(unsaved, toResult(message, NOT_SUBSCRIBED, 'skipped'))
}

/** Takes over all that can change without a new `restarts`. With a new one, the webhook is loaded again instead. */
function refresh(
  state: EndpointState,
  { secrets, version }: LeasedWebhook,
  rows: readonly RetryRow[],
  now: number,
): Effect[] {
  if (state.phase !== 'running') return []
  state.webhook = { ...state.webhook, secrets, version }
  for (const row of rows) addRetry(state, row, now)
  return []
}

function sendNext(state: EndpointState, now: number): Effect[] {
  const message = takeDue(state.lanes, now, isRequestedOnly(state, now)) as Message
  state.inFlight += 1
  return [{ kind: 'send', message }]
}

/** Does not count as an attempt. */
function sendLater({ lanes }: EndpointState, message: Message, now: number): Effect[] {
  message.dueAt = now + READ_AGAIN_AFTER_MS
  retryFirst(lanes, message)
  return []
}

function settle(
  state: EndpointState,
  message: Message,
  outcome: AttemptOutcome,
  conditions: Conditions,
): Effect[] {
  const { lanes, unsaved, health } = state
  const { now, schedule } = conditions
  // The sender was closed before the endpoint.
  if (isAborted(outcome)) return sendLater(state, message, now)
  message.attempts += 1
  const verdict = verdictOf(message, outcome, schedule)
  recordResult(unsaved, toResult(message, outcome, verdict))
  if (verdict === 'failed') {
    message.dueAt = now + Math.max(schedule.retryMs(message.attempts) ?? 0, retryAfterMs(outcome))
    storeRetry(unsaved, message)
    retryFirst(lanes, message)
  } else {
    finish(state, message, now)
  }
  // A skipped message says nothing about the receiver.
  if (verdict === 'delivered') {
    recordSuccess(health)
    finishRedelivered(state, message, now)
  }
  const isFailure = verdict === 'failed' || verdict === 'given_up'
  const observed: Effect = { kind: 'observe', outcome: verdict, durationMs: outcome.durationMs }
  return isFailure ? [observed, ...noteFailure(state, message, outcome, conditions)] : [observed]
}

function finish({ unfinished, lanes, unsaved }: EndpointState, message: Message, now: number): void {
  unfinished.delete(message)
  finishFirst(lanes, message, now)
  recordDone(unsaved, message)
}

/** The receiver has the event of a redelivery, so the event needs no retry, and the later ones of its pet follow. */
function finishRedelivered(state: EndpointState, { kind, epoch, number, petId }: Message, now: number): void {
  if (kind !== 'redelivery') return
  const first = firstOf(state.lanes, petLane(petId))
  if (first?.state === 'waiting' && first.epoch === epoch && first.number === number)
    finish(state, first, now)
}

function noteFailure(
  state: EndpointState,
  { lane }: Message,
  outcome: AttemptOutcome,
  { now, schedule }: Conditions,
): Effect[] {
  const { health, closing } = state
  recordFailure(health, lane, retryAfterMs(outcome), now, schedule)
  const failingMs = now - (health.failingSince ?? now)
  const isTooLong = failingMs > DISABLED_AFTER_MS
  const reason = isGone(outcome) ? 'gone' : isTooLong ? 'failing' : undefined
  // The first reason stays, and is logged once.
  if (reason === undefined || closing.disable !== undefined) return []
  close(state, { disable: reason })
  return [{ kind: 'warn', message: 'a webhook was disabled', fields: { reason } }]
}

function saveDue(state: EndpointState, { now, hasLease }: Conditions): Effect[] {
  const { closing, unsaved, readUpTo } = state
  // One save is in flight at a time.
  if (state.saving !== undefined) return []
  const isLast = state.phase === 'closing' && (state.inFlight === 0 || closing.isTimedOut === true)
  // Without the lease, a process that stops does not save: its successor sends the messages without a saved result again.
  if (isLast && closing.isStopping) return hasLease ? [save(state, isLast, now)] : end(state)
  const mustSaveSoon = isLast || hasChanges(unsaved)
  // Also true while a slow attempt holds back the position: the save then stores the event, so that the position moves on.
  const hasReadFurther = state.savedNumber !== readUpTo.number
  if (!mustSaveSoon && !hasReadFurther) return []
  const dueAt = state.saveStartedAt + (mustSaveSoon ? SAVED_EVERY_MS : POSITION_SAVED_EVERY_MS)
  return now >= dueAt ? [save(state, isLast, now)] : []
}

/** Only the last save disables the webhook or moves it to a new epoch: the results of attempts in flight come before. */
function save(state: EndpointState, isLast: boolean, now: number): Effect {
  const { webhook, closing, lanes, unsaved } = state
  const { progress, changes } = takeChanges(unsaved, lanes, state.readUpTo, now)
  const since = state.health.failingSince
  state.saving = { number: progress.position.number, isLast, changes }
  state.saveStartedAt = now
  return {
    kind: 'save',
    progress: {
      webhookId: webhook.id,
      restarts: webhook.restarts,
      failingSeconds: since === undefined ? null : (now - since) / 1_000,
      disable: isLast ? closing.disable : undefined,
      newEpoch: isLast ? closing.newEpoch : undefined,
      ...progress,
    },
  }
}

function endSave(state: EndpointState, isSaved: boolean): Effect[] {
  const { number, isLast, changes } = state.saving as Saving
  state.saving = undefined
  if (isSaved) state.savedNumber = number
  else addBack(state.unsaved, changes)
  // A failed last save is retried, unless the process stops.
  return isLast && (isSaved || state.closing.isStopping) ? end(state) : []
}

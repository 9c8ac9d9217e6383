// How the delivery to a webhook changes its state; see endpoint-state.ts. `next` is the only function that does. It knows no
// clock, no database and no HTTP.
import type { Position } from '../feed/format.ts'
import { isAborted, isGone, retryAfterMs, toResult, verdictOf } from './attempt.ts'
import type { Closing, Effect, EndpointState, Moment, Saving, Trigger } from './endpoint-state.ts'
import { trackHealth } from './health.ts'
import { openLanes } from './lanes.ts'
import type { LeasedWebhook } from './lease-queries.ts'
import { eventMessage, type Message, retryMessage } from './message.ts'
import { type AttemptOutcome, NOT_SUBSCRIBED } from './outcome.ts'
import { trackProgress } from './progress.ts'
import type { RetryRow } from './queries.ts'
import { DISABLED_AFTER_MS, type Schedule } from './schedule.ts'
import type { FeedMoved, WebhookPage } from './webhook-feed.ts'

/** Max attempts in flight per webhook. */
export const IN_FLIGHT_MAX = 16
/** Max events in memory that are neither delivered nor stored as a retry. */
const HELD_MAX = 1_000
/** Max messages that wait for a retry, with later events of the same pets. At this number, no further event is read. */
export const RETRIES_MAX = 10_000
/** Max results that are not saved yet: so many messages are sent again if the process is killed. */
const UNSAVED_MAX = 300
const SAVED_EVERY_MS = 100
/** The position of a webhook without deliveries is saved less often. */
const POSITION_SAVED_EVERY_MS = 5_000
const READ_AGAIN_AFTER_MS = 1_000

/** @param rows All rows of the webhook in webhook_retries. */
export function begin(
  webhook: LeasedWebhook,
  rows: readonly RetryRow[],
  schedule: Schedule,
  now: number,
): EndpointState {
  const { epoch, number, done, failingSeconds } = webhook
  const lanes = openLanes()
  const failingSince = failingSeconds === null ? undefined : now - failingSeconds * 1_000
  const state: EndpointState = {
    phase: 'running',
    closing: {},
    webhook,
    schedule,
    lanes,
    unsaved: trackProgress(lanes, done),
    health: trackHealth(schedule, IN_FLIGHT_MAX, failingSince),
    waiting: new Set(),
    known: new Set(done),
    lastRequest: 0n,
    read: { epoch, number },
    isReading: false,
    readAgainAt: 0,
    saved: number,
    savedAt: now,
    saving: undefined,
    inFlight: 0,
  }
  for (const row of rows) addRetry(state, row, now)
  return state
}

/** Whether a message can be sent now. */
export function hasDue(state: Readonly<EndpointState>, { now, hasLease }: Moment): boolean {
  const hasRoom = state.inFlight < IN_FLIGHT_MAX && state.unsaved.results() < UNSAVED_MAX
  if (state.phase !== 'running' || !hasRoom || !hasLease) return false
  return state.lanes.hasDue(now, isRequestedOnly(state, now))
}

/** A test event is sent even if the receiver is down. */
const isRequestedOnly = ({ health, inFlight }: Readonly<EndpointState>, now: number) =>
  !health.hasRoom(now, inFlight)

const isOver = ({ phase }: Readonly<EndpointState>) => phase === 'over'

/** Changes the state in place, because a copy could contain 20,000 messages. Returns what must be done. */
export function next(state: EndpointState, trigger: Trigger, moment: Moment): Effect[] {
  if (isOver(state)) return []
  const effects = transition(state, trigger, moment.now)
  return isOver(state) ? effects : [...effects, ...saveDue(state, moment)]
}

function transition(state: EndpointState, trigger: Trigger, now: number): Effect[] {
  switch (trigger.kind) {
    case 'tick':
      return readMore(state, trigger.newest, now)
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
      return settle(state, trigger.message, trigger.outcome, now)
    case 'attempt_failed':
      state.inFlight -= 1
      return sendLater(state, trigger.message, now)
    case 'saved':
      return endSave(state, true)
    case 'save_failed':
      return endSave(state, false)
    case 'changed':
      return takeOver(state, trigger.webhook, trigger.rows, now)
    case 'stop':
      return close(state, { isStopping: true })
    case 'stop_timeout':
      return close(state, { isStopping: true, isLate: true })
    case 'lost':
      break
  }
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

function readMore(state: EndpointState, newest: Position | undefined, now: number): Effect[] {
  const { read, unsaved, lanes } = state
  if (newest === undefined || state.phase !== 'running' || state.isReading || now < state.readAgainAt)
    return []
  const isBehind = newest.epoch !== read.epoch || newest.number > read.number
  if (!isBehind || unsaved.held() >= HELD_MAX || lanes.size() >= RETRIES_MAX) return []
  state.isReading = true
  return [{ kind: 'read', after: read, types: state.webhook.types }]
}

function addPage(state: EndpointState, page: WebhookPage | FeedMoved, now: number): Effect[] {
  const { read, known, unsaved } = state
  if ('position' in page) return skipTo(state, page, now)
  for (const row of page.rows.filter(({ number }) => !known.delete(number))) {
    const message = eventMessage(row, read.epoch)
    unsaved.add(message)
    add(state, message, now)
  }
  state.read = { epoch: read.epoch, number: page.next }
  return []
}

/** The webhook never gets the events between: the retention has deleted them, or a new epoch has begun. */
function skipTo(state: EndpointState, { position, isNewEpoch }: FeedMoved, now: number): Effect[] {
  const fields = { from: state.read, to: position, isNewEpoch }
  const message = 'a webhook skips events that are not stored'
  if (isNewEpoch) {
    close(state, { newEpoch: position })
  } else {
    // Events that are already in memory are still sent.
    state.read = position
    state.readAgainAt = now + READ_AGAIN_AFTER_MS
  }
  return [{ kind: 'warn', message, fields }]
}

function add({ waiting, lanes }: EndpointState, message: Message, now: number): void {
  waiting.add(message)
  lanes.add(message, now)
}

function addRetry(state: EndpointState, row: RetryRow, now: number): void {
  const { webhook, known, unsaved } = state
  const message = retryMessage(row, webhook.epoch, now)
  if (row.kind === 'event' && row.number !== null) known.add(row.number)
  if (row.kind !== 'event' && row.id > state.lastRequest) state.lastRequest = row.id
  if (row.kind === 'test' || webhook.types.some((type) => type === row.type)) return add(state, message, now)
  // The webhook no longer gets events of this type. Its new URL may belong to a receiver that must not see them.
  unsaved.finish(message)
  if (row.kind !== 'redelivery') return
  message.attempts += 1
  unsaved.report(toResult(message, NOT_SUBSCRIBED, 'skipped'))
}

function takeOver(
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
  const message = state.lanes.take(now, isRequestedOnly(state, now)) as Message
  state.inFlight += 1
  return [{ kind: 'send', message }]
}

/** Does not count as an attempt. */
function sendLater({ lanes }: EndpointState, message: Message, now: number): Effect[] {
  message.dueAt = now + READ_AGAIN_AFTER_MS
  lanes.retry(message)
  return []
}

function settle(state: EndpointState, message: Message, outcome: AttemptOutcome, now: number): Effect[] {
  const { schedule, lanes, unsaved, health, waiting } = state
  if (isAborted(outcome)) return sendLater(state, message, now)
  message.attempts += 1
  message.row = undefined
  const verdict = verdictOf(message, outcome, schedule)
  unsaved.report(toResult(message, outcome, verdict))
  if (verdict === 'failed') {
    message.dueAt = now + Math.max(schedule.retryMs(message.attempts) ?? 0, retryAfterMs(outcome))
    unsaved.store(message)
    lanes.retry(message)
  } else {
    waiting.delete(message)
    lanes.finish(message, now)
    unsaved.finish(message)
  }
  if (verdict === 'delivered') health.succeeded()
  const isFailure = verdict === 'failed' || verdict === 'given_up'
  const observed: Effect = { kind: 'observe', outcome: verdict, durationMs: outcome.durationMs }
  return isFailure ? [observed, ...noteFailure(state, message, outcome, now)] : [observed]
}

function noteFailure(state: EndpointState, message: Message, outcome: AttemptOutcome, now: number): Effect[] {
  const { health, closing } = state
  health.failed(message.lane, now, retryAfterMs(outcome))
  const isTooLong = now - (health.failingSince() ?? now) > DISABLED_AFTER_MS
  const reason = isGone(outcome) ? 'gone' : isTooLong ? 'failing' : undefined
  if (reason === undefined || closing.disable !== undefined) return []
  close(state, { disable: reason })
  return [{ kind: 'warn', message: 'a webhook was disabled', fields: { reason } }]
}

/** One save is in flight at a time. */
function saveDue(state: EndpointState, { now, hasLease }: Moment): Effect[] {
  const { closing, unsaved, read } = state
  if (state.saving !== undefined) return []
  const isLast = state.phase === 'closing' && (state.inFlight === 0 || closing.isLate === true)
  if (isLast && closing.isStopping) return hasLease ? [save(state, isLast, now)] : end(state)
  const hasChanges = isLast || unsaved.hasChanges()
  const dueAt = state.savedAt + (hasChanges ? SAVED_EVERY_MS : POSITION_SAVED_EVERY_MS)
  if (now < dueAt || !(hasChanges || state.saved !== read.number)) return []
  return [save(state, isLast, now)]
}

function save(state: EndpointState, isLast: boolean, now: number): Effect {
  const { webhook, closing, health, unsaved } = state
  const { progress, restore } = unsaved.take(state.read, now)
  const since = health.failingSince()
  state.saving = { number: progress.position.number, isLast, restore }
  state.savedAt = now
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
  const { number, isLast, restore } = state.saving as Saving
  state.saving = undefined
  if (isSaved) state.saved = number
  else restore()
  return isLast && (isSaved || state.closing.isStopping) ? end(state) : []
}

// The delivery to one webhook as a state machine: its state, the triggers that change the state, and the effects that follow.
// transitions.ts changes the state, and endpoint.ts runs the effects. An effect that takes time ends with a trigger.
//
//   running   reads, sends and saves
//   closing   neither reads nor sends; saves a last time when no attempt is in flight
//   over      final; if the webhook stays enabled, leases.ts claims and loads it again
//
// | From             | Trigger                                                      | To      |
// |------------------|--------------------------------------------------------------|---------|
// | running          | a new epoch; 410 or 3 days of failures; the process stops    | closing |
// | closing          | the last save succeeded; or the process stops, and the save  |         |
// |                  | failed or the lease is not valid                             | over    |
// | running, closing | abort: the lease was lost, or the webhook was restarted,     |         |
// |                  | disabled or deleted                                          | over    |
import type { Position } from '../feed/format.ts'
import type { EventType } from '../feed/schema.ts'
import type { DeliveryOutcome, DisabledReason } from '../webhooks/schema.ts'
import type { Health } from './health.ts'
import type { Lanes } from './lanes.ts'
import type { LeasedWebhook } from './lease-queries.ts'
import type { Message } from './message.ts'
import type { AttemptOutcome } from './outcome.ts'
import type { Changes, Unsaved } from './progress.ts'
import type { Progress, RetryRow } from './queries.ts'
import type { Schedule } from './schedule.ts'
import type { FeedMoved, WebhookPage } from './webhook-feed.ts'

/** Why the delivery closes; empty while it runs. There can be several reasons. */
export interface Closing {
  /** The last save disables the webhook. */
  disable?: DisabledReason
  /** The last save moves the webhook to this position, in a new epoch. */
  newEpoch?: Position
  /** The process stops: the last save is tried once, and at once. */
  isStopping?: true
  /** The attempts in flight took too long: the last save does not wait for them. */
  isTimedOut?: true
}

export interface Saving {
  /** The number of the position that is being saved. */
  number: bigint
  /** If it succeeds, the phase becomes `over`. */
  isLast: boolean
  /** Become unsaved again if the save fails. */
  changes: Changes
}

/** Plain data without functions, so that it can be copied and printed. Only `apply` changes it, and the messages in it. */
export interface EndpointState {
  phase: 'running' | 'closing' | 'over'
  closing: Closing
  webhook: LeasedWebhook
  readonly lanes: Lanes
  readonly unsaved: Unsaved
  readonly health: Health
  /** The same messages as in `lanes`, in the order in which they were added. */
  readonly unfinished: Set<Message>
  /**
   * Events that were done, or in webhook_retries, when the webhook was loaded. Those after the position come from the feed as
   * well, and are left out.
   */
  readonly handledBefore: Set<bigint>
  /** The highest id of the test events and redeliveries that were added. */
  lastRequestId: bigint
  /** All events up to here are read. */
  readUpTo: Position
  isReading: boolean
  /** No page is read before this time. */
  readAgainAt: number
  /** The number of the position in the database. */
  savedNumber: bigint
  /** When the last save was started, even if it failed. */
  saveStartedAt: number
  /** Undefined if no save is in flight. */
  saving: Saving | undefined
  inFlight: number
}

export type Trigger =
  /**
   * Comes several times a second. `newest` is the position of the newest event; undefined if it is not known yet.
   * `messagesMax` is the max of unfinished messages to which pages are read.
   */
  | { kind: 'tick'; newest: Position | undefined; messagesMax: number }
  | { kind: 'page_read'; page: WebhookPage | FeedMoved }
  | { kind: 'read_failed' }
  /** A slot was taken for one attempt of this webhook. Only if `canSend` is true under the same conditions. */
  | { kind: 'slot_taken' }
  | { kind: 'attempt_ended'; message: Message; outcome: AttemptOutcome }
  /** The event could not be read again, so there was no attempt. */
  | { kind: 'not_sent'; message: Message }
  | { kind: 'saved' }
  | { kind: 'save_failed' }
  /** The webhook has a new `version`. `rows` has the requested messages after `lastRequestId`. */
  | { kind: 'refreshed'; webhook: LeasedWebhook; rows: readonly RetryRow[] }
  | { kind: 'stop' }
  | { kind: 'stop_timeout' }
  /** The process no longer has the lease, or the webhook has a new `restarts`, is disabled or is deleted. */
  | { kind: 'abort' }

export type Effect =
  /** Reads up to `max` events. */
  | { kind: 'read'; after: Position; types: readonly EventType[]; max: number }
  | { kind: 'send'; message: Readonly<Message> }
  | { kind: 'save'; progress: Progress }
  | { kind: 'observe'; outcome: DeliveryOutcome; durationMs: number }
  | { kind: 'warn'; message: string; fields: object }
  /** The phase is `over`: cancels the attempts in flight. */
  | { kind: 'end' }

export interface Conditions {
  /** A time of the monotonic clock. */
  now: number
  /** Whether the lease is valid, with time to spare. */
  hasLease: boolean
  /** No part of the state, because its delays are random. */
  schedule: Schedule
}

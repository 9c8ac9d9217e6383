// The delivery to one webhook as a state machine: its state, the triggers that change the state, and the effects that follow.
// transitions.ts changes the state, and endpoint.ts runs the effects. An effect that takes time ends with a trigger.
//
//   running   reads, sends and saves
//   closing   neither reads nor sends; saves a last time when no attempt is in flight
//   over      final: the webhook must be loaded again
//
// | From             | Trigger                                                      | To      |
// |------------------|--------------------------------------------------------------|---------|
// | running          | a new epoch; 410 or 3 days of failures; the process stops    | closing |
// | closing          | the last save succeeded; or it failed, and the process stops | over    |
// | running, closing | the lease was lost, or a caller has changed the webhook      | over    |
import type { Position } from '../feed/format.ts'
import type { EventType } from '../feed/schema.ts'
import type { DeliveryOutcome, DisabledReason } from '../webhooks/schema.ts'
import type { Health } from './health.ts'
import type { Lanes } from './lanes.ts'
import type { LeasedWebhook } from './lease-queries.ts'
import type { Message } from './message.ts'
import type { AttemptOutcome } from './outcome.ts'
import type { Unsaved } from './progress.ts'
import type { Progress, RetryRow } from './queries.ts'
import type { Schedule } from './schedule.ts'
import type { FeedMoved, WebhookPage } from './webhook-feed.ts'

/** What the last save must contain. */
export interface Closing {
  disable?: DisabledReason
  /** The webhook continues here, in a new epoch. */
  newEpoch?: Position
  /** The process stops: the last save is tried once, and at once. */
  isStopping?: true
  /** The process stops without waiting for the attempts in flight. */
  isLate?: true
}

export interface Saving {
  number: bigint
  isLast: boolean
  /** Makes unsaved again what could not be saved. */
  restore: () => void
}

export interface EndpointState {
  phase: 'running' | 'closing' | 'over'
  closing: Closing
  webhook: LeasedWebhook
  readonly schedule: Schedule
  readonly lanes: Lanes
  readonly unsaved: Unsaved
  readonly health: Health
  /** All messages that are not done, oldest first. */
  readonly waiting: Set<Message>
  /** Events after the position that are done, or wait in webhook_retries. They are not sent a second time. */
  readonly known: Set<bigint>
  /** The id of the newest test event or redelivery. */
  lastRequest: bigint
  /** All events up to here are read. */
  read: Position
  isReading: boolean
  readAgainAt: number
  saved: bigint
  savedAt: number
  /** Undefined if no save is in flight. */
  saving: Saving | undefined
  inFlight: number
}

export type Trigger =
  /** Comes several times a second. `newest` is the position of the newest event. */
  | { kind: 'tick'; newest: Position | undefined }
  | { kind: 'page_read'; page: WebhookPage | FeedMoved }
  | { kind: 'read_failed' }
  /** Only after `hasDue`. */
  | { kind: 'slot_taken' }
  | { kind: 'attempt_ended'; message: Message; outcome: AttemptOutcome }
  /** The event could not be read again, so nothing was sent. */
  | { kind: 'attempt_failed'; message: Message }
  | { kind: 'saved' }
  | { kind: 'save_failed' }
  /** `rows` has the requested messages after `lastRequest`. */
  | { kind: 'changed'; webhook: LeasedWebhook; rows: readonly RetryRow[] }
  | { kind: 'stop' }
  | { kind: 'stop_timeout' }
  /** The process has no lease, or a caller has changed the webhook. */
  | { kind: 'lost' }

export type Effect =
  | { kind: 'read'; after: Position; types: readonly EventType[] }
  | { kind: 'send'; message: Message }
  | { kind: 'save'; progress: Progress }
  | { kind: 'observe'; outcome: DeliveryOutcome; durationMs: number }
  | { kind: 'warn'; message: string; fields: object }
  /** Cancels the attempts in flight. */
  | { kind: 'end' }

export interface Moment {
  /** A time of the monotonic clock. */
  now: number
  /** Whether the lease is valid, with time to spare. */
  hasLease: boolean
}

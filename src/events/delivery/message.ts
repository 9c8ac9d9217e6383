// A message to the receiver of a webhook, and its text. Many messages wait, so a message keeps the number of its event
// instead of the event, whose size has no close limit.
import { stringifyJson } from '../../values/json.ts'
import { toEvent } from '../feed/feed.ts'
import { type Position, writePosition } from '../feed/format.ts'
import type { EventRow } from '../feed/queries.ts'
import { rowBytes } from '../feed/row-bytes.ts'
import { EVENT_MESSAGE_PREFIX, TEST_MESSAGE_PREFIX } from '../webhooks/rules.ts'
import type { DeliveryKind } from '../webhooks/schema.ts'
import type { RetryRow } from './queries.ts'

/** Only `apply` in transitions.ts, and functions that it calls, change fields of a message. */
export interface Message {
  kind: DeliveryKind
  /** The id of the row in webhook_retries of a requested message; null for an event of the feed. */
  id: bigint | null
  /** The epoch of the event, which is an earlier one after some redeliveries. */
  epoch: string
  /** The number of the event; null for a test event. */
  number: bigint | null
  petId: bigint | null
  type: string
  occurredAt: Date
  /** Messages of a lane are sent one after the other. */
  lane: string
  attempts: number
  /** The next attempt starts at this time of the monotonic clock, or later. */
  dueAt: number
  /** The memory that the event took when it was read; 0 for a message of webhook_retries. */
  eventBytes: number
  state: 'waiting' | 'in_flight' | 'done'
  sentAt: number
  /** Whether the message has a row in webhook_retries, or gets one when the progress is saved. */
  isStored: boolean
}

/** The lane of all events of a pet. */
export const petLane = (petId: bigint | null) => `pet ${petId}`

export function eventMessage(row: EventRow, epoch: string): Message {
  return {
    kind: 'event',
    id: null,
    epoch,
    number: row.number,
    petId: row.petId,
    type: row.type,
    occurredAt: row.at,
    lane: petLane(row.petId),
    attempts: 0,
    dueAt: 0,
    eventBytes: rowBytes(row),
    state: 'waiting',
    sentAt: 0,
    isStored: false,
  }
}

/**
 * A requested message does not wait for events of its pet: it has a lane of its own.
 * @param epoch The epoch of the webhook, to which the events that wait for a retry belong.
 */
export function retryMessage(row: RetryRow, epoch: string, now: number): Message {
  const isEvent = row.kind === 'event'
  return {
    kind: row.kind,
    id: isEvent ? null : row.id,
    epoch: row.epoch ?? epoch,
    number: row.number,
    petId: row.petId,
    type: row.type,
    occurredAt: row.occurredAt,
    lane: isEvent ? petLane(row.petId) : `request ${row.id}`,
    attempts: row.attempts,
    dueAt: now + row.dueInSeconds * 1_000,
    eventBytes: 0,
    state: 'waiting',
    sentAt: 0,
    isStored: true,
  }
}

/** The same for every attempt, so that a receiver can recognise a message that it has already processed. */
export function messageId({ id, epoch, number }: Pick<Message, 'id' | 'epoch' | 'number'>): string {
  return number === null
    ? `${TEST_MESSAGE_PREFIX}${id}`
    : EVENT_MESSAGE_PREFIX + writePosition({ epoch, number })
}

export function writeTestBody(type: string, webhookId: bigint, occurredAt: Date): string {
  return stringifyJson({ type, timestamp: occurredAt, data: { webhookId } })
}

/** An event as the feed or the typed client returns it. */
interface EventToSend {
  position: string
  type: string
  occurredAt: Date | string
  petId: bigint | string
  pet?: object | undefined
  changed?: readonly string[] | undefined
  profile?: object | undefined
  order?: object | undefined
  entry?: object | undefined
}

/** The body of the message with an event. Contains no people, no reason and no note: these are meant for the staff. */
export function toEventBody(event: EventToSend): object {
  const { position, type, occurredAt, petId, pet, changed, profile } = event
  const order = event.order && { ...event.order, note: undefined }
  const entry = event.entry && { ...event.entry, seller: undefined, actor: undefined, reason: undefined }
  const data = { position, petId, pet, changed, profile, order, entry }
  return { type, timestamp: occurredAt, data }
}

export function writeEventBody(row: EventRow, epoch: Position['epoch']): string {
  return stringifyJson(toEventBody(toEvent(row, epoch, false)))
}

// One attempt to deliver a message: what is sent, and what its outcome means.
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import type { Position } from '../feed/format.ts'
import type { EventRow } from '../feed/queries.ts'
import type { DeliveryOutcome } from '../webhooks/schema.ts'
import { messageHeaders } from '../webhooks/signature.ts'
import { endAttemptSpan, startAttemptSpan } from './attempt-span.ts'
import type { LeasedWebhook } from './lease-queries.ts'
import { type Message, messageId, writeEventBody, writeTestBody } from './message.ts'
import { type AttemptOutcome, NOT_STORED } from './outcome.ts'
import type { DeliveryResult } from './queries.ts'
import type { Schedule } from './schedule.ts'
import type { Sender } from './sender.ts'

/** Returns an event; undefined if it is no longer stored. */
export type LoadEvent = (position: Position) => Promise<EventRow | undefined>

export interface AttemptServices {
  sender: Pick<Sender, 'send'>
  /** Undefined if tracing is off. */
  tracing?: Tracing | undefined
}

/** @param body The result of `bodyOf`. */
export async function attempt(
  message: Message,
  body: string | undefined,
  webhook: LeasedWebhook,
  { sender, tracing }: AttemptServices,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  if (body === undefined) return NOT_STORED
  const headers = messageHeaders(messageId(message), body, currentSecrets(webhook))
  const trace = tracing && startAttemptSpan(tracing, message, webhook)
  const outcome = await sender.send({
    url: webhook.url,
    headers: { ...headers, ...trace?.headers },
    body,
    signal,
  })
  if (trace !== undefined) endAttemptSpan(trace, outcome)
  return outcome
}

/** A rotated secret signs until it expires. */
function currentSecrets({ secrets }: LeasedWebhook): Buffer[] {
  const now = performance.now()
  return secrets
    .filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
    .map(({ secret }) => secret)
}

/** Undefined if the event is no longer stored. Fails if it cannot be read. */
export async function bodyOf(
  { number, epoch, type, occurredAt }: Message,
  { id }: LeasedWebhook,
  loadEvent: LoadEvent,
): Promise<string | undefined> {
  // Only a test event has no number.
  if (number === null) return writeTestBody(type, id, occurredAt)
  const row = await loadEvent({ epoch, number })
  return row && writeEventBody(row, epoch)
}

/**
 * What the outcome means for the message. After `failed`, another attempt follows; all others are final.
 * `message.attempts` must already count this attempt.
 */
export function verdictOf(message: Message, outcome: AttemptOutcome, schedule: Schedule): DeliveryOutcome {
  if (outcome.kind === 'response' && outcome.status >= 200 && outcome.status < 300) return 'delivered'
  if (outcome.kind === 'failure' && outcome.reason === 'not_stored') return 'skipped'
  return schedule.retryMs(message.attempts) === undefined ? 'given_up' : 'failed'
}

/** The pause that the receiver asks for with 429 or 503; 0 if it asks for none. */
export function retryAfterMs(outcome: AttemptOutcome): number {
  if (outcome.kind !== 'response' || ![429, 503].includes(outcome.status)) return 0
  return (outcome.retryAfterSeconds ?? 0) * 1_000
}

/** The process has cancelled the attempt; the receiver may have got the message. */
export function isAborted(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'failure' && outcome.reason === 'aborted'
}

/** The receiver does not want any further message. */
export function isGone(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'response' && outcome.status === 410
}

export function toResult(
  message: Message,
  outcome: AttemptOutcome,
  verdict: DeliveryOutcome,
): DeliveryResult {
  const { kind, number, petId, type, occurredAt, attempts } = message
  return {
    messageId: messageId(message),
    kind,
    number,
    petId,
    type,
    occurredAt,
    attempt: attempts,
    outcome: verdict,
    responseStatus: outcome.kind === 'response' ? outcome.status : null,
    failure: outcome.kind === 'failure' ? outcome.reason : null,
    durationMs: Math.round(outcome.durationMs),
    at: new Date(),
  }
}

// SQL statements of the delivery: positions, retries and results. lease-queries.ts has those of the leases.
// The role petstore_deliver runs them.
// migrations/0008_webhooks.sql explains the tables.
import type { Reader, Tx, Writer } from '../../db/database.ts'
import type { Position } from '../feed/format.ts'
import { epochOf } from '../feed/queries.ts'
import type { DeliveryKind, DeliveryOutcome, DisabledReason } from '../webhooks/schema.ts'

export interface RetryRow {
  id: bigint
  kind: DeliveryKind
  /** The epoch of a redelivered event; null for other messages. */
  epoch: string | null
  number: bigint | null
  petId: bigint | null
  type: string
  occurredAt: Date
  attempts: number
  dueInSeconds: number
}

/** Returns the retries of a webhook with an id above `afterId`, in the order of the feed. */
export async function findWebhookRetries(
  db: Reader,
  webhookId: bigint,
  kinds: readonly DeliveryKind[],
  afterId: bigint,
  max: number,
): Promise<RetryRow[]> {
  return db.read({
    name: 'find_webhook_retries',
    bounded: 'by one pet or webhook',
    text: `select id, kind, number, pet_id as "petId", type, occurred_at as "occurredAt", attempts,
        extract(epoch from due_at - now())::float8 as "dueInSeconds",
        case when kind = 'redelivery' then ${epochOf('webhook_retries.number')} end as epoch
      from webhook_retries
      where webhook_id = $1 and kind = any($2::text[]) and id > $3
      order by number, id
      limit $4`,
    values: [webhookId, kinds, afterId, max],
  })
}

/** Where and when to retry. Requested messages have the id of their row; events are identified by their number. */
export interface RetryToSave {
  id: bigint | null
  number: bigint | null
  petId: bigint | null
  type: string
  occurredAt: Date
  attempts: number
  dueInSeconds: number
}

export interface DeliveryResult {
  messageId: string
  kind: DeliveryKind
  number: bigint | null
  petId: bigint | null
  type: string
  occurredAt: Date
  attempt: number
  outcome: DeliveryOutcome
  responseStatus: number | null
  failure: string | null
  durationMs: number
  at: Date
}

export interface Progress {
  webhookId: bigint
  restarts: bigint
  position: Position
  /** Numbers of events after the position that need no further attempt. */
  done: readonly bigint[]
  /** Seconds since every attempt fails; null after a success. */
  failingSeconds: number | null
  disable: DisabledReason | undefined
  /** The webhook continues here, and forgets all events of earlier epochs. */
  newEpoch: Position | undefined
  /** Rows of webhook_retries that are deleted: requested messages by their ids, events by their numbers. */
  deletedIds: readonly bigint[]
  deletedNumbers: readonly bigint[]
  retries: readonly RetryToSave[]
  results: readonly DeliveryResult[]
}

/** Another process has the lease, or a caller has changed the webhook. */
export class LeaseLost extends Error {}

/** Moves the webhook and saves its health. Must come first: without the lease, another process may be further. */
export async function moveLeasedWebhook(
  tx: Tx,
  deliverer: string,
  { webhookId, restarts, newEpoch, position, done, failingSeconds, disable }: Progress,
): Promise<void> {
  const { epoch, number } = newEpoch ?? position
  const rows = await tx.write({
    name: 'move_leased_webhook',
    bounded: 'by unique keys',
    text: `update webhooks
      set epoch = $4, number = $5, failing_since = now() - make_interval(secs => $6),
        done = coalesce((
          select range_agg(int8range(done_number, done_number, '[]')) from unnest($8::bigint[]) as done_number
        ), '{}'),
        disabled_reason = coalesce(disabled_reason, $7),
        disabled_at = case when $7::text is null then disabled_at else coalesce(disabled_at, now()) end
      where id = $1 and deliverer = $2 and restarts = $3 and leased_until > now()
      returning 1`,
    values: [
      webhookId,
      deliverer,
      restarts,
      epoch,
      number,
      failingSeconds,
      disable ?? null,
      newEpoch === undefined ? done : [],
    ],
  })
  if (rows.length === 0) throw new LeaseLost(`the lease of webhook ${webhookId} was lost`)
}

export async function deleteWebhookRetries(
  tx: Tx,
  webhookId: bigint,
  ids: readonly bigint[],
  numbers: readonly bigint[],
): Promise<void> {
  await tx.write({
    name: 'delete_webhook_retries',
    bounded: 'by one pet or webhook',
    text: `delete from webhook_retries
      where webhook_id = $1 and (id = any($2::bigint[]) or (kind = 'event' and number = any($3::bigint[])))`,
    values: [webhookId, ids, numbers],
  })
}

/** Forgets all events that wait for a retry, but no requested message. */
export async function deleteWebhookEventRetries(tx: Tx, webhookId: bigint): Promise<void> {
  await tx.write({
    name: 'delete_webhook_event_retries',
    bounded: 'by one pet or webhook',
    text: `delete from webhook_retries where webhook_id = $1 and kind = 'event'`,
    values: [webhookId],
  })
}

export async function updateRequestedWebhookRetries(
  tx: Tx,
  webhookId: bigint,
  retries: readonly RetryToSave[],
): Promise<void> {
  await tx.write({
    name: 'update_requested_webhook_retries',
    bounded: 'by one pet or webhook',
    text: `update webhook_retries set attempts = input.attempts, due_at = now() + make_interval(secs => input.due_in)
      from unnest($2::bigint[], $3::int[], $4::float8[]) as input (id, attempts, due_in)
      where webhook_id = $1 and webhook_retries.id = input.id`,
    values: [
      webhookId,
      retries.map(({ id }) => id),
      retries.map(({ attempts }) => attempts),
      retries.map(({ dueInSeconds }) => dueInSeconds),
    ],
  })
}

export async function upsertWebhookEventRetries(
  tx: Tx,
  webhookId: bigint,
  retries: readonly RetryToSave[],
): Promise<void> {
  await tx.write({
    name: 'upsert_webhook_event_retries',
    bounded: 'by the given rows',
    text: `insert into webhook_retries (webhook_id, kind, number, pet_id, type, occurred_at, attempts, due_at)
      select $1, 'event', number, pet_id, type, occurred_at, attempts, now() + make_interval(secs => due_in)
      from unnest($2::bigint[], $3::bigint[], $4::text[], $5::timestamptz[], $6::int[], $7::float8[])
        as input (number, pet_id, type, occurred_at, attempts, due_in)
      order by number
      on conflict (webhook_id, number) where kind = 'event'
      do update set attempts = excluded.attempts, due_at = excluded.due_at`,
    values: [
      webhookId,
      retries.map(({ number }) => number),
      retries.map(({ petId }) => petId),
      retries.map(({ type }) => type),
      retries.map(({ occurredAt }) => occurredAt),
      retries.map(({ attempts }) => attempts),
      retries.map(({ dueInSeconds }) => dueInSeconds),
    ],
  })
}

export async function insertWebhookDeliveries(
  tx: Tx,
  webhookId: bigint,
  results: readonly DeliveryResult[],
): Promise<void> {
  await tx.write({
    name: 'insert_webhook_deliveries',
    bounded: 'by the given rows',
    text: `insert into webhook_deliveries (webhook_id, message_id, kind, number, pet_id, type, occurred_at, attempt,
        outcome, response_status, failure, duration_ms, at)
      select $1, input.*
      from unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::timestamptz[], $8::int[],
        $9::text[], $10::int[], $11::text[], $12::int[], $13::timestamptz[]) as input`,
    values: [
      webhookId,
      results.map((result) => result.messageId),
      results.map((result) => result.kind),
      results.map((result) => result.number),
      results.map((result) => result.petId),
      results.map((result) => result.type),
      results.map((result) => result.occurredAt),
      results.map((result) => result.attempt),
      results.map((result) => result.outcome),
      results.map((result) => result.responseStatus),
      results.map((result) => result.failure),
      results.map((result) => result.durationMs),
      results.map((result) => result.at),
    ],
  })
}

/** Deletes up to `max` attempts of a webhook beyond the newest `kept` ones; returns how many. */
export async function deleteOldWebhookDeliveries(
  db: Writer,
  webhookId: bigint,
  kept: number,
  max: number,
): Promise<number> {
  const rows = await db.write({
    name: 'delete_old_webhook_deliveries',
    bounded: 'by one pet or webhook',
    text: `delete from webhook_deliveries
      where webhook_id = $1 and id = any(array(
        select id from webhook_deliveries where webhook_id = $1 order by id desc offset $2 limit $3
      ))
      returning 1`,
    values: [webhookId, kept, max],
    isIdempotent: true,
  })
  return rows.length
}

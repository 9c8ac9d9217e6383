// SQL statements on webhooks for callers of the API. src/events/delivery/queries.ts has those of the delivery.
import type { Reader, Tx, Writer } from '../../db/database.ts'
import { INT64_MAX } from '../../values/int64.ts'
import { type Position, writePosition } from '../feed/format.ts'
import type { EventType } from '../feed/schema.ts'
import { EVENT_MESSAGE_PREFIX, SECRETS_MAX, TEST_MESSAGE_PREFIX } from './rules.ts'
import type { Delivery, DeliveryOutcome, DisabledReason, Webhook, WebhookChanges } from './schema.ts'

interface WebhookRow extends Position {
  id: bigint
  url: string
  description: string | null
  types: EventType[]
  createdAt: Date
  disabledReason: DisabledReason | null
  disabledAt: Date | null
  failingSince: Date | null
  lastDeliveredAt: Date | null
  waiting: number
}

// node-postgres parses an array of an enum type only as an array of text. The newest success is found from the newest attempt
// back, by the primary key: one row, unless the receiver fails. While it does, it gets few messages.
const COLUMNS = `id, url, description, types::text[], created_at as "createdAt", disabled_reason as "disabledReason",
  disabled_at as "disabledAt", failing_since as "failingSince", epoch, number,
  (
    select at from webhook_deliveries
    where webhook_id = webhooks.id and outcome = 'delivered'
    order by webhook_deliveries.id desc
    limit 1
  ) as "lastDeliveredAt",
  (select count(*)::int from webhook_retries where webhook_id = webhooks.id) as waiting`

/** Makes webhooks wait for each other when they are created, so that their number can be limited. */
export async function lockWebhooks(tx: Tx): Promise<void> {
  await tx.read({
    name: 'lock_webhooks',
    bounded: 'without a table',
    text: `select pg_advisory_xact_lock(hashtext('petstore create webhook'))`,
    values: [],
  })
}

export async function countWebhooks(tx: Tx): Promise<number> {
  const [row] = await tx.read<{ count: number }>({
    name: 'count_webhooks',
    bounded: 'by a small table',
    text: 'select count(*)::int as count from webhooks',
    values: [],
  })
  return row?.count ?? 0
}

export interface WebhookToInsert extends Position {
  url: string
  description: string | undefined
  types: readonly EventType[]
}

export async function insertWebhook(
  tx: Tx,
  { url, description, types, epoch, number }: WebhookToInsert,
): Promise<Webhook> {
  const [row] = await tx.write<WebhookRow>({
    name: 'insert_webhook',
    bounded: 'by the given rows',
    text: `insert into webhooks (url, description, types, epoch, number)
      values ($1, $2, $3::text[]::event_type[], $4, $5)
      returning ${COLUMNS}`,
    values: [url, description ?? null, types, epoch, number],
  })
  return toWebhook(row as WebhookRow)
}

/** Adds a secret. The former ones expire after the overlap, and the oldest beyond SECRETS_MAX are deleted. */
export async function addSecret(
  tx: Tx,
  webhookId: bigint,
  secret: Buffer,
  overlapSeconds: number,
): Promise<void> {
  await retireWebhookSecrets(tx, webhookId, overlapSeconds)
  await deleteOldWebhookSecrets(tx, webhookId)
  await insertWebhookSecret(tx, webhookId, secret)
}

async function retireWebhookSecrets(tx: Tx, webhookId: bigint, overlapSeconds: number): Promise<void> {
  await tx.write({
    name: 'retire_webhook_secrets',
    bounded: 'by one pet or webhook',
    text: `update webhook_secrets
      set expires_at = least(expires_at, now() + make_interval(secs => $2))
      where webhook_id = $1`,
    values: [webhookId, overlapSeconds],
  })
}

async function deleteOldWebhookSecrets(tx: Tx, webhookId: bigint): Promise<void> {
  await tx.write({
    name: 'delete_old_webhook_secrets',
    bounded: 'by one pet or webhook',
    text: `delete from webhook_secrets
      where webhook_id = $1 and (expires_at <= now() or id <= (
        select id from webhook_secrets where webhook_id = $1 order by id desc offset $2 limit 1
      ))`,
    values: [webhookId, SECRETS_MAX - 1],
  })
}

async function insertWebhookSecret(tx: Tx, webhookId: bigint, secret: Buffer): Promise<void> {
  await tx.write({
    name: 'insert_webhook_secret',
    bounded: 'by the given rows',
    text: 'insert into webhook_secrets (webhook_id, secret) values ($1, $2)',
    values: [webhookId, secret],
  })
}

/** Returns webhooks with an id below `beforeId`, newest first. */
export async function findWebhooksBefore(
  db: Reader,
  beforeId: bigint | undefined,
  max: number,
): Promise<Webhook[]> {
  const rows = await db.read<WebhookRow>({
    name: 'find_webhooks_before',
    text: `select ${COLUMNS} from webhooks where id < $1 order by id desc limit $2`,
    values: [beforeId ?? INT64_MAX, max],
  })
  return rows.map(toWebhook)
}

export async function findWebhook(db: Reader, id: bigint): Promise<Webhook | undefined> {
  const [row] = await db.read<WebhookRow>({
    name: 'find_webhook',
    bounded: 'by unique keys',
    text: `select ${COLUMNS} from webhooks where id = $1`,
    values: [id],
  })
  return row && toWebhook(row)
}

/** Locks the webhook until the transaction ends. */
export async function lockWebhook(tx: Tx, id: bigint): Promise<Webhook | undefined> {
  const [row] = await tx.read<WebhookRow>({
    name: 'lock_webhook',
    bounded: 'by unique keys',
    text: `select ${COLUMNS} from webhooks where id = $1 for update`,
    values: [id],
  })
  return row && toWebhook(row)
}

/**
 * Changes the given fields, and restarts the delivery. Enabling a webhook makes all its retries due, as if none of them had
 * failed. One that was enabled already stays failing until an attempt succeeds.
 */
export async function updateWebhook(
  tx: Tx,
  id: bigint,
  { url, description, types, enabled }: WebhookChanges,
): Promise<Webhook | undefined> {
  const [row] = await tx.write<WebhookRow>({
    name: 'update_webhook',
    bounded: 'by unique keys',
    text: `update webhooks
      set url = coalesce($2, url), description = coalesce($3, description),
        types = coalesce($4::text[]::event_type[], types),
        disabled_reason = case $5::boolean when true then null when false then coalesce(disabled_reason, 'caller')
          else disabled_reason end,
        disabled_at = case $5::boolean when true then null when false then coalesce(disabled_at, now())
          else disabled_at end,
        failing_since = case when $5 and disabled_at is not null then null else failing_since end,
        version = version + 1, restarts = restarts + 1
      where id = $1
      returning ${COLUMNS}`,
    values: [id, url ?? null, description ?? null, types ?? null, enabled ?? null],
  })
  if (row !== undefined && enabled === true) await resetWebhookRetries(tx, id)
  return row && toWebhook(row)
}

async function resetWebhookRetries(tx: Tx, webhookId: bigint): Promise<void> {
  await tx.write({
    name: 'reset_webhook_retries',
    bounded: 'by one pet or webhook',
    text: 'update webhook_retries set attempts = 0, due_at = now() where webhook_id = $1',
    values: [webhookId],
  })
}

/** Returns false for an unknown id. */
export async function deleteWebhook(db: Writer, id: bigint): Promise<boolean> {
  const rows = await db.write({
    name: 'delete_webhook',
    bounded: 'by unique keys',
    text: 'delete from webhooks where id = $1 returning 1',
    values: [id],
  })
  return rows.length > 0
}

/** Makes the process that delivers take over a new secret or a new request. */
export async function bumpWebhookVersion(tx: Tx, id: bigint): Promise<Webhook | undefined> {
  const [row] = await tx.write<WebhookRow>({
    name: 'bump_webhook_version',
    bounded: 'by unique keys',
    text: `update webhooks set version = version + 1 where id = $1 returning ${COLUMNS}`,
    values: [id],
  })
  return row && toWebhook(row)
}

/** Continues the delivery after this position. Forgets the retries of the events that are sent again. */
export async function moveWebhook(
  tx: Tx,
  id: bigint,
  { epoch, number }: Position,
): Promise<Webhook | undefined> {
  const [row] = await tx.write<WebhookRow>({
    name: 'move_webhook',
    bounded: 'by unique keys',
    text: `with forgotten as (
        delete from webhook_retries where webhook_id = $1 and kind = 'event' and number > $3
      )
      update webhooks
      set epoch = $2, number = $3, done = '{}', version = version + 1, restarts = restarts + 1
      where id = $1
      returning ${COLUMNS}`,
    values: [id, epoch, number],
  })
  return row && toWebhook(row)
}

/** Adds a test event, unless `max` requested messages already wait. */
export async function insertWebhookTest(
  tx: Tx,
  webhookId: bigint,
  type: string,
  max: number,
): Promise<boolean> {
  const rows = await tx.write({
    name: 'insert_webhook_test',
    bounded: 'by the given rows',
    text: `insert into webhook_retries (webhook_id, kind, type, occurred_at)
      select $1, 'test', $2, now()
      where (select count(*) from webhook_retries where webhook_id = $1 and kind <> 'event') < $3
      returning 1`,
    values: [webhookId, type, max],
  })
  return rows.length > 0
}

/** Adds a redelivery of the event or test event, unless `max` requested messages already wait. */
export async function insertWebhookRedelivery(
  tx: Tx,
  webhookId: bigint,
  deliveryId: bigint,
  max: number,
): Promise<boolean> {
  const rows = await tx.write({
    name: 'insert_webhook_redelivery',
    bounded: 'by the given rows',
    text: `insert into webhook_retries (webhook_id, kind, number, pet_id, type, occurred_at)
      select webhook_id, case when number is null then 'test' else 'redelivery' end, number, pet_id, type, occurred_at
      from webhook_deliveries
      where webhook_id = $1 and id = $2
        and (select count(*) from webhook_retries where webhook_id = $1 and kind <> 'event') < $3
      returning 1`,
    values: [webhookId, deliveryId, max],
  })
  return rows.length > 0
}

type DeliveryRow = Omit<Delivery, 'position' | 'petId' | 'responseStatus' | 'failure' | 'nextAttemptAt'> & {
  number: bigint | null
  petId: bigint | null
  responseStatus: number | null
  failure: string | null
  nextAttemptAt: Date | null
}

const DELIVERY_COLUMNS = `id, message_id as "messageId", kind, type, number, pet_id as "petId", attempt, outcome,
  response_status as "responseStatus", failure, duration_ms as "durationMs", at`

/**
 * When the message of a failed attempt is sent again. Its row in webhook_retries counts the attempts, so an earlier attempt of
 * the message has no such time. The count is 0 after the webhook was enabled again: everything that waits is then due.
 */
const NEXT_ATTEMPT_AT = `case
  when outcome <> 'failed' or (select disabled_at is not null from webhooks where webhooks.id = $1) then null
  when kind = 'event' then (
    select due_at from webhook_retries as retry
    where retry.webhook_id = $1 and retry.kind = 'event' and retry.number = webhook_deliveries.number
      and retry.attempts in (0, attempt)
  )
  else (
    select min(due_at) from requested
    where requested.kind = webhook_deliveries.kind and requested.attempts in (0, attempt)
      and (requested.number = webhook_deliveries.number or '${TEST_MESSAGE_PREFIX}' || requested.id = message_id)
  )
end`

/** Returns the type of the message; undefined if the webhook has no such delivery. */
export async function findDeliveredType(
  db: Reader,
  webhookId: bigint,
  id: bigint,
): Promise<string | undefined> {
  const [row] = await db.read<{ type: string }>({
    name: 'find_delivered_type',
    bounded: 'by unique keys',
    text: 'select type from webhook_deliveries where webhook_id = $1 and id = $2',
    values: [webhookId, id],
  })
  return row?.type
}

/** Returns attempts of these types with an id below `beforeId`, newest first. The table keeps only the newest ones. */
export async function findWebhookDeliveriesBefore(
  db: Reader,
  webhookId: bigint,
  { outcome, types }: { outcome: DeliveryOutcome | undefined; types: readonly string[] },
  beforeId: bigint | undefined,
  max: number,
): Promise<Delivery[]> {
  const rows = await db.read<DeliveryRow>({
    name: 'find_webhook_deliveries_before',
    // Events are found by an index. Tests and redeliveries are few, and are read once.
    text: `with requested as materialized (
        select id, kind, number, attempts, due_at from webhook_retries where webhook_id = $1 and kind <> 'event'
      )
      select ${DELIVERY_COLUMNS}, ${NEXT_ATTEMPT_AT} as "nextAttemptAt"
      from webhook_deliveries
      where webhook_id = $1 and ($2::text is null or outcome = $2) and type = any($3) and id < $4
      order by id desc
      limit $5`,
    values: [webhookId, outcome ?? null, types, beforeId ?? INT64_MAX, max],
  })
  return rows.map(toDelivery)
}

function toWebhook({ epoch, number, ...row }: WebhookRow): Webhook {
  return {
    ...row,
    description: row.description ?? undefined,
    enabled: row.disabledReason === null,
    disabledReason: row.disabledReason ?? undefined,
    disabledAt: row.disabledAt ?? undefined,
    failingSince: row.failingSince ?? undefined,
    lastDeliveredAt: row.lastDeliveredAt ?? undefined,
    position: writePosition({ epoch, number }),
  }
}

function toDelivery({ number, ...row }: DeliveryRow): Delivery {
  return {
    ...row,
    position: number === null ? undefined : row.messageId.slice(EVENT_MESSAGE_PREFIX.length),
    petId: row.petId ?? undefined,
    responseStatus: row.responseStatus ?? undefined,
    failure: row.failure ?? undefined,
    nextAttemptAt: row.nextAttemptAt ?? undefined,
  }
}

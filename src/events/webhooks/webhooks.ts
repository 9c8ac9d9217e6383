// Rules for webhooks: create, change, rotate secrets, test, redeliver and replay.
// Sends nothing: `petstore deliver` does.
import { AppError } from '../../contract/errors.ts'
import { PAGE_BYTES_MAX, type Page, type PageRequest, toPage } from '../../contract/paging.ts'
import type { Db } from '../../db/database.ts'
import type { FindDurableEvents } from '../feed/durable.ts'
import { readEvents } from '../feed/feed.ts'
import { parsePosition, type Position } from '../feed/format.ts'
import { type EventType, LATEST } from '../feed/schema.ts'
import type { AddressRule } from './addresses.ts'
import {
  addSecret,
  bumpWebhookVersion,
  countWebhooks,
  deleteWebhook,
  findWebhookDeliveriesBefore,
  findDeliveredType,
  findWebhook,
  findWebhooksBefore,
  insertWebhookRedelivery,
  insertWebhookTest,
  insertWebhook,
  lockWebhook,
  lockWebhooks,
  moveWebhook,
  updateWebhook,
} from './queries.ts'
import { REQUESTED_MAX, TEST_TYPE } from './rules.ts'
import type { Delivery, DeliveryOutcome, Webhook, WebhookChanges } from './schema.ts'
import { makeSecret, writeSecret } from './signature.ts'
import { urlFault } from './url.ts'

export interface WebhookToCreate {
  url: string
  description: string | undefined
  types: readonly EventType[]
}

/** Creates a webhook that gets all events after the newest one. Also returns its secret, which cannot be read later. */
export async function createWebhook(
  db: Db,
  find: FindDurableEvents,
  webhook: WebhookToCreate,
  webhooksMax: number,
): Promise<Webhook & { secret: string }> {
  const position = await resolve(find, LATEST)
  const secret = makeSecret()
  const created = await db.transaction(async (tx) => {
    await lockWebhooks(tx)
    if ((await countWebhooks(tx)) >= webhooksMax) throw new AppError('too_many_webhooks')
    const inserted = await insertWebhook(tx, { ...webhook, ...position })
    await addSecret(tx, inserted.id, secret, 0)
    return inserted
  })
  return { ...created, secret: writeSecret(secret) }
}

/** Rejects a URL to which the service would not deliver. Only the delivery can check what its host name resolves to. */
export function requireUrl(url: string | undefined, rule: AddressRule): void {
  const fault = url === undefined ? undefined : urlFault(url, rule)
  if (fault === undefined) return
  const message = `url ${fault}`
  throw new AppError('invalid_body', { details: [{ field: 'url', code: 'invalid_url', message }] })
}

/** Lists webhooks, newest first. */
export async function listWebhooks(db: Db, { after, limit }: PageRequest): Promise<Page<Webhook>> {
  const found = await findWebhooksBefore(db, after?.id, limit + 1)
  return toPage(found, limit, ({ id }) => ({ id, sortKey: '' }))
}

export async function getWebhook(db: Db, id: bigint): Promise<Webhook> {
  return orNotFound(await findWebhook(db, id))
}

/**
 * Throws if the caller cannot read all events of these types. Otherwise, it could send them to a URL of its own, or
 * sign its own messages. Called in the transaction of a change, which it rolls back.
 */
export type RequireReadable = (types: readonly string[]) => void

/** The types before the change count too: messages of these types may still wait, and would be sent to the new URL. */
export async function changeWebhook(
  db: Db,
  id: bigint,
  changes: WebhookChanges,
  requireReadable: RequireReadable,
): Promise<Webhook> {
  return db.transaction(async (tx) => {
    requireReadable(orNotFound(await lockWebhook(tx, id)).types)
    const webhook = orNotFound(await updateWebhook(tx, id, changes))
    requireReadable(webhook.types)
    return webhook
  })
}

export async function removeWebhook(db: Db, id: bigint): Promise<void> {
  if (!(await deleteWebhook(db, id))) throw new AppError('webhook_not_found')
}

/** Returns the new secret. Messages are signed with the former one too, until the overlap has passed. */
export async function rotateSecret(
  db: Db,
  id: bigint,
  overlapSeconds: number,
  requireReadable: RequireReadable,
): Promise<string> {
  const secret = makeSecret()
  await db.transaction(async (tx) => {
    const webhook = orNotFound(await bumpWebhookVersion(tx, id))
    requireReadable(webhook.types)
    await addSecret(tx, id, secret, overlapSeconds)
  })
  return writeSecret(secret)
}

export async function requestTest(db: Db, id: bigint, requireReadable: RequireReadable): Promise<Webhook> {
  return db.transaction(async (tx) => {
    const webhook = orNotFound(await bumpWebhookVersion(tx, id))
    requireReadable(webhook.types)
    requireEnabled(webhook)
    if (!(await insertWebhookTest(tx, id, TEST_TYPE, REQUESTED_MAX))) throw new AppError('webhook_busy')
    return { ...webhook, waiting: webhook.waiting + 1 }
  })
}

export async function requestRedelivery(
  db: Db,
  id: bigint,
  deliveryId: bigint,
  requireReadable: RequireReadable,
): Promise<Webhook> {
  return db.transaction(async (tx) => {
    const webhook = orNotFound(await bumpWebhookVersion(tx, id))
    requireReadable(webhook.types)
    requireEnabled(webhook)
    const type = await findDeliveredType(tx, id, deliveryId)
    if (type === undefined) throw new AppError('delivery_not_found')
    // The types of the webhook may have changed since.
    if (type !== TEST_TYPE) requireReadable([type])
    if (!(await insertWebhookRedelivery(tx, id, deliveryId, REQUESTED_MAX)))
      throw new AppError('webhook_busy')
    return { ...webhook, waiting: webhook.waiting + 1 }
  })
}

/** Sends all events after the position again, before newer ones. */
export async function replay(
  db: Db,
  find: FindDurableEvents,
  id: bigint,
  after: string,
  requireReadable: RequireReadable,
): Promise<Webhook> {
  const start = after === LATEST ? LATEST : parsePosition(after)
  if (start === undefined) {
    const message = `after must be the position of an event, or "${LATEST}".`
    throw new AppError('invalid_body', { details: [{ field: 'after', code: 'invalid_value', message }] })
  }
  const position = await resolve(find, start)
  return db.transaction(async (tx) => {
    const webhook = orNotFound(await moveWebhook(tx, id, position))
    requireReadable(webhook.types)
    return webhook
  })
}

/** Lists test events, and events of the types that the caller can read, newest first. */
export async function listDeliveries(
  db: Db,
  id: bigint,
  { outcome, readable }: { outcome: DeliveryOutcome | undefined; readable: readonly EventType[] },
  { after, limit }: PageRequest,
): Promise<Page<Delivery>> {
  const filter = { outcome, types: [...readable, TEST_TYPE] }
  const found = await findWebhookDeliveriesBefore(db, id, filter, after?.id, limit + 1)
  // Only an empty page needs the question whether the webhook exists.
  if (found.length === 0) await getWebhook(db, id)
  return toPage(found, limit, (delivery) => ({ id: delivery.id, sortKey: '' }))
}

/** Returns the position of `latest`. Rejects a position whose next events are no longer stored. */
async function resolve(find: FindDurableEvents, start: Position | typeof LATEST): Promise<Position> {
  const { next } = await readEvents(find, start, {
    types: [],
    limit: 1,
    maxBytes: PAGE_BYTES_MAX,
    showActors: false,
  })
  return start === LATEST ? next : start
}

function requireEnabled({ enabled }: Webhook): void {
  if (!enabled) throw new AppError('webhook_disabled')
}

function orNotFound<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new AppError('webhook_not_found')
  return found
}

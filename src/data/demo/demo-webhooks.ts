// Two webhooks of the demo shop, with the attempts that `petstore deliver` would have made. One has a receiver on this host,
// which the demo starts. Nothing listens at the other one, so its attempts really fail. Nothing is sent to another host.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { VARIABLES } from '../../config/config.ts'
import type { Db, Tx } from '../../db/database.ts'
import { toResult } from '../../events/delivery/attempt.ts'
import { eventMessage, type Message } from '../../events/delivery/message.ts'
import type { AttemptOutcome } from '../../events/delivery/outcome.ts'
import {
  insertWebhookDeliveries,
  type DeliveryResult,
  type RetryToSave,
  upsertWebhookEventRetries,
} from '../../events/delivery/queries.ts'
import { openSchedule } from '../../events/delivery/schedule.ts'
import { type EventRow, findEvents } from '../../events/feed/queries.ts'
import type { EventType } from '../../events/feed/schema.ts'
import { addSecret, insertWebhook } from '../../events/webhooks/queries.ts'
import { makeSecret } from '../../events/webhooks/signature.ts'
import { setBackWebhook, setDemoReceiver } from './queries.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Reads the whole feed of the demo shop, which has about 3,000 events, in one page. */
const EVENTS_MAX = 10_000
/** The newest attempts are shown. */
const SHOWN_MS = 5 * DAY_MS

/** No program of the host listens on this port, which belongs to a protocol of 1988. */
const CLOSED_URL = 'http://127.0.0.1:1/orders'
const FAILING_MS = 26 * HOUR_MS
/** Without a random share, so that the attempts are the same on every machine. */
const SCHEDULE = openSchedule(VARIABLES.WEBHOOK_RETRY_SECONDS.read(undefined), () => 0)

interface DemoWebhook {
  description: string
  types: readonly EventType[]
  createdDaysAgo: number
  isFailing: boolean
}

const HEALTHY: DemoWebhook = {
  description: 'Web shop: keeps its catalogue up to date',
  types: ['pet.created', 'pet.updated', 'pet.deleted', 'pet.profile_updated'],
  createdDaysAgo: 60,
  isFailing: false,
}
const FAILING: DemoWebhook = {
  description: 'Accounting: books every sale',
  types: ['order.placed', 'order.completed', 'order.cancelled', 'order.expired'],
  createdDaysAgo: 45,
  isFailing: true,
}

/** Starts the receiver of the healthy webhook, and tells the webhook its address. It accepts every message. */
export async function startDemoReceiver(db: Db): Promise<void> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await setDemoReceiver(db, HEALTHY.description, `http://127.0.0.1:${port}/pets`)
}

/** Adds the webhooks. All events must have a number. */
export async function addDemoWebhooks(db: Db, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    for (const webhook of [HEALTHY, FAILING]) await addDemoWebhook(tx, webhook, now)
  })
}

async function addDemoWebhook(
  tx: Tx,
  { description, types, createdDaysAgo, isFailing }: DemoWebhook,
  now: Date,
): Promise<void> {
  const { rows, epoch, head } = await findEvents(tx, types, 0n, EVENTS_MAX)
  const webhook = { url: CLOSED_URL, description, types, epoch, number: head }
  const { id } = await insertWebhook(tx, webhook)
  await addSecret(tx, id, makeSecret(), 0)
  const failsFrom = now.getTime() - FAILING_MS
  const results: DeliveryResult[] = []
  const retries: RetryToSave[] = []
  let failingSince: Date | undefined
  for (const row of rows.filter(({ at }) => at.getTime() > now.getTime() - SHOWN_MS)) {
    const message = eventMessage(row, epoch)
    if (!isFailing || row.at.getTime() < failsFrom) {
      results.push(attempt(message, row.at, { kind: 'response', status: 204, durationMs: durationOf(row) }))
      continue
    }
    failingSince ??= row.at
    const due = failUntil(now, message, results)
    retries.push({ ...message, id: null, dueInSeconds: (due - now.getTime()) / 1_000 })
  }
  const inOrder = results.toSorted((a, b) => a.at.getTime() - b.at.getTime())
  await insertWebhookDeliveries(tx, id, inOrder)
  await upsertWebhookEventRetries(tx, id, retries)
  await setBackWebhook(tx, id, new Date(now.getTime() - createdDaysAgo * DAY_MS), failingSince)
}

/** Makes the attempts of a message that all fail; returns when the next one is due. */
function failUntil(now: Date, message: Message, results: DeliveryResult[]): number {
  let at = message.occurredAt.getTime()
  while (at < now.getTime()) {
    const refused = { kind: 'failure', reason: 'connection_refused', durationMs: 2 } as const
    results.push(attempt(message, new Date(at), refused))
    at += SCHEDULE.retryMs(message.attempts) ?? Number.POSITIVE_INFINITY
  }
  return at
}

function attempt(message: Message, at: Date, outcome: AttemptOutcome): DeliveryResult {
  message.attempts += 1
  return { ...toResult(message, outcome, outcome.kind === 'response' ? 'delivered' : 'failed'), at }
}

const durationOf = ({ number }: EventRow) => 8 + (Number(number) % 23)

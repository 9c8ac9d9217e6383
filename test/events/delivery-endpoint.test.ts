// The delivery to one webhook on a real database, with a feed and a receiver that the test controls.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Db } from '../../src/db/database.ts'
import type { LoadEvent } from '../../src/events/delivery/attempt.ts'
import { openEndpoint } from '../../src/events/delivery/endpoint.ts'
import {
  claimWebhooks,
  findLeasedWebhook,
  type LeasedWebhook,
} from '../../src/events/delivery/lease-queries.ts'
import { openSchedule } from '../../src/events/delivery/schedule.ts'
import type { Sender } from '../../src/events/delivery/sender.ts'
import { openTotalSlots } from '../../src/events/delivery/total-slots.ts'
import type { WebhookFeed } from '../../src/events/delivery/webhook-feed.ts'
import type { EventRow } from '../../src/events/feed/queries.ts'
import { openApiFixture } from '../support/api-fixture.ts'
import { openTestDatabase } from '../support/database.ts'
import { asDelivery } from '../support/roles.ts'
import { openTestLog } from '../support/test-log.ts'

const api = await openApiFixture()
const db = openTestDatabase(asDelivery(api.databaseUrl))

async function openLeasedWebhook(): Promise<{ webhook: LeasedWebhook; deliverer: string }> {
  const { body } = await api.post('/webhooks', { url: 'https://shop.example/', types: ['pet.created'] })
  const [id, deliverer] = [BigInt((body as { id: number }).id), randomUUID()]
  expect((await api.post(`/webhooks/${id}/test`, {})).status).toBe(202)
  await claimWebhooks(db, deliverer, [id])
  // The lease must not end before the test, however busy the host is.
  await api.sql(`update webhooks set leased_until = now() + interval '1 hour' where id = $1`, [id])
  return { webhook: (await findLeasedWebhook(db, id)) as LeasedWebhook, deliverer }
}

const RETURN_500: Sender['send'] = async () => ({ kind: 'response', status: 500, durationMs: 1 })

const READ_NOTHING: WebhookFeed['after'] = async ({ number }) => ({ rows: [], upTo: number })

interface Choices {
  database?: Db
  after?: WebhookFeed['after']
  send?: Sender['send']
  loadEvent?: LoadEvent
}

function open(
  { webhook, deliverer }: { webhook: LeasedWebhook; deliverer: string },
  { database = db, after = READ_NOTHING, send = RETURN_500, loadEvent = async () => undefined }: Choices,
) {
  return openEndpoint(webhook, {
    db: database,
    deliverer,
    feed: {
      newest: () => ({ epoch: webhook.epoch, number: webhook.number + 1_000n }),
      after,
    },
    slots: openTotalSlots(10, 1_000_000),
    schedule: openSchedule([3_600]),
    hasLease: () => true,
    observe: () => {},
    log: openTestLog(),
    loadEvent,
    sender: { send },
  })
}

test.each([
  { reason: 'the retention has deleted events', isNewEpoch: false, waiting: ['event', 'event', 'test'] },
  { reason: 'a new epoch begins', isNewEpoch: true, waiting: ['test'] },
])('a failed save loses no result and no retry when $reason', async ({ isNewEpoch, waiting }) => {
  const leased = await openLeasedWebhook()
  const { id, epoch, number } = leased.webhook
  await api.sql(
    `insert into webhook_retries (webhook_id, kind, number, type, occurred_at, attempts, due_at)
      values ($1, 'event', $2, 'pet.created', now(), 1, now() + interval '1 hour')`,
    [id, number],
  )
  const row = {
    number: number + 1n,
    petId: 1n,
    type: 'pet.created',
    at: new Date(),
    orderState: null,
    entry: null,
  } as EventRow
  const position = { epoch: isNewEpoch ? 'feedfeedfeed' : epoch, number: number + 500n }
  let hasMoved = false
  const after: WebhookFeed['after'] = async (from, types, max) => {
    if (from.number === number) return { rows: [row], upTo: row.number }
    if (from.number >= position.number) return READ_NOTHING(from, types, max)
    hasMoved = true
    return { position, isNewEpoch }
  }
  let failures = 0
  const faulty: Db = {
    ...db,
    transaction: async (work) => {
      // Fails until the feed has moved, and twice more: a save may be in flight when the feed moves.
      if (!hasMoved || failures < 2) {
        failures += hasMoved ? 1 : 0
        throw new Error('the database is unavailable for a moment')
      }
      return db.transaction(work)
    },
  }
  const endpoint = await open(leased, { database: faulty, after, loadEvent: async () => row })
  const isSaved = async () => {
    endpoint.advance(1_000)
    const rows = await api.sql('select from webhooks where id = $1 and epoch = $2 and number = $3', [
      id,
      position.epoch,
      position.number,
    ])
    return rows.length > 0
  }
  await expect.poll(isSaved).toBe(true)
  const retries = await api.sql(
    'select kind, attempts from webhook_retries where webhook_id = $1 order by kind',
    [id],
  )
  expect(retries).toEqual(waiting.map((kind) => ({ kind, attempts: 1 })))
  const results = await api.sql('select kind from webhook_deliveries where webhook_id = $1 order by kind', [
    id,
  ])
  expect(results).toEqual([{ kind: 'event' }, { kind: 'test' }])
  endpoint.abort()
})

test('ends if a caller has changed the webhook', async () => {
  const leased = await openLeasedWebhook()
  const endpoint = await open(leased, {})
  await api.call('PATCH', `/v1/webhooks/${leased.webhook.id}`, { body: { description: 'changed' } })
  const isOver = () => {
    endpoint.advance(1_000)
    return endpoint.isOver()
  }
  await expect.poll(isOver).toBe(true)
  await endpoint.stop()
})

test('abort cancels the attempts in flight, and saves nothing', async () => {
  const leased = await openLeasedWebhook()
  let signal: AbortSignal | undefined
  const endpoint = await open(leased, {
    send: async (delivery) => {
      signal = delivery.signal
      await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      return { kind: 'failure', reason: 'aborted', durationMs: 1 }
    },
  })
  endpoint.advance(1_000)
  await expect.poll(() => signal?.aborted).toBe(false)
  endpoint.abort()
  expect([signal?.aborted, endpoint.isOver()]).toEqual([true, true])
  await endpoint.stop()
  expect(await api.sql('select from webhook_deliveries where webhook_id = $1', [leased.webhook.id])).toEqual(
    [],
  )
})

// Webhooks: the operations of callers, and the statements with which a process delivers.
import { randomUUID } from 'node:crypto'
import {
  claimWebhooks,
  findLeasedWebhook,
  findWebhookStates,
  releaseWebhooks,
  renewWebhooks,
} from '../../../src/events/delivery/lease-queries.ts'
import { saveProgress } from '../../../src/events/delivery/progress.ts'
import {
  deleteOldWebhookDeliveries,
  findWebhookRetries,
  type Progress,
} from '../../../src/events/delivery/queries.ts'
import { findNumberedEvents, findNumberBeforeStored } from '../../../src/events/feed/queries.ts'
import type { FaultFixture } from './fixture.ts'
import { type Operation, outcomeOf, outcomeOfWork } from './operation.ts'

const URL = 'https://shop.example/hooks'
const described = 'select count(*) from webhooks where description = $1'

async function webhookOf({ api }: FaultFixture): Promise<number> {
  const { body } = await api.post('/webhooks', { url: URL })
  return (body as { id: number }).id
}

/** Adds an attempt to deliver a test event, bypassing the proxy; returns its id. */
async function deliveryOf({ api }: FaultFixture, webhookId: number): Promise<string> {
  const [row] = await api.sql(
    `insert into webhook_deliveries (webhook_id, at, message_id, kind, type, occurred_at, attempt, outcome, duration_ms)
      values ($1, now(), 'test_1', 'test', 'webhook.test', now(), 1, 'delivered', 5) returning id`,
    [webhookId],
  )
  return String(row?.['id'])
}

/** Leases a webhook with a waiting test event to a new process, bypassing the proxy. */
async function leasedWebhook(fixture: FaultFixture): Promise<{ id: bigint; deliverer: string }> {
  const [id, deliverer] = [BigInt(await webhookOf(fixture)), randomUUID()]
  await fixture.api.post(`/webhooks/${id}/test`, {})
  await claimWebhooks(fixture.api.db, deliverer, [id])
  return { id, deliverer }
}

const read = (path: (webhookId: number) => string) => async (fixture: FaultFixture) => {
  const id = await webhookOf(fixture)
  return { run: async () => outcomeOf(await fixture.client.get(path(id)), 200) }
}

const work = (doIt: (fixture: FaultFixture, id: bigint, deliverer: string) => Promise<unknown>) => {
  return async (fixture: FaultFixture) => {
    const { id, deliverer } = await leasedWebhook(fixture)
    return { run: () => outcomeOfWork(doIt(fixture, id, deliverer)) }
  }
}

function progressOf(webhookId: bigint, epoch: string, requestId: bigint): Progress {
  const message = { number: 7n, petId: 1n, type: 'pet.created', occurredAt: new Date() }
  const attempt = { attempt: 1, responseStatus: 500, failure: null, durationMs: 1, at: new Date() }
  return {
    webhookId,
    restarts: 0n,
    position: { epoch, number: 8n },
    done: [9n, 11n],
    failingSeconds: 1,
    disable: undefined,
    newEpoch: undefined,
    deletedIds: [],
    deletedNumbers: [1n],
    retries: [
      { ...message, id: null, attempts: 1, dueInSeconds: 5 },
      { ...message, id: requestId, number: null, attempts: 1, dueInSeconds: 5 },
    ],
    results: [{ ...message, ...attempt, kind: 'event', messageId: epoch, outcome: 'failed' }],
  }
}

export const WEBHOOKS: Operation[] = [
  {
    name: 'createWebhook',
    commits: 'commit',
    prepare: async ({ query, client }) => {
      const body = { url: URL, description: randomUUID() }
      return {
        run: async () => outcomeOf(await client.post('/webhooks', body), 201),
        effects: () => query(described, [body.description]),
      }
    },
  },
  {
    name: 'updateWebhook',
    commits: 'commit',
    isIdempotent: true,
    prepare: async (fixture) => {
      const { query, client } = fixture
      const id = await webhookOf(fixture)
      const body = { description: randomUUID(), enabled: true }
      return {
        run: async () => outcomeOf(await client.call('PATCH', `/v1/webhooks/${id}`, { body }), 200),
        effects: () => query(described, [body.description]),
      }
    },
  },
  {
    name: 'deleteWebhook',
    commits: 'delete_webhook',
    isIdempotent: true,
    prepare: async (fixture) => {
      const { query, client } = fixture
      const id = await webhookOf(fixture)
      return {
        run: async () => {
          const response = await client.call('DELETE', `/v1/webhooks/${id}`)
          // An earlier attempt has deleted it. The effects show whether that is true.
          return response.status === 404 ? 'done' : outcomeOf(response, 204)
        },
        effects: async () => 1 - (await query('select count(*) from webhooks where id = $1', [id])),
      }
    },
  },
  {
    name: 'rotateWebhookSecret',
    commits: 'commit',
    prepare: async (fixture) => {
      const { query, client } = fixture
      const id = await webhookOf(fixture)
      return {
        run: async () => outcomeOf(await client.post(`/webhooks/${id}/rotate-secret`, {}), 201),
        effects: () => query('select count(*) - 1 from webhook_secrets where webhook_id = $1', [id]),
      }
    },
  },
  {
    name: 'testWebhook',
    commits: 'commit',
    prepare: async (fixture) => {
      const { query, client } = fixture
      const id = await webhookOf(fixture)
      return {
        run: async () => outcomeOf(await client.post(`/webhooks/${id}/test`, {}), 202),
        effects: () => query('select count(*) from webhook_retries where webhook_id = $1', [id]),
      }
    },
  },
  {
    name: 'redeliver',
    commits: 'commit',
    prepare: async (fixture) => {
      const { query, client } = fixture
      const id = await webhookOf(fixture)
      const path = `/webhooks/${id}/deliveries/${await deliveryOf(fixture, id)}/redeliver`
      return {
        run: async () => outcomeOf(await client.post(path, {}), 202),
        effects: () => query('select count(*) from webhook_retries where webhook_id = $1', [id]),
      }
    },
  },
  {
    name: 'replayWebhook',
    commits: 'commit',
    isIdempotent: true,
    prepare: async (fixture) => {
      const { query, client } = fixture
      const id = await webhookOf(fixture)
      return {
        run: async () => outcomeOf(await client.post(`/webhooks/${id}/replay`, { after: 'latest' }), 202),
        effects: () => query('select restarts > 0 from webhooks where id = $1', [id]).then(Number),
      }
    },
  },
  { name: 'listWebhooks', prepare: read(() => '/webhooks?limit=3') },
  { name: 'getWebhook', prepare: read((id) => `/webhooks/${id}`) },
  { name: 'listDeliveries', prepare: read((id) => `/webhooks/${id}/deliveries`) },
  {
    name: 'saving the progress of a delivery',
    commits: 'commit',
    // A second attempt adds its results again. The list of attempts then shows them twice.
    forgetsUnknown: true,
    prepare: async (fixture) => {
      const { query, db } = fixture
      const { id, deliverer } = await leasedWebhook(fixture)
      const [waiting] = await findWebhookRetries(fixture.api.db, id, ['test'], 0n, 1)
      const progress = progressOf(id, randomUUID(), waiting?.id ?? 0n)
      return {
        run: () => outcomeOfWork(saveProgress(db, deliverer, progress)),
        // The position, both retries and the result: all or nothing.
        effects: () =>
          query(
            `select case (select count(*) from webhooks where id = $1 and epoch = $2)
                + (select count(*) from webhook_retries where webhook_id = $1 and attempts = 1)
                + (select count(*) from webhook_deliveries where webhook_id = $1)
              when 0 then 0 when 4 then 1 else -1 end`,
            [id, progress.position.epoch],
          ),
      }
    },
  },
  {
    name: 'saving the start of a new epoch',
    commits: 'commit',
    forgetsUnknown: true,
    prepare: async (fixture) => {
      const { query, db } = fixture
      const { id, deliverer } = await leasedWebhook(fixture)
      await fixture.api.sql(
        `insert into webhook_retries (webhook_id, kind, number, type, occurred_at)
          values ($1, 'event', 3, 'pet.created', now())`,
        [id],
      )
      const newEpoch = { epoch: randomUUID(), number: 20n }
      const progress = { ...progressOf(id, randomUUID(), 0n), newEpoch }
      return {
        run: () => outcomeOfWork(saveProgress(db, deliverer, progress)),
        // The position, the event that waited for a retry and the result: all or nothing.
        effects: () =>
          query(
            `select case (select count(*) from webhooks where id = $1 and epoch = $2 and number = 20)
                + (select count(*) from webhook_retries where webhook_id = $1 and kind = 'event')
                + 2 * (select count(*) from webhook_deliveries where webhook_id = $1)
              when 1 then 0 when 3 then 1 else -1 end`,
            [id, newEpoch.epoch],
          ),
      }
    },
  },
  // Without effects: a second attempt changes nothing.
  { name: 'leasing a webhook', prepare: work(({ db }, id, deliverer) => claimWebhooks(db, deliverer, [id])) },
  { name: 'renewing a lease', prepare: work(({ db }, id, deliverer) => renewWebhooks(db, deliverer, [id])) },
  { name: 'ending a lease', prepare: work(({ db }, id, deliverer) => releaseWebhooks(db, deliverer, [id])) },
  { name: 'the states of webhooks', prepare: work(({ db }, _id, own) => findWebhookStates(db, own)) },
  { name: 'loading a webhook', prepare: work(({ db }, id) => findLeasedWebhook(db, id)) },
  { name: 'loading retries', prepare: work(({ db }, id) => findWebhookRetries(db, id, ['test'], 0n, 10)) },
  { name: 'loading events', prepare: work(({ db }) => findNumberedEvents(db, [2n])) },
  { name: 'finding the oldest event', prepare: work(({ db }) => findNumberBeforeStored(db, 1n)) },
  { name: 'purging attempts', prepare: work(({ db }, id) => deleteOldWebhookDeliveries(db, id, 0, 10)) },
]

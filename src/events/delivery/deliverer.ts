// Delivers to all webhooks that this process has leased. Several processes can run: each webhook has one at a time.
import { randomUUID } from 'node:crypto'
import { batched } from '../../db/batch.ts'
import type { Db } from '../../db/database.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import type { FindDurableEvents } from '../feed/durable.ts'
import { findFeedState, findNumberedEvents, findOldestStoredEvent } from '../feed/queries.ts'
import { openFeedWindow } from '../feed/window.ts'
import type { DeliveryOutcome } from '../webhooks/schema.ts'
import { type Endpoint, openEndpoint } from './endpoint.ts'
import {
  claimWebhooks,
  findLeasedWebhook,
  findWebhookStates,
  LEASE_SECONDS,
  releaseWebhooks,
  renewWebhooks,
  type WebhookState,
} from './lease-queries.ts'
import { deleteOldWebhookDeliveries } from './queries.ts'
import type { Schedule } from './schedule.ts'
import type { Sender } from './sender.ts'
import { openTotalSlots } from './total-slots.ts'
import { openWebhookFeed } from './webhook-feed.ts'

/** How often a process looks for new events. */
export const DELIVERED_EVERY_MS = 100
/** How often a process looks for new and changed webhooks. */
const WEBHOOKS_READ_EVERY_MS = 1_000
const LEASE_RENEWED_EVERY_MS = 3_000
/** A process stops sending this long before its lease ends, so that two processes never send at once. */
const LEASE_MARGIN_MS = 4_000
/** Max attempts in flight of all webhooks together. */
const TOTAL_IN_FLIGHT_MAX = 1_000
/** The newest attempts that are kept for each webhook. */
const RESULTS_KEPT = 10_000
const RESULTS_PURGED_EVERY_MS = 30_000
const PURGE_BATCH = 1_000
const LOADS = { sizeMax: 100, inFlightMax: 2, waitingMax: 2_000 }

export interface DelivererOptions {
  db: Db
  findEvents: FindDurableEvents
  sender: Sender
  observe: (outcome: DeliveryOutcome, durationMs: number) => void
  log: Log
  schedule: Schedule
  tracing?: Tracing | undefined
}

export interface DeliveryState {
  enabled: number
  disabled: number
  /** Webhooks of this process whose receiver is down. */
  failing: number
  /** Seconds since the oldest event that is not delivered, for each webhook of this process. */
  lagSeconds: Map<bigint, number>
  inFlight: number
}

export interface Deliverer {
  /** Does what is due. Runs must not overlap. */
  run: () => Promise<void>
  state: () => DeliveryState
  /** Ends the attempts in flight, saves the progress and gives up the leases. */
  stop: () => Promise<void>
}

export function openDeliverer(options: DelivererOptions): Deliverer {
  const { db, findEvents, sender, log, observe, schedule, tracing } = options
  const deliverer = randomUUID()
  const window = openFeedWindow(findEvents)
  const feed = openWebhookFeed(window, findEvents, (number) => findOldestStoredEvent(db, number))
  const slots = openTotalSlots(TOTAL_IN_FLIGHT_MAX)
  const loadEvent = batched((numbers: bigint[]) => findNumberedEvents(db, numbers), LOADS)
  const endpoints = new Map<bigint, Endpoint>()
  let states: WebhookState[] = []
  let webhooksReadAt = Number.NEGATIVE_INFINITY
  let renewedAt = Number.NEGATIVE_INFINITY
  let purgedAt = performance.now()

  const leasedUntil = () => renewedAt + LEASE_SECONDS * 1_000 - LEASE_MARGIN_MS
  const services = {
    db,
    deliverer,
    sender,
    feed,
    slots,
    schedule,
    loadEvent,
    observe,
    log,
    tracing,
    hasLease: () => performance.now() < leasedUntil(),
  }

  /** Renews the leases of this process, forgets webhooks that another process has had meanwhile, and takes free ones. */
  async function claim(): Promise<void> {
    const startedAt = performance.now()
    states = await findWebhookStates(db, deliverer)
    const wanted = states.filter(({ isEnabled, isClaimable }) => isEnabled && isClaimable).map(({ id }) => id)
    const held = wanted.filter((id) => endpoints.get(id)?.isOver() === false)
    const mustRenew = startedAt - renewedAt >= LEASE_RENEWED_EVERY_MS
    const kept = mustRenew && held.length > 0 ? await renewWebhooks(db, deliverer, held) : new Set(held)
    if (mustRenew) renewedAt = startedAt
    for (const [id, endpoint] of endpoints) {
      if (kept.has(id)) continue
      endpoint.abort()
      endpoints.delete(id)
    }
    const free = wanted.filter((id) => !kept.has(id))
    const claimed = free.length > 0 ? await claimWebhooks(db, deliverer, free) : new Set()
    await Promise.all(states.filter(({ id }) => kept.has(id) || claimed.has(id)).map(takeOver))
    webhooksReadAt = startedAt
  }

  /** Starts the delivery to a webhook, or takes over its changes. A failure does not affect the others. */
  async function takeOver({ id, version, restarts }: WebhookState): Promise<void> {
    const current = endpoints.get(id)
    if (current?.version() === version && current.restarts === restarts) return
    try {
      await load(id, current)
    } catch (err) {
      log.warn({ err, webhookId: id }, 'a webhook could not be loaded')
    }
  }

  async function load(id: bigint, current: Endpoint | undefined): Promise<void> {
    const webhook = await findLeasedWebhook(db, id)
    if (webhook === undefined) return
    if (current !== undefined && current.restarts === webhook.restarts) return current.refresh(webhook)
    current?.abort()
    endpoints.set(id, await openEndpoint(webhook, services))
  }

  async function purge(): Promise<void> {
    purgedAt = performance.now()
    for (const id of endpoints.keys()) {
      while ((await deleteOldWebhookDeliveries(db, id, RESULTS_KEPT, PURGE_BATCH)) === PURGE_BATCH);
    }
  }

  return {
    run: async () => {
      if (performance.now() - webhooksReadAt >= WEBHOOKS_READ_EVERY_MS) await claim()
      if (endpoints.size === 0) return window.clear()
      const { epoch, head } = await findFeedState(db)
      await window.advance({ epoch, number: head })
      for (const endpoint of endpoints.values()) endpoint.advance()
      if (performance.now() - purgedAt >= RESULTS_PURGED_EVERY_MS) await purge()
    },
    state: () => {
      const open = [...endpoints]
      return {
        enabled: states.filter(({ isEnabled }) => isEnabled).length,
        disabled: states.filter(({ isEnabled }) => !isEnabled).length,
        failing: open.filter(([, endpoint]) => endpoint.isFailing()).length,
        lagSeconds: new Map(open.map(([id, endpoint]) => [id, endpoint.lagSeconds()])),
        inFlight: slots.taken(),
      }
    },
    stop: async () => {
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.stop()))
      await releaseWebhooks(db, deliverer, [...endpoints.keys()])
    },
  }
}

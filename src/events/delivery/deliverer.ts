// Delivers to all webhooks that this process has leased. Several processes can run, and one at a time has the lease of a
// webhook.
import { randomUUID } from 'node:crypto'
import type { Db } from '../../db/database.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import type { FindDurableEvents } from '../feed/durable.ts'
import { findFeedState, findNumberedEvents, findNumberBeforeStored } from '../feed/queries.ts'
import { openFeedWindow } from '../feed/window.ts'
import type { DeliveryOutcome } from '../webhooks/schema.ts'
import { type EndpointServices, openEndpoint } from './endpoint.ts'
import { openEventCache } from './event-cache.ts'
import { openLeases } from './leases.ts'
import { MEMORY_LIMITS, type MemoryLimits, MESSAGE_BYTES, messagesPerWebhook } from './memory.ts'
import { deleteOldWebhookDeliveries } from './queries.ts'
import type { Schedule } from './schedule.ts'
import type { Sender } from './sender.ts'
import { openTotalSlots } from './total-slots.ts'
import { openWebhookFeed } from './webhook-feed.ts'

/** How often a process looks for new events. */
export const DELIVERED_EVERY_MS = 100
/** Max attempts in flight of all webhooks together. */
const TOTAL_IN_FLIGHT_MAX = 1_000
/** For each webhook, webhook_deliveries keeps the results of this many attempts, the newest ones. */
const RESULTS_KEPT = 10_000
const RESULTS_PURGED_EVERY_MS = 30_000
const PURGE_BATCH = 1_000

export interface DelivererOptions {
  db: Db
  findEvents: FindDurableEvents
  sender: Sender
  observe: (outcome: DeliveryOutcome, durationMs: number) => void
  log: Log
  schedule: Schedule
  tracing?: Tracing | undefined
  /** Replaces the limits in tests. */
  memory?: MemoryLimits
}

export interface DeliveryState {
  enabled: number
  disabled: number
  /** Webhooks of this process whose receiver is down. Not the same as `failingSince`, which one failure sets. */
  failing: number
  /** Seconds since the oldest event that is not delivered, for each webhook of this process. */
  lagSeconds: Map<bigint, number>
  inFlight: number
  memoryBytes: MemoryLimits
}

export interface Deliverer {
  /** Claims webhooks, reads new events, and starts what is due for each webhook. Runs must not overlap. */
  run: () => Promise<void>
  state: () => DeliveryState
  /** Waits for the attempts in flight, saves the progress and gives up the leases. */
  stop: () => Promise<void>
}

export function openDeliverer(options: DelivererOptions): Deliverer {
  const { db, findEvents, log, memory = MEMORY_LIMITS } = options
  const deliverer = randomUUID()
  const window = openFeedWindow(findEvents)
  const slots = openTotalSlots(TOTAL_IN_FLIGHT_MAX, memory.sending)
  const events = openEventCache((numbers) => findNumberedEvents(db, numbers), memory.events)
  // Endpoints are opened by `claimDue`, when `services` is complete.
  const leases = openLeases(db, deliverer, log, (webhook) => openEndpoint(webhook, services))
  const services: EndpointServices = {
    ...options,
    deliverer,
    slots,
    feed: openWebhookFeed(window, findEvents, (number) => findNumberBeforeStored(db, number), events.add),
    loadEvent: events.load,
    hasLease: leases.areValid,
  }
  const { endpoints } = leases
  const purgeDue = openPurge(db, endpoints)

  return {
    run: async () => {
      await leases.claimDue()
      // Without a webhook, nothing reads the events in memory.
      if (endpoints.size === 0) {
        events.clear()
        return window.clear()
      }
      const { epoch, head } = await findFeedState(db)
      // Their numbers may now belong to other events.
      if (!(await window.advance({ epoch, number: head }))) events.clear()
      const messagesMax = messagesPerWebhook(memory, endpoints.size)
      for (const endpoint of endpoints.values()) endpoint.advance(messagesMax)
      await purgeDue()
    },
    state: () => {
      const webhooks = leases.states()
      const delivering = [...endpoints]
      return {
        enabled: webhooks.filter(({ isEnabled }) => isEnabled).length,
        disabled: webhooks.filter(({ isEnabled }) => !isEnabled).length,
        failing: delivering.filter(([, endpoint]) => endpoint.isReceiverDown()).length,
        lagSeconds: new Map(delivering.map(([id, endpoint]) => [id, endpoint.lagSeconds()])),
        inFlight: slots.taken(),
        memoryBytes: {
          messages: delivering.reduce(
            (sum, [, endpoint]) => sum + endpoint.messageCount() * MESSAGE_BYTES,
            0,
          ),
          sending: slots.bytes(),
          events: window.bytes() + events.bytes(),
        },
      }
    },
    stop: async () => {
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.stop()))
      await leases.release()
    },
  }
}

/** Deletes old results of the webhooks whenever it is due. */
function openPurge(db: Db, webhooks: ReadonlyMap<bigint, unknown>): () => Promise<void> {
  let purgedAt = performance.now()
  return async () => {
    if (performance.now() - purgedAt < RESULTS_PURGED_EVERY_MS) return
    purgedAt = performance.now()
    for (const id of webhooks.keys()) {
      let deleted: number
      do deleted = await deleteOldWebhookDeliveries(db, id, RESULTS_KEPT, PURGE_BATCH)
      while (deleted === PURGE_BATCH)
    }
  }
}

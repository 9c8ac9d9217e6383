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
import { type EndpointServices, openEndpoint } from './endpoint.ts'
import { openLeases } from './leases.ts'
import { deleteOldWebhookDeliveries } from './queries.ts'
import type { Schedule } from './schedule.ts'
import type { Sender } from './sender.ts'
import { openTotalSlots } from './total-slots.ts'
import { openWebhookFeed } from './webhook-feed.ts'

/** How often a process looks for new events. */
export const DELIVERED_EVERY_MS = 100
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
  const { db, findEvents, log } = options
  const deliverer = randomUUID()
  const window = openFeedWindow(findEvents)
  const slots = openTotalSlots(TOTAL_IN_FLIGHT_MAX)
  const leases = openLeases(db, deliverer, log, (webhook) => openEndpoint(webhook, services))
  const services: EndpointServices = {
    ...options,
    deliverer,
    slots,
    feed: openWebhookFeed(window, findEvents, (number) => findOldestStoredEvent(db, number)),
    loadEvent: batched((numbers: bigint[]) => findNumberedEvents(db, numbers), LOADS),
    hasLease: leases.areValid,
  }
  const { endpoints } = leases
  let purgedAt = performance.now()

  async function purgeDue(): Promise<void> {
    if (performance.now() - purgedAt < RESULTS_PURGED_EVERY_MS) return
    purgedAt = performance.now()
    for (const id of endpoints.keys()) {
      while ((await deleteOldWebhookDeliveries(db, id, RESULTS_KEPT, PURGE_BATCH)) === PURGE_BATCH);
    }
  }

  return {
    run: async () => {
      await leases.claimDue()
      if (endpoints.size === 0) return window.clear()
      const { epoch, head } = await findFeedState(db)
      await window.advance({ epoch, number: head })
      for (const endpoint of endpoints.values()) endpoint.advance()
      await purgeDue()
    },
    state: () => {
      const [states, open] = [leases.states(), [...endpoints]]
      return {
        enabled: states.filter(({ isEnabled }) => isEnabled).length,
        disabled: states.filter(({ isEnabled }) => !isEnabled).length,
        failing: open.filter(([, endpoint]) => endpoint.isReceiverDown()).length,
        lagSeconds: new Map(open.map(([id, endpoint]) => [id, endpoint.lagSeconds()])),
        inFlight: slots.taken(),
      }
    },
    stop: async () => {
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.stop()))
      await leases.release()
    },
  }
}

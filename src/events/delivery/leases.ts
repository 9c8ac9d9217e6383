// The webhooks that this process delivers: those whose lease it has. Each webhook is leased to one process at a time.
import type { Db } from '../../db/database.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Endpoint } from './endpoint.ts'
import {
  claimWebhooks,
  findLeasedWebhook,
  findWebhookStates,
  LEASE_SECONDS,
  type LeasedWebhook,
  releaseWebhooks,
  renewWebhooks,
  type WebhookState,
} from './lease-queries.ts'

/** How often a process looks for new and changed webhooks. */
const WEBHOOKS_READ_EVERY_MS = 1_000
const LEASE_RENEWED_EVERY_MS = 3_000
/** A process stops sending this long before its lease ends, so that two processes never send at once. */
const LEASE_MARGIN_MS = 4_000

export interface Leases {
  /** Of the webhooks that this process delivers, by the id of the webhook. */
  endpoints: ReadonlyMap<bigint, Endpoint>
  /** The state of all webhooks. */
  states: () => readonly WebhookState[]
  /** Whether the leases are valid, with time to spare. */
  areValid: () => boolean
  /** If it is due: renews the leases, forgets webhooks that another process has had meanwhile, and takes free ones. */
  claimDue: () => Promise<void>
  release: () => Promise<void>
}

/**
 * @param deliverer Identifies this process.
 * @param open Starts the delivery to a webhook.
 */
export function openLeases(
  db: Db,
  deliverer: string,
  log: Log,
  open: (webhook: LeasedWebhook) => Promise<Endpoint>,
): Leases {
  const endpoints = new Map<bigint, Endpoint>()
  let states: WebhookState[] = []
  let claimedAt = Number.NEGATIVE_INFINITY
  let renewedAt = Number.NEGATIVE_INFINITY

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
    claimedAt = startedAt
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
    endpoints.set(id, await open(webhook))
  }

  return {
    endpoints,
    states: () => states,
    areValid: () => performance.now() < renewedAt + LEASE_SECONDS * 1_000 - LEASE_MARGIN_MS,
    claimDue: async () => {
      if (performance.now() - claimedAt >= WEBHOOKS_READ_EVERY_MS) await claim()
    },
    release: () => releaseWebhooks(db, deliverer, [...endpoints.keys()]),
  }
}

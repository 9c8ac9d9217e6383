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
  /** The endpoints of the webhooks that this process delivers, by the id of the webhook. */
  endpoints: ReadonlyMap<bigint, Endpoint>
  /** The state of all webhooks, also of those that other processes deliver. */
  states: () => readonly WebhookState[]
  /** Whether all leases of this process are valid, with time to spare. */
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
  /** Every lease was renewed or claimed at this time or later, so the time is a safe start for all of them. */
  let renewedAt = Number.NEGATIVE_INFINITY

  async function claimDue(): Promise<void> {
    const startedAt = performance.now()
    if (startedAt - claimedAt < WEBHOOKS_READ_EVERY_MS) return
    states = await findWebhookStates(db, deliverer)
    const wanted = states.filter(({ isEnabled, isClaimable }) => isEnabled && isClaimable).map(({ id }) => id)
    const kept = await renewDue(wanted.filter(isDelivering), startedAt)
    abortExcept(kept)
    // Also contains webhooks of this process whose endpoint is over. They are claimed and loaded again.
    const others = wanted.filter((id) => !kept.has(id))
    const claimed = others.length > 0 ? await claimWebhooks(db, deliverer, others) : new Set()
    await Promise.all(states.filter(({ id }) => kept.has(id) || claimed.has(id)).map(bringUpToDate))
    // Comes last, so that the next run tries again at once if one of these statements has failed.
    claimedAt = startedAt
  }

  const isDelivering = (id: bigint) => endpoints.get(id)?.isOver() === false

  /** Returns the webhooks that the process can continue to deliver. */
  async function renewDue(ids: readonly bigint[], startedAt: number): Promise<ReadonlySet<bigint>> {
    if (startedAt - renewedAt < LEASE_RENEWED_EVERY_MS) return new Set(ids)
    const renewed = ids.length > 0 ? await renewWebhooks(db, deliverer, ids) : new Set<bigint>()
    // Even if there was no lease to renew: the leases that are claimed next start later.
    renewedAt = startedAt
    return renewed
  }

  function abortExcept(kept: ReadonlySet<bigint>): void {
    for (const [id, endpoint] of endpoints) {
      if (kept.has(id)) continue
      endpoint.abort()
      endpoints.delete(id)
    }
  }

  /** Opens or refreshes the endpoint of a webhook, if it has changed. A failure does not affect the others. */
  async function bringUpToDate({ id, version, restarts }: WebhookState): Promise<void> {
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
    claimDue,
    release: () => releaseWebhooks(db, deliverer, [...endpoints.keys()]),
  }
}

// SQL statements on leases: which process delivers which webhook, and what it needs for that.
import type { Reader, Writer } from '../../db/database.ts'
import type { Position } from '../feed/format.ts'
import type { EventType } from '../feed/schema.ts'

/** A lease ends after this time, unless its process renews it. */
export const LEASE_SECONDS = 15

/** What a process needs to know to decide which webhooks it delivers. */
export interface WebhookState {
  id: bigint
  version: bigint
  restarts: bigint
  isEnabled: boolean
  /** Whether this process or no process has the lease. */
  isClaimable: boolean
}

/** Returns the state of all webhooks. WEBHOOKS_MAX limits their number. */
export async function findWebhookStates(db: Reader, deliverer: string): Promise<WebhookState[]> {
  return db.read({
    name: 'find_webhook_states',
    bounded: 'by a small table',
    text: `select id, version, restarts, disabled_reason is null as "isEnabled",
        coalesce(deliverer = $1 or leased_until <= now(), true) as "isClaimable"
      from webhooks
      order by id`,
    values: [deliverer],
  })
}

/** Takes the leases of these webhooks; returns those that this process now has, and must load. */
export async function claimWebhooks(
  db: Writer,
  deliverer: string,
  ids: readonly bigint[],
): Promise<Set<bigint>> {
  const rows = await db.write<{ id: bigint }>({
    name: 'claim_webhooks',
    bounded: 'by unique keys',
    text: `update webhooks set deliverer = $1, leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
      where id = any(array(
        select id from webhooks
        where id = any($2::bigint[]) and (deliverer = $1 or coalesce(leased_until <= now(), true))
        order by id
        for no key update
      ))
      returning id`,
    values: [deliverer, ids],
    isIdempotent: true,
  })
  return new Set(rows.map(({ id }) => id))
}

/**
 * Renews the leases of this process; returns the webhooks that no other process has had meanwhile. For these, the state in
 * memory is still correct, even if the lease had ended.
 */
export async function renewWebhooks(
  db: Writer,
  deliverer: string,
  ids: readonly bigint[],
): Promise<Set<bigint>> {
  const rows = await db.write<{ id: bigint }>({
    name: 'renew_webhooks',
    bounded: 'by unique keys',
    text: `update webhooks set leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
      where id = any(array(
        select id from webhooks where id = any($2::bigint[]) and deliverer = $1 order by id for no key update
      ))
      returning id`,
    values: [deliverer, ids],
    isIdempotent: true,
  })
  return new Set(rows.map(({ id }) => id))
}

/** Ends the leases of this process, so that another process can take over at once. */
export async function releaseWebhooks(db: Writer, deliverer: string, ids: readonly bigint[]): Promise<void> {
  await db.write({
    name: 'release_webhooks',
    bounded: 'by unique keys',
    text: `update webhooks set deliverer = null, leased_until = null where id = any($2::bigint[]) and deliverer = $1`,
    values: [deliverer, ids],
    isIdempotent: true,
  })
}

export interface LeasedWebhook extends Position {
  id: bigint
  url: string
  types: EventType[]
  version: bigint
  restarts: bigint
  /** Numbers of events after the position that need no further attempt. */
  done: bigint[]
  failingSeconds: number | null
  /** The newest secret first. */
  secrets: Secret[]
}

export interface Secret {
  secret: Buffer
  /** A time of the monotonic clock; undefined for the newest secret. */
  expiresAt: number | undefined
}

interface LeasedWebhookRow extends Omit<LeasedWebhook, 'secrets'> {
  secrets: Buffer[]
  /** Seconds until each secret expires. */
  secretSeconds: (number | null)[]
}

export async function findLeasedWebhook(db: Reader, id: bigint): Promise<LeasedWebhook | undefined> {
  const [row] = await db.read<LeasedWebhookRow>({
    name: 'find_leased_webhook',
    bounded: 'by unique keys',
    text: `select id, url, types::text[], version, restarts, epoch, number,
        array(
          select generate_series(lower(span), upper(span) - 1) from unnest(done) as span
        ) as done,
        extract(epoch from now() - failing_since)::float8 as "failingSeconds",
        array(select secret from webhook_secrets where webhook_id = webhooks.id order by id desc) as secrets,
        array(
          select extract(epoch from expires_at - now())::float8
          from webhook_secrets where webhook_id = webhooks.id order by id desc
        ) as "secretSeconds"
      from webhooks
      where id = $1`,
    values: [id],
  })
  if (row === undefined) return undefined
  const { secrets, secretSeconds, ...webhook } = row
  const expiryOf = (seconds: number | null | undefined) =>
    seconds == null ? undefined : performance.now() + seconds * 1_000
  return {
    ...webhook,
    secrets: secrets.map((secret, index) => ({ secret, expiresAt: expiryOf(secretSeconds[index]) })),
  }
}

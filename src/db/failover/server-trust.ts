// Decides whether the service may trust what a server shows, so that it never returns data that a failover can lose.
// open-database.ts asks it before each use of a connection.
// docs/decisions/0009-trusted-servers.md explains why this is needed.
import type pg from 'pg'
import { NotTrusted } from '../connection/failures.ts'
import { backendPid } from '../connection/pool.ts'
import { withTimeout } from '../connection/timeout.ts'
import { BARRIER, clusterOf, INCARNATION, isOlder } from './incarnation.ts'

/** A process knows more than one incarnation only around a restart or a failover. */
const CONFIRMED_MAX = 16
/** A process knows more than one cluster only if its address leads to another one, for example after a restore. */
const CLUSTERS_MAX = 16

interface Identity {
  incarnation: string | null
  pid: number
}

const IDENTIFY = `select ${INCARNATION} as incarnation, pg_backend_pid() as pid`

export interface ServerTrust {
  /**
   * Returns undefined if the server is trusted already, or if `beginPooled` must check each transaction instead.
   * Rejects if the server is a standby, or if no standby confirms its commits.
   * Calls `onBarrier` before a commit on this connection that may wait for a standby.
   */
  check: (client: pg.PoolClient, onBarrier: () => void) => Promise<void> | undefined
  /** Behind a connection pooler, each transaction can run on another server, so each one must be checked. */
  isPooled: (client: pg.PoolClient) => boolean
  /** Begins a transaction, and rejects unless the server that runs it is trusted. */
  beginPooled: (client: pg.PoolClient, onBarrier: () => void) => Promise<void>
  /** Call this if a server did not respond in time: another one may have become the primary in the meantime. */
  distrust: () => void
  /** Call this if another server has become the primary. Older timelines of its cluster are no longer trusted. */
  distrustOlder: (incarnation: string) => void
}

interface TrustOptions {
  timeoutMs: number
  /** Connections whose last commit did not wait for the standbys, because the wait was cancelled. */
  unreplicated: WeakSet<pg.ClientBase>
}

export function trackServers({ timeoutMs, unreplicated }: TrustOptions): ServerTrust {
  const incarnations = new WeakMap<pg.PoolClient, string>()
  const pooled = new WeakSet<pg.PoolClient>()
  const confirmed = new Set<string>()
  const barriers = new Map<string, Promise<void>>()
  /** The primary with the newest timeline, of each cluster. */
  const newest = new Map<string, string>()

  async function identify(client: pg.PoolClient): Promise<string> {
    const { rows } = await withTimeout(client.query<Identity>(IDENTIFY), timeoutMs)
    const incarnation = requirePrimary(rows[0])
    if (rows[0]?.pid === backendPid(client)) incarnations.set(client, incarnation)
    else pooled.add(client)
    return incarnation
  }

  /** Whether a failover has replaced the primary, even if it does not know that yet. */
  function isReplaced(incarnation: string): boolean {
    return isOlder(incarnation, newest.get(clusterOf(incarnation)) ?? '')
  }

  function requireNewest(incarnation: string): void {
    if (isReplaced(incarnation)) throw new NotTrusted('standby', 'another server has become the primary')
  }

  function isTrusted(incarnation: string): boolean {
    requireNewest(incarnation)
    return confirmed.has(incarnation)
  }

  /** Ignores a replaced primary: hosts.ts may report it after a connection has found its successor. */
  function distrustOlder(incarnation: string): void {
    if (isReplaced(incarnation)) return
    newest.set(clusterOf(incarnation), incarnation)
    const [first = ''] = newest.keys()
    if (newest.size > CLUSTERS_MAX) newest.delete(first)
    for (const other of confirmed) if (isOlder(other, incarnation)) confirmed.delete(other)
  }

  function confirm(incarnation: string): void {
    distrustOlder(incarnation)
    confirmed.add(incarnation)
    const [first = ''] = confirmed
    if (confirmed.size > CONFIRMED_MAX) confirmed.delete(first)
  }

  /**
   * After a crash, PostgreSQL shows commits that no standby may have received. One synchronous commit proves that the
   * standbys have them all. A barrier that takes longer than the timeout still confirms the server later. Behind a
   * pooler, the barrier can run on another server than the last statement, so it reports which server has committed.
   */
  async function runBarrier(client: pg.PoolClient): Promise<void> {
    unreplicated.delete(client)
    const { rows } = await client.query<Identity>(`${IDENTIFY}, ${BARRIER}`)
    if (unreplicated.has(client)) throw new NotTrusted('unconfirmed', 'the wait for a standby was cancelled')
    const incarnation = incarnations.get(client) ?? requirePrimary(rows[0])
    requireNewest(incarnation)
    confirm(incarnation)
  }

  function startBarrier(client: pg.PoolClient, incarnation: string): Promise<void> {
    const barrier = runBarrier(client).finally(() => barriers.delete(incarnation))
    barriers.set(incarnation, barrier)
    return barrier
  }

  async function prove(client: pg.PoolClient, onBarrier: () => void): Promise<void> {
    const incarnation = incarnations.get(client) ?? (await identify(client))
    if (pooled.has(client) || isTrusted(incarnation)) return
    const inFlight = barriers.get(incarnation)
    if (inFlight === undefined) {
      onBarrier()
      return withTimeout(startBarrier(client, incarnation), timeoutMs)
    }
    await withTimeout(inFlight, timeoutMs).catch((cause: unknown) => {
      throw new NotTrusted('unconfirmed', 'no standby has confirmed the commits of this server yet', {
        cause,
      })
    })
  }

  return {
    isPooled: (client) => pooled.has(client),
    beginPooled: async (client, onBarrier) => {
      const [, identified] = await withTimeout(
        client.query(`begin; ${IDENTIFY}`) as unknown as Promise<pg.QueryResult<Identity>[]>,
        timeoutMs,
      )
      if (isTrusted(requirePrimary(identified?.rows[0]))) return
      await withTimeout(client.query('rollback'), timeoutMs)
      onBarrier()
      await withTimeout(runBarrier(client), timeoutMs)
      throw new NotTrusted('confirmed', 'the server is trusted only now')
    },
    check: (client, onBarrier) => {
      if (pooled.has(client)) return undefined
      const incarnation = incarnations.get(client)
      return incarnation !== undefined && confirmed.has(incarnation) ? undefined : prove(client, onBarrier)
    },
    distrust: () => confirmed.clear(),
    distrustOlder,
  }
}

function requirePrimary(identity: Identity | undefined): string {
  const incarnation = identity?.incarnation ?? undefined
  if (incarnation === undefined) throw new NotTrusted('standby', 'the server is a standby')
  return incarnation
}

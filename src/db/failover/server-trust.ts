// Decides whether the service may trust what a server shows, so that it never returns data that a failover can lose.
// primary.ts asks it before each use of a connection.
// docs/decisions/0009-trusted-servers.md explains why this is needed.
import type pg from 'pg'
import { NotTrusted } from '../connection/failures.ts'
import { backendPid } from '../connection/pool.ts'
import { NoResponse, withTimeout } from '../connection/timeout.ts'
import { BARRIER, clusterOf, INCARNATION, isReplacedBy } from './incarnation.ts'
import type { UnreplicatedCommits } from './unreplicated.ts'

/** Max number of confirmed incarnations in memory. There is more than one only around a restart or a failover. */
const CONFIRMED_MAX = 16
/** Max number of clusters in memory. There is more than one only if the address leads to another, such as a restored one. */
const CLUSTERS_MAX = 16

/** The server of a connection. A connection keeps it, even behind a pooler in session mode. */
interface Server {
  incarnation: string
  /** Process id of the backend, as the backend itself reports it. Behind a pooler, `backendPid` returns another one. */
  pid: number
}

const IDENTIFY = `select ${INCARNATION} as incarnation, pg_backend_pid() as pid`

export interface ServerTrust {
  /**
   * Returns undefined if the server is trusted already, otherwise a promise that resolves once it is. Rejects if the
   * server is a standby, if no standby confirms its commits, or if a pooler can run each transaction on another server.
   * Calls `onBarrier` before a commit on this connection that may wait for a standby.
   */
  check: (client: pg.PoolClient, onBarrier: () => void) => Promise<void> | undefined
  /** The process id of the backend of a connection whose server was checked. */
  pidOf: (client: pg.PoolClient) => number
  /** Call this if a server did not respond in time: another one may have become the primary in the meantime. */
  distrustAll: () => void
  /** Call this with the incarnation of each primary that is found. Those that it has replaced are no longer trusted. */
  distrustReplacedBy: (incarnation: string) => void
}

interface TrustOptions {
  timeoutMs: number
  unreplicated: UnreplicatedCommits
  /** Rejects if the pooler of this connection does not keep sessions. Called for each new connection to a pooler. */
  requireSession: (client: pg.PoolClient) => Promise<void>
}

export function trackServers({ timeoutMs, unreplicated, requireSession }: TrustOptions): ServerTrust {
  const servers = new WeakMap<pg.PoolClient, Server>()
  /** The barriers in flight, by incarnation. */
  const barriers = new Map<string, Promise<void>>()
  const { isConfirmed, requireNotReplaced, confirm, distrustAll, distrustReplacedBy } = trackIncarnations()
  /** Barriers of earlier generations confirm nothing. */
  let generation = 0

  async function identify(client: pg.PoolClient): Promise<Server> {
    const query = client.query<{ incarnation: string | null; pid: number }>(IDENTIFY)
    const [found] = (await withTimeout(query, timeoutMs)).rows
    if (found === undefined || found.incarnation === null) {
      throw new NotTrusted('standby', 'the server is a standby')
    }
    const isPooled = found.pid !== backendPid(client)
    if (isPooled) await withTimeout(requireSession(client), timeoutMs)
    const server = { incarnation: found.incarnation, pid: found.pid }
    servers.set(client, server)
    return server
  }

  /**
   * After a crash, PostgreSQL shows commits that perhaps no standby has received. One synchronous commit proves that the
   * standbys have them all. On a former primary it never succeeds, because the standbys follow the new one. A late
   * response confirms nothing: a standby may have confirmed the barrier before the server froze and a failover replaced it.
   */
  async function runBarrier(client: pg.PoolClient, incarnation: string): Promise<void> {
    const sentIn = generation
    unreplicated.beforeCommit(client)
    await client.query(`select ${BARRIER}`)
    if (unreplicated.has(client)) throw new NotTrusted('unconfirmed', 'the wait for a standby was cancelled')
    if (sentIn !== generation) throw new NotTrusted('unconfirmed', 'the barrier was sent before a timeout')
    confirm(incarnation)
  }

  function startBarrier(client: pg.PoolClient, incarnation: string): Promise<void> {
    const barrier = runBarrier(client, incarnation).finally(() => barriers.delete(incarnation))
    barriers.set(incarnation, barrier)
    return barrier
  }

  async function requireTrust(client: pg.PoolClient, onBarrier: () => void): Promise<void> {
    const { incarnation } = servers.get(client) ?? (await identify(client))
    requireNotReplaced(incarnation)
    if (isConfirmed(incarnation)) return
    const inFlight = barriers.get(incarnation)
    if (inFlight === undefined) {
      onBarrier()
      await withTimeout(startBarrier(client, incarnation), timeoutMs).catch((error: unknown) => {
        if (error instanceof NoResponse) generation += 1
        throw error
      })
      return
    }
    // Another connection runs the barrier. If it fails, this one is intact: `unconfirmed` returns it to the pool.
    await withTimeout(inFlight, timeoutMs).catch((cause: unknown) => {
      throw new NotTrusted('unconfirmed', 'no standby has confirmed the commits of this server yet', {
        cause,
      })
    })
  }

  return {
    check: (client, onBarrier) =>
      isConfirmed(servers.get(client)?.incarnation) ? undefined : requireTrust(client, onBarrier),
    pidOf: (client) => (servers.get(client) as Server).pid,
    distrustAll: () => {
      generation += 1
      distrustAll()
    },
    distrustReplacedBy,
  }
}

/**
 * The incarnations that a standby has confirmed, and the newest one of each cluster. A confirmed incarnation is never a
 * replaced one, so `isConfirmed` is enough to trust it.
 */
function trackIncarnations() {
  const confirmed = new Set<string>()
  /** By cluster. */
  const newest = new Map<string, string>()

  /** Whether a failover has replaced the primary, even if it does not know that yet. */
  function isReplaced(incarnation: string): boolean {
    const newestOfCluster = newest.get(clusterOf(incarnation))
    return newestOfCluster !== undefined && isReplacedBy(incarnation, newestOfCluster)
  }

  function requireNotReplaced(incarnation: string): void {
    if (isReplaced(incarnation)) throw new NotTrusted('standby', 'another server has become the primary')
  }

  /**
   * Records the newest primary of its cluster, and distrusts those that it has replaced. Ignores a replaced primary: hosts.ts
   * may report it after a connection has found its successor.
   */
  function distrustReplacedBy(incarnation: string): void {
    if (isReplaced(incarnation)) return
    newest.set(clusterOf(incarnation), incarnation)
    if (newest.size > CLUSTERS_MAX) newest.delete(oldestOf(newest.keys()))
    for (const other of confirmed) if (isReplacedBy(other, incarnation)) confirmed.delete(other)
  }

  function confirm(incarnation: string): void {
    // A failover may have replaced the server while its barrier was in flight.
    requireNotReplaced(incarnation)
    distrustReplacedBy(incarnation)
    confirmed.add(incarnation)
    if (confirmed.size > CONFIRMED_MAX) confirmed.delete(oldestOf(confirmed))
  }

  return {
    isConfirmed: (incarnation: string | undefined) => incarnation !== undefined && confirmed.has(incarnation),
    requireNotReplaced,
    confirm,
    distrustAll: () => confirmed.clear(),
    distrustReplacedBy,
  }
}

/** Sets and maps keep the order in which their keys were added. */
function oldestOf(keys: Iterable<string>): string {
  const [first = ''] = keys
  return first
}

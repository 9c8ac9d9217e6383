// Decides whether the service may trust what a server shows, so that it never returns data that a failover can lose.
// primary.ts asks it before each use of a connection.
// docs/decisions/0009-trusted-servers.md explains why this is needed.
import type pg from 'pg'
import { NotTrusted } from '../connection/failures.ts'
import { backendPid } from '../connection/pool.ts'
import { withTimeout } from '../connection/timeout.ts'
import { BARRIER, clusterOf, INCARNATION, isOlder } from './incarnation.ts'
import type { UnreplicatedCommits } from './unreplicated.ts'

/** A process knows more than one incarnation only around a restart or a failover. */
const CONFIRMED_MAX = 16
/** A process knows more than one cluster only if its address leads to another one, for example after a restore. */
const CLUSTERS_MAX = 16

/** The server of a connection. A connection keeps it, even behind a pooler in session mode. */
interface Server {
  incarnation: string
  /** Process id of the backend. Behind a pooler, it differs from the one that the connection was told. */
  pid: number
}

const IDENTIFY = `select ${INCARNATION} as incarnation, pg_backend_pid() as pid`

export interface ServerTrust {
  /**
   * Returns undefined if the server is trusted already. Rejects if the server is a standby, if no standby confirms its
   * commits, or if a pooler can run each transaction on another server.
   * Calls `onBarrier` before a commit on this connection that may wait for a standby.
   */
  check: (client: pg.PoolClient, onBarrier: () => void) => Promise<void> | undefined
  /** The process id of the backend of a connection whose server was checked. */
  pidOf: (client: pg.PoolClient) => number
  /** Call this if a server did not respond in time: another one may have become the primary in the meantime. */
  distrust: () => void
  /** Call this if another server has become the primary. Older timelines of its cluster are no longer trusted. */
  distrustOlder: (incarnation: string) => void
}

interface TrustOptions {
  timeoutMs: number
  unreplicated: UnreplicatedCommits
  /** Rejects if the pooler of this connection does not keep sessions. Called for each new connection to a pooler. */
  requireSession: (client: pg.PoolClient) => Promise<void>
}

export function trackServers({ timeoutMs, unreplicated, requireSession }: TrustOptions): ServerTrust {
  const servers = new WeakMap<pg.PoolClient, Server>()
  const barriers = new Map<string, Promise<void>>()
  const { isConfirmed, isTrusted, confirm, distrust, distrustOlder } = trackIncarnations()

  async function identify(client: pg.PoolClient): Promise<Server> {
    const query = client.query<{ incarnation: string | null; pid: number }>(IDENTIFY)
    const [found] = (await withTimeout(query, timeoutMs)).rows
    if (found === undefined || found.incarnation === null) {
      throw new NotTrusted('standby', 'the server is a standby')
    }
    if (found.pid !== backendPid(client)) await withTimeout(requireSession(client), timeoutMs)
    const server = { incarnation: found.incarnation, pid: found.pid }
    servers.set(client, server)
    return server
  }

  /**
   * After a crash, PostgreSQL shows commits that no standby may have received. One synchronous commit proves that the
   * standbys have them all. A barrier that takes longer than the timeout still confirms the server later.
   */
  async function runBarrier(client: pg.PoolClient, incarnation: string): Promise<void> {
    unreplicated.startCommit(client)
    await client.query(`select ${BARRIER}`)
    if (unreplicated.has(client)) throw new NotTrusted('unconfirmed', 'the wait for a standby was cancelled')
    confirm(incarnation)
  }

  function startBarrier(client: pg.PoolClient, incarnation: string): Promise<void> {
    const barrier = runBarrier(client, incarnation).finally(() => barriers.delete(incarnation))
    barriers.set(incarnation, barrier)
    return barrier
  }

  async function prove(client: pg.PoolClient, onBarrier: () => void): Promise<void> {
    const { incarnation } = servers.get(client) ?? (await identify(client))
    if (isTrusted(incarnation)) return
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
    check: (client, onBarrier) =>
      isConfirmed(servers.get(client)?.incarnation) ? undefined : prove(client, onBarrier),
    pidOf: (client) => (servers.get(client) as Server).pid,
    distrust,
    distrustOlder,
  }
}

/** The incarnations that a standby has confirmed, and the newest one of each cluster. */
function trackIncarnations() {
  const confirmed = new Set<string>()
  const newest = new Map<string, string>()

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
    requireNewest(incarnation)
    distrustOlder(incarnation)
    confirmed.add(incarnation)
    const [first = ''] = confirmed
    if (confirmed.size > CONFIRMED_MAX) confirmed.delete(first)
  }

  return {
    /** `distrustOlder` removes replaced incarnations, so that this look-up is enough. */
    isConfirmed: (incarnation: string | undefined) => incarnation !== undefined && confirmed.has(incarnation),
    isTrusted,
    confirm,
    distrust: () => confirmed.clear(),
    distrustOlder,
  }
}

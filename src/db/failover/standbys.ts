// The connections to the standbys of DATABASE_READ_URL: one pool per node, and which nodes can be used now.
// Does not decide whether a standby is current enough; standby-reads.ts does.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { hostOf, splitDatabaseUrl } from '../../config/database-url.ts'
import { backendPid, openPool, type PoolOptions } from '../connection/pool.ts'
import { withTimeout } from '../connection/timeout.ts'

/** How often a node that failed, or that is the primary, is asked again. */
const ASK_AGAIN_AFTER_MS = 1_000
/** Max number of reads that wait for a connection to one node. Further reads use another node or the primary. */
const WAITING_MAX = 100

export interface StandbyConnection {
  client: pg.PoolClient
  host: string
  /** Returns the connection to its pool. */
  release: () => void
  /** Closes the connection, and leaves the node out until it is up to date again. */
  fail: (error: unknown) => void
}

export interface Standbys {
  /** How many of the nodes are standbys while one is the primary. */
  count: number
  /** Returns a connection that is open to a server in recovery; undefined if there is none now. */
  connect: () => Promise<StandbyConnection | undefined>
  close: () => Promise<void>
}

export interface StandbysOptions extends Omit<PoolOptions, 'onPrimary'> {
  connectTimeoutMs: number
  /** Max time of a statement on a standby, in milliseconds. */
  statementTimeoutMs: number
  /** Rejects if the standby of this connection is not up to date. Called before a node is used again. */
  requireCurrent: (client: pg.PoolClient) => Promise<void>
}

interface Node {
  /** Whether a read can use it now. */
  isUsable: () => boolean
  /** If it fails, the node is left out until it is up to date again. */
  connect: () => Promise<StandbyConnection | undefined>
  close: () => Promise<void>
}

/** @param options The URL lists every node of the cluster, the primary too. */
export function openStandbys(options: StandbysOptions): Standbys {
  const nodes = splitDatabaseUrl(options.databaseUrl).map((url) => openNode(url, options))
  let turn = 0
  return {
    count: nodes.length - 1,
    // The nodes take turns, so that they share the reads.
    connect: async () => {
      const usable = nodes.filter(({ isUsable }) => isUsable())
      turn += 1
      return usable[turn % usable.length]?.connect()
    },
    close: async () => {
      await Promise.all(nodes.map(({ close }) => close()))
    },
  }
}

function openNode(url: string, options: StandbysOptions): Node {
  const { requireCurrent, onHostFailure } = options
  const host = hostOf(url)
  const pool = openPool({ ...options, databaseUrl: url })
  const closing = new AbortController()
  /** Those that were in recovery once. While a connection is open, its server can be promoted, but never demoted. */
  const checked = new WeakSet<pg.PoolClient>()
  let isInUse = false

  async function open(): Promise<pg.PoolClient> {
    const client = await pool.connect()
    try {
      if (!checked.has(client)) await requireStandby(client, options)
      checked.add(client)
      return client
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  /** Asks the node once a second until it is a standby that is up to date. */
  async function askUntilUsable(): Promise<void> {
    while (!closing.signal.aborted && !isInUse) {
      try {
        const client = await open()
        await requireCurrent(client).finally(() => client.release(true))
        isInUse = true
      } catch (error) {
        if (!(error instanceof IsPrimary)) onHostFailure?.(host, error as Error)
        await sleep(ASK_AGAIN_AFTER_MS, undefined, { ref: false, signal: closing.signal }).catch(() => {})
      }
    }
  }

  function leaveOut(error: unknown): void {
    if (!isInUse) return
    isInUse = false
    onHostFailure?.(host, error as Error)
    void askUntilUsable()
  }

  void askUntilUsable()
  return {
    isUsable: () => isInUse && pool.waitingCount < WAITING_MAX,
    connect: async () => {
      try {
        const client = await open()
        const fail = (error: unknown) => {
          client.release(true)
          leaveOut(error)
        }
        return { client, host, release: () => client.release(), fail }
      } catch (error) {
        leaveOut(error)
        return undefined
      }
    },
    close: async () => {
      closing.abort()
      await pool.end()
    },
  }
}

class IsPrimary extends Error {}

async function requireStandby(
  client: pg.PoolClient,
  { statementTimeoutMs, connectTimeoutMs }: StandbysOptions,
): Promise<void> {
  const { rows } = await withTimeout(
    client.query<{ isStandby: boolean; pid: number }>(
      `select pg_is_in_recovery() as "isStandby", pg_backend_pid() as pid,
        set_config('statement_timeout', '${statementTimeoutMs}', false)`,
    ),
    connectTimeoutMs,
  )
  if (rows[0]?.isStandby !== true) throw new IsPrimary('the node is the primary')
  if (rows[0].pid !== backendPid(client)) throw new Error('a pooler is between the service and the node')
}

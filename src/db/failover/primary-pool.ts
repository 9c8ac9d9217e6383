// The connections to the primary: one pool for the host that is the primary now.
// If DATABASE_URL has several hosts, a new pool replaces it after a failover. hosts.ts notices the failover.
import type pg from 'pg'
import { hostOf, splitDatabaseUrl } from '../../config/database-url.ts'
import { NotTrusted } from '../connection/failures.ts'
import { openPool, type PoolOptions } from '../connection/pool.ts'
import { type Pooler, readPooler, TRANSACTION_POOLING } from '../connection/pooler.ts'
import { connectClient, watchHosts } from './hosts.ts'

export interface PrimaryPool {
  connect: () => Promise<pg.PoolClient>
  /**
   * Rejects if the pooler of this connection does not keep sessions. A pooler is recognised once, with the first
   * connection to it: this takes a second connection for a moment.
   */
  requireSession: (client: pg.PoolClient) => Promise<void>
  counts: () => { total: number; idle: number }
  end: () => Promise<void>
}

/** @param onPrimaryFound With several hosts, called with the incarnation of each primary that `watchHosts` finds. */
export function openPrimaryPool(
  options: PoolOptions,
  onPrimaryFound: (incarnation: string) => void,
): PrimaryPool {
  const urls = splitDatabaseUrl(options.databaseUrl)
  const poolers = recognisePoolers(options.applicationName)
  const open = (url: string) =>
    openPool({
      ...options,
      databaseUrl: url,
      onConnect: (client) => {
        poolers.onConnect(client, url)
        options.onConnect?.(client)
      },
    })
  // With several hosts, the first one may be a standby. server-trust.ts rejects it until `watchHosts` finds the primary.
  let currentUrl = urls[0] as string
  let pool = open(currentUrl)
  /** Pools of former primaries. They close when the requests in flight release their connections. */
  const ending = new Set<pg.Pool>()

  function replacePool(url: string): void {
    const former = pool
    currentUrl = url
    pool = open(url)
    ending.add(former)
    void former.end().finally(() => ending.delete(former))
    options.onPrimary?.(hostOf(url))
  }

  const watch =
    urls.length === 1
      ? undefined
      : watchHosts({
          urls,
          applicationName: options.applicationName,
          onPrimary: (url, incarnation) => {
            onPrimaryFound(incarnation)
            if (url !== currentUrl) replacePool(url)
          },
          onFailure: (host, error) => options.onHostFailure?.(host, error),
        })

  return {
    connect: () => pool.connect(),
    requireSession: poolers.requireSession,
    counts: () => ({
      total: [pool, ...ending].reduce((sum, { totalCount }) => sum + totalCount, 0),
      // A former pool has no idle connections: it closes each one that is released.
      idle: pool.idleCount,
    }),
    end: async () => {
      watch?.close()
      // The former pools end by themselves.
      await pool.end()
    },
  }
}

/** Recognises the pooler of each address once. */
function recognisePoolers(applicationName: string) {
  const urlOf = new WeakMap<pg.ClientBase, string>()
  const poolers = new Map<string, Promise<Pooler>>()

  function readPoolerOnce(client: pg.PoolClient): Promise<Pooler> {
    const url = urlOf.get(client) as string
    const known = poolers.get(url)
    if (known !== undefined) return known
    const found = readPooler(client, () => connectClient(url, applicationName))
    poolers.set(url, found)
    // After a failure, the next connection tries again.
    found.catch(() => poolers.delete(url))
    return found
  }

  return {
    onConnect: (client: pg.ClientBase, url: string) => void urlOf.set(client, url),
    requireSession: async (client: pg.PoolClient) => {
      if ((await readPoolerOnce(client)) !== 'transaction') return
      throw new NotTrusted('pooled', `${TRANSACTION_POOLING.message}. ${TRANSACTION_POOLING.remedy}`)
    },
  }
}

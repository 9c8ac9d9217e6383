// The connections to the primary: one pool for the host that is the primary now.
// If DATABASE_URL has several hosts, a new pool replaces it after a failover. hosts.ts notices the failover.
import type pg from 'pg'
import { hostOf, splitDatabaseUrl } from '../../config/database-url.ts'
import { openPool, type PoolOptions } from '../connection/pool.ts'
import { watchHosts } from './hosts.ts'

export interface PrimaryPool {
  connect: () => Promise<pg.PoolClient>
  counts: () => { total: number; idle: number }
  end: () => Promise<void>
}

/** @param onFailover With several hosts, called with the incarnation of each primary that `watchHosts` finds. */
export function openPrimaryPool(
  options: PoolOptions,
  onFailover: (incarnation: string) => void,
): PrimaryPool {
  const urls = splitDatabaseUrl(options.databaseUrl)
  const open = (url: string) => openPool({ ...options, databaseUrl: url })
  let current = urls[0] as string
  let pool = open(current)
  /** Pools of former primaries. They close when the requests in flight release their connections. */
  const ending = new Set<pg.Pool>()

  function replacePool(url: string): void {
    const former = pool
    current = url
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
            onFailover(incarnation)
            if (url !== current) replacePool(url)
          },
          onFailure: (host, error) => options.onHostFailure?.(host, error),
        })

  return {
    connect: () => pool.connect(),
    counts: () => ({
      total: [pool, ...ending].reduce((sum, { totalCount }) => sum + totalCount, 0),
      idle: pool.idleCount,
    }),
    end: async () => {
      watch?.close()
      await pool.end()
    },
  }
}

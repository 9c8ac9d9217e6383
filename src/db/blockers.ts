// Names the sessions that hold the locks which another session waits for.
// PostgreSQL tells this only while the wait lasts, so a second connection has to ask during it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { openClient } from './pool.ts'

const POLLED_EVERY_MS = 200
const NAMED_MAX = 5

export interface BlockerWatch {
  /** The sessions seen last, as text: `pid 71 (application petstore-export, role petstore_app)`. */
  blockers: () => string
  stop: () => Promise<void>
}

/** Watches the session with this process id until `stop` is called. */
export function watchBlockers(databaseUrl: string, pid: number): BlockerWatch {
  const stopping = new AbortController()
  let blockers = 'another session'

  async function watch(): Promise<void> {
    const client = openClient(databaseUrl, 'petstore-migrate-watch')
    try {
      await client.connect()
      while (!stopping.signal.aborted) {
        blockers = (await readBlockers(client, pid)) ?? blockers
        await sleep(POLLED_EVERY_MS, undefined, { signal: stopping.signal })
      }
    } finally {
      await client.end()
    }
  }

  // A failure here must not fail the work that is watched; it ends with `stop`, or leaves the text as it is.
  const watching = watch().catch(() => {})
  return {
    blockers: () => blockers,
    stop: () => {
      stopping.abort()
      return watching
    },
  }
}

async function readBlockers(client: Client, pid: number): Promise<string | undefined> {
  // Every role may read these columns of every session. A prepared transaction blocks as process 0.
  const { rows } = await client.query<{ pid: number; application: string | null; role: string | null }>(
    `select blocker.pid, nullif(activity.application_name, '') as application, activity.usename as role
      from unnest(pg_blocking_pids($1)) as blocker (pid)
      left join pg_stat_activity activity on activity.pid = blocker.pid
      group by 1, 2, 3
      order by 1`,
    [pid],
  )
  if (rows.length === 0) return undefined
  const named = rows
    .slice(0, NAMED_MAX)
    .map(({ pid: of, application, role }) =>
      of === 0
        ? 'a prepared transaction'
        : `pid ${of} (application ${application ?? 'unknown'}, role ${role ?? 'unknown'})`,
    )
  const others = rows.length - named.length
  return named.join(', ') + (others > 0 ? ` and ${others} more` : '')
}

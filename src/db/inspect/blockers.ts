// Finds the sessions that block another session: they hold a lock that it waits for.
// PostgreSQL reports blocking sessions only during the wait, so a second connection polls for them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { connectClient } from '../failover/hosts.ts'

const POLLED_EVERY_MS = 200
const LISTED_MAX = 5

export interface BlockerWatch {
  /** The blocking sessions last found, such as `pid 71 (application petstore-export, role petstore_app)`. */
  blockers: () => string
  /** Whether the last poll found a blocking session. */
  isBlocked: () => boolean
  stop: () => Promise<void>
}

/** How every role can see a session. */
export interface SessionName {
  /** 0 for a prepared transaction. */
  pid: number
  application: string | null
  role: string | null
}

export function describeSession({ pid, application, role }: SessionName): string {
  return pid === 0
    ? 'a prepared transaction'
    : `pid ${pid} (application ${application ?? 'unknown'}, role ${role ?? 'unknown'})`
}

/** Watches the session with this PostgreSQL process id until `stop` is called. */
export function watchBlockers(databaseUrl: string, pid: number): BlockerWatch {
  const stopping = new AbortController()
  let blockers = 'another session'
  let isBlocked = false

  async function watch(): Promise<void> {
    const client = await connectClient(databaseUrl, 'petstore-migrate-watch')
    try {
      while (!stopping.signal.aborted) {
        const found = await readBlockers(client, pid)
        isBlocked = found !== undefined
        blockers = found ?? blockers
        await sleep(POLLED_EVERY_MS, undefined, { signal: stopping.signal })
      }
    } finally {
      await client.end()
    }
  }

  // Errors are ignored: a failed poll must not fail the watched work, and `stop` aborts the sleep with an error.
  const watching = watch().catch(() => {})
  return {
    blockers: () => blockers,
    isBlocked: () => isBlocked,
    stop: () => {
      stopping.abort()
      return watching
    },
  }
}

async function readBlockers(client: Client, pid: number): Promise<string | undefined> {
  // Every role can read these columns of all sessions. A prepared transaction has process id 0.
  const { rows } = await client.query<SessionName>(
    `select blocker.pid, nullif(activity.application_name, '') as application, activity.usename as role
      from unnest(pg_blocking_pids($1)) as blocker (pid)
      left join pg_stat_activity activity on activity.pid = blocker.pid
      group by 1, 2, 3
      order by 1`,
    [pid],
  )
  if (rows.length === 0) return undefined
  const listed = rows.slice(0, LISTED_MAX).map(describeSession)
  const others = rows.length - listed.length
  return listed.join(', ') + (others > 0 ? ` and ${others} more` : '')
}

// Tracks writes whose response did not arrive in time, usually because no standby confirms the commit. The barrier of
// server-trust.ts is such a write too, even if a read waits for it. The connections of these writes stay open and keep
// their slots. If such a connection were closed, its backend would keep waiting on the server, and the next write would
// open another connection, until the role reaches its connection limit. Never cancel such a backend: its commit would
// become visible without being replicated.
import type pg from 'pg'
import type { Statement } from '../database.ts'

const CHECKED_EVERY_MS = 1_000

export interface UnacknowledgedWrite {
  /** Process id of the PostgreSQL backend. */
  pid: number
  response: Promise<unknown>
  /** Releases the slot and the connection. A broken connection is closed. */
  release: (isBroken: boolean) => void
}

export interface UnacknowledgedWrites {
  keep: (write: UnacknowledgedWrite) => void
  /** Closes the connections of all writes. Their backends continue to wait for replication. */
  close: () => void
}

/**
 * Releases a write when its response arrives, when its connection is lost, or when its backend is no longer busy. In
 * the last case, the response was lost, or another server has become the primary.
 *
 * @param findBusy Returns those of the given backends that are still busy. Rejects if it cannot find out.
 */
export function trackUnacknowledgedWrites(
  findBusy: (pids: number[]) => Promise<number[]>,
): UnacknowledgedWrites {
  const unacknowledged = new Set<UnacknowledgedWrite>()
  /** Set from `checkLater` to the end of the check, so that checks do not overlap. */
  let timer: NodeJS.Timeout | undefined

  /** Releases the write once, even if its response arrives after it was released. */
  function releaseOnce(write: UnacknowledgedWrite, isBroken: boolean): void {
    if (unacknowledged.delete(write)) write.release(isBroken)
  }

  async function check(): Promise<void> {
    const checked = [...unacknowledged]
    const pids = checked.map(({ pid }) => pid)
    const busy = pids.length === 0 ? [] : await findBusy(pids).catch(() => undefined)
    if (busy !== undefined) {
      for (const write of checked) if (!busy.includes(write.pid)) releaseOnce(write, true)
    }
    timer = undefined
    checkLater()
  }

  function checkLater(): void {
    if (unacknowledged.size === 0 || timer !== undefined) return
    timer = setTimeout(() => void check(), CHECKED_EVERY_MS).unref()
  }

  return {
    keep: (write) => {
      unacknowledged.add(write)
      write.response.then(
        () => releaseOnce(write, false),
        () => releaseOnce(write, true),
      )
      checkLater()
    },
    close: () => {
      for (const write of unacknowledged) releaseOnce(write, true)
    },
  }
}

/** Returns those of the given backends that are still busy. */
export async function findBusyBackends(client: pg.ClientBase, pids: number[]): Promise<number[]> {
  const statement: Statement = {
    name: 'find_busy_backends',
    bounded: 'without a table',
    text: `select pid from pg_stat_activity where pid = any($1::int[]) and state = 'active'`,
    values: [pids],
  }
  const { rows } = await client.query<{ pid: number }>(statement)
  return rows.map(({ pid }) => pid)
}

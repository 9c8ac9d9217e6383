// Writes whose response did not arrive in time, usually because no standby confirms the commit. Their connections
// stay open and keep their slots: closing one would leave its backend waiting on the server, and a new write would
// take its place, until the role has no connections left. Never cancel such a backend: its commit would become
// visible without being replicated.

const CHECKED_EVERY_MS = 1_000

export interface UnacknowledgedWrite {
  /** PostgreSQL's process id of the backend. */
  pid: number
  response: Promise<unknown>
  /** Frees the slot, and with it the connection; a broken connection is closed. */
  release: (isBroken: boolean) => void
}

export interface UnacknowledgedWrites {
  keep: (write: UnacknowledgedWrite) => void
  /** Closes their connections. The backends go on waiting for replication. */
  close: () => void
}

/**
 * A write ends when its response arrives, when its connection is lost, or when its backend is not busy any more, which
 * means that the response was lost on the way, or that another server is the primary now.
 *
 * @param findBusy Which of these backends still work; undefined when that cannot be known.
 */
export function trackUnacknowledgedWrites(
  findBusy: (pids: number[]) => Promise<number[] | undefined>,
): UnacknowledgedWrites {
  const unacknowledged = new Set<UnacknowledgedWrite>()
  let timer: NodeJS.Timeout | undefined

  function end(write: UnacknowledgedWrite, isBroken: boolean): void {
    if (!unacknowledged.delete(write)) return
    write.release(isBroken)
  }

  async function check(): Promise<void> {
    const checked = [...unacknowledged]
    const busy = await findBusy(checked.map(({ pid }) => pid)).catch(() => undefined)
    if (busy !== undefined) {
      for (const write of checked) if (!busy.includes(write.pid)) end(write, true)
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
        () => end(write, false),
        () => end(write, true),
      )
      checkLater()
    },
    close: () => {
      for (const write of unacknowledged) end(write, true)
    },
  }
}

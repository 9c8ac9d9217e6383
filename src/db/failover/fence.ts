// Waits until the primary shows every commit that a standby may have shown already. A standby shows a commit as soon as it
// has replayed it. The primary waits for the confirmation of a standby first, so a read of the primary could go back in time.
import { setTimeout as sleep } from 'node:timers/promises'
import { batched, WAITING_MAX } from '../batch.ts'
import type { Reader } from '../database.ts'
import { findTransactions, findWaitingCommits } from './transactions.ts'

const POLLED_EVERY_MS = 2

/** Rejects only if the primary cannot be read. */
export type Fence = () => Promise<void>

/** @param onTimeout Called if a transaction outlived the fence, unless it had outlived an earlier one. */
export function openFence(db: Reader, withinMs: number, onTimeout: () => void): Fence {
  /** Transactions that outlived a fence. Later fences wait for them only while they commit, so a long import delays few reads. */
  let ignored: ReadonlySet<string> = new Set()

  async function waitForCommits(): Promise<void> {
    const giveUpAt = performance.now() + withinMs
    let running = await findTransactions(db)
    ignored = ignored.intersection(running)
    // A commit that waits for a standby becomes visible as soon as one confirms it, also that of a long import.
    if (ignored.size > 0) ignored = ignored.difference(await findWaitingCommits(db))
    let left = running.difference(ignored)
    while (left.size > 0 && performance.now() < giveUpAt) {
      await sleep(POLLED_EVERY_MS)
      running = await findTransactions(db)
      left = left.intersection(running)
    }
    if (left.size === 0) return
    onTimeout()
    ignored = ignored.union(left)
  }

  // A fence serves only reads that began before it. Its result is the same for all of them.
  const wait = batched<void, void>(
    async (reads) => {
      await waitForCommits()
      return reads
    },
    { sizeMax: WAITING_MAX, inFlightMax: 1, waitingMax: WAITING_MAX },
  )
  return () => wait()
}

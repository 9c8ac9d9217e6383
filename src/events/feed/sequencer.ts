// The sequencer gives every event its number. One process at a time numbers events; every process tries.
import type { Db } from '../../db/database.ts'
import {
  deleteOldEvents,
  type FeedState,
  findFeedState,
  numberEvents,
  ROWS_PER_RUN,
  tryLockSequencer,
} from './queries.ts'

/** How often a process checks for events without a number, at most: while it finds some or has open streams. */
export const SEQUENCED_EVERY_MS = 50
export const OLD_EVENTS_DELETED_EVERY_MS = 10_000
/** Max outbox rows that one transaction deletes. */
const DELETE_BATCH = 1_000

/**
 * Numbers events if some have no number. A run that finds none costs one small query. `observe` gets every state, also
 * the one before events are numbered: it must show a delay even if the numbering fails.
 *
 * `foundWork`: events had no number. More may follow, or another process may have had the lock, so run it again soon.
 */
export async function sequenceDueEvents(
  db: Db,
  observe: (state: FeedState) => void = () => {},
): Promise<FeedState & { foundWork: boolean }> {
  const state = await findFeedState(db)
  observe(state)
  if (state.unnumberedSeconds === null) return { ...state, foundWork: false }
  await sequenceEvents(db)
  const after = await findFeedState(db)
  observe(after)
  return { ...after, foundWork: true }
}

/**
 * Numbers all visible events, unless another process does so at the same time. Stops after a run that was not full:
 * otherwise, it would commit all the time while the store is busy.
 */
export async function sequenceEvents(db: Db): Promise<void> {
  let numbered: number
  do {
    numbered = await db.transaction(async (tx) => ((await tryLockSequencer(tx)) ? numberEvents(tx) : 0))
  } while (numbered === ROWS_PER_RUN)
}

/** Deletes events that are older than the retention. Pass the result of the previous call; 0 in the first call. */
export async function purgeEvents(db: Db, retentionSeconds: number, purgedTo = 0n): Promise<bigint> {
  let purge = { deleted: 0, purgedTo }
  do {
    purge = await deleteOldEvents(db, retentionSeconds, DELETE_BATCH, purge.purgedTo)
  } while (purge.deleted === DELETE_BATCH)
  return purge.purgedTo
}

// The sequencer gives every event its number. One process at a time numbers events; every process tries.
// Knows nothing about HTTP; the SQL is in queries.ts.
import type { Db } from '../db/database.ts'
import { deleteOldEvents, type FeedState, findFeedState, numberEvents, tryLockSequencer } from './queries.ts'

/** How often each process checks for events without a number. */
export const SEQUENCED_EVERY_MS = 50
export const OLD_EVENTS_DELETED_EVERY_MS = 10_000
/** Max outbox rows that one transaction deletes. */
const DELETE_BATCH = 1_000

/** Numbers events if some have no number. Most runs find none and cost one small query. */
export async function sequenceDueEvents(db: Db): Promise<FeedState> {
  const state = await findFeedState(db)
  if (state.unnumberedSeconds === null) return state
  await sequenceEvents(db)
  return findFeedState(db)
}

/** Numbers all visible events, unless another process does so at the same time. */
export async function sequenceEvents(db: Db): Promise<void> {
  let numbered: number
  do {
    numbered = await db.transaction(async (tx) => ((await tryLockSequencer(tx)) ? numberEvents(tx) : 0))
  } while (numbered > 0)
}

/** Deletes events that are older than the retention. */
export async function purgeEvents(db: Db, retentionSeconds: number): Promise<void> {
  while ((await deleteOldEvents(db, retentionSeconds, DELETE_BATCH)) === DELETE_BATCH);
}

// Folds the counts of pets by status.
//
// The database stores counts as sums and deltas. Each statement that changes pets appends deltas, such as "+1 available
// in category 7", so that concurrent statements do not wait for each other. To fold means to add deltas to the sums and
// to delete these deltas. A count is a sum plus the deltas that are not folded yet. Folding keeps their number
// small, so that counting stays cheap.
import type { Db } from '../../db/database.ts'
import { type FoldLimits, foldCounts } from './queries.ts'

/** How often an instance checks whether a fold is due, at most: while it changes pets. */
export const FOLDED_EVERY_MS = 250
export const EMPTY_COUNTS_DELETED_EVERY_MS = 60_000
/** Max deltas that one transaction folds. */
const FOLD_BATCH = 20_000
/**
 * A fold is due this long after the last fold by any instance. Folds are rare, because each one leaves a dead version
 * of every sum that it changed. Vacuum cannot remove dead versions during a long export, and they slow down reads:
 * after 4,000 folds of 100 categories, listing these categories took 150 ms.
 */
const FOLD_AFTER_SECONDS = 2
/** A fold is also due once this many deltas are not folded yet. Reading 1,000 deltas takes 0.5 ms. */
const FOLD_AFTER_DELTAS = 1_000

/** Folds counts if a fold is due. */
export async function foldDueCounts(db: Db): Promise<void> {
  await foldUntilDone(db, {
    max: FOLD_BATCH,
    afterDeltas: FOLD_AFTER_DELTAS,
    afterSeconds: FOLD_AFTER_SECONDS,
  })
}

/** Folds all deltas, whether or not a fold is due. */
export async function foldAllCounts(db: Db): Promise<void> {
  await foldUntilDone(db, { max: FOLD_BATCH, afterDeltas: 1, afterSeconds: 0 })
}

async function foldUntilDone(db: Db, limits: FoldLimits): Promise<void> {
  while ((await foldCounts(db, limits)) === limits.max);
}

// How many animals there are, and keeping that cheap to know.
import type { Db } from '../db/database.ts'
import type { FreshHolds } from '../fresh-holds.ts'
import type { Counts } from '../pet-status.ts'
import { countPets, type FoldLimits, foldCounts } from './queries.ts'

/** How often an instance looks whether it is time to fold. */
export const FOLDED_EVERY_MS = 250
export const EMPTY_COUNTS_DELETED_EVERY_MS = 60_000
const FOLD_BATCH = 20_000
/**
 * Every fold leaves a dead version of each count that it changed, which vacuum cannot remove during a long export:
 * after 4,000 folds of 100 categories, listing them took 150 ms. All instances together fold once in this time, or
 * once this many deltas have gathered. To read these takes half a millisecond.
 */
const FOLD_AFTER_SECONDS = 2
const FOLD_AFTER_DELTAS = 1_000

/** Exact: expired holds are swept before the pets are counted. */
export async function getInventory(db: Db, holds: FreshHolds): Promise<Counts> {
  await holds.waitUntilFresh()
  return countPets(db)
}

/** Folds if it is time to. */
export async function foldDueCounts(db: Db): Promise<void> {
  await foldUntilDone(db, {
    max: FOLD_BATCH,
    afterDeltas: FOLD_AFTER_DELTAS,
    afterSeconds: FOLD_AFTER_SECONDS,
  })
}

export async function foldAllCounts(db: Db): Promise<void> {
  await foldUntilDone(db, { max: FOLD_BATCH, afterDeltas: 1, afterSeconds: 0 })
}

async function foldUntilDone(db: Db, limits: FoldLimits): Promise<void> {
  while ((await foldCounts(db, limits)) === limits.max);
}

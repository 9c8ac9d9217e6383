// How many animals there are, and keeping that cheap to know.
import type { Db } from '../db/database.ts'
import { foldCounts } from './queries.ts'

export const FOLDED_EVERY_MS = 250
export const EMPTY_COUNTS_DELETED_EVERY_MS = 60_000
const FOLD_BATCH = 20_000

export async function foldAllCounts(db: Db): Promise<void> {
  while ((await foldCounts(db, FOLD_BATCH)) === FOLD_BATCH);
}

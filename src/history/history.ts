// The history of an animal: its changes, and behind them the fact that it was added.
import type { Db } from '../db/database.ts'
import { AppError } from '../errors.ts'
import type { Page, PageRequest } from '../paging.ts'
import { findCreation, findHistoryBefore } from './queries.ts'
import type { HistoryEntry } from './schema.ts'

export async function getPetHistory(
  db: Db,
  petId: bigint,
  { after, limit }: PageRequest,
): Promise<Page<HistoryEntry>> {
  const creation = await findCreation(db, petId)
  if (creation === undefined) throw new AppError('pet_not_found')
  const changes = await findHistoryBefore(db, petId, after?.id, limit)
  const entries = changes.map(({ entry }) => entry)
  const last = changes.at(-1)
  // The creation stands behind every change, so it needs a place of its own on the last page.
  if (last === undefined || changes.length < limit) return { items: [...entries, creation], next: undefined }
  return { items: entries, next: { id: last.id, sortKey: '' } }
}

// Rules for the history of a pet: lists its changes, newest first, then its creation.
import { AppError } from '../../contract/errors.ts'
import { PAGE_BYTES_MAX, type Page, type PageRequest } from '../../contract/paging.ts'
import type { Reader } from '../../db/database.ts'
import { findCreation, findHistoryBefore } from './queries.ts'
import type { HistoryEntry } from './schema.ts'

export async function getPetHistory(
  db: Reader,
  petId: bigint,
  { after, limit }: PageRequest,
): Promise<Page<HistoryEntry>> {
  const creation = await findCreation(db, petId)
  if (creation === undefined) throw new AppError('pet_not_found')
  const page = { max: limit, maxBytes: PAGE_BYTES_MAX }
  const { changes, isFull } = await findHistoryBefore(db, petId, after?.id, page)
  const entries = changes.map(({ entry }) => entry)
  const last = changes.at(-1)
  // The creation is the last entry. If changes fill this page, the creation is on a later page.
  if (last === undefined || !isFull) return { items: [...entries, creation], next: undefined }
  return { items: entries, next: { id: last.id, sortKey: '' } }
}

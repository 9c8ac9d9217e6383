// What can be done with categories.
import type { Db } from '../db/database.ts'
import { type Page, type PageRequest, toPage } from '../paging.ts'
import { type CategoryCounts, findCategoriesAfter, upsertCategory } from './queries.ts'

/** Those that have a name or an animal, by id. */
export async function listCategories(db: Db, { after, limit }: PageRequest): Promise<Page<CategoryCounts>> {
  const found: CategoryCounts[] = []
  let afterId = after?.id
  // One whose last animal has just left still has a row of counts for a while; it is passed over.
  while (found.length <= limit) {
    const candidates = await findCategoriesAfter(db, afterId, limit + 1)
    found.push(...candidates.filter(isNamedOrUsed))
    if (candidates.length <= limit) break
    afterId = candidates.at(-1)?.id
  }
  return toPage(found, limit, ({ id }) => ({ id, sortKey: '' }))
}

/** Names a category; says whether it had no name before. */
export async function putCategory(
  db: Db,
  id: bigint,
  name: string,
): Promise<{ category: CategoryCounts; isNew: boolean }> {
  // One transaction, so that who cannot be answered can be told that nothing was changed.
  return db.transaction(async (tx) => {
    const isNew = await upsertCategory(tx, { id, name })
    const [category] = await findCategoriesAfter(tx, id - 1n, 1)
    return { category: category as CategoryCounts, isNew }
  })
}

function isNamedOrUsed({ name, counts }: CategoryCounts): boolean {
  return name !== undefined || Object.values(counts).some((count) => count !== 0n)
}

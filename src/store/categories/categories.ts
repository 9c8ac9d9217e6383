// Rules for categories: list them and name them.
import { AppError } from '../../contract/errors.ts'
import { type Page, type PageRequest, toPage } from '../../contract/paging.ts'
import type { Db, Reader } from '../../db/database.ts'
import {
  type Category,
  type CategoryCounts,
  findCategoriesAfter,
  insertCategory,
  upsertCategory,
} from './queries.ts'

/** Lists the categories that have a name or at least one pet, sorted by id. */
export async function listCategories(
  db: Reader,
  { after, limit }: PageRequest,
): Promise<Page<CategoryCounts>> {
  const found: CategoryCounts[] = []
  let afterId = after?.id
  // A category that has no name and no pets left keeps its counts of 0 until deleteEmptyCounts deletes them. The filter
  // drops such categories, so a page may need more than one query.
  while (found.length <= limit) {
    const candidates = await findCategoriesAfter(db, afterId, limit + 1)
    found.push(...candidates.filter(isNamedOrUsed))
    if (candidates.length <= limit) break
    afterId = candidates.at(-1)?.id
  }
  return toPage(found, limit, ({ id }) => ({ id, sortKey: '' }))
}

/** Sets the name and the picture of a category, or only a first name. `isNew` is true if the category had no name before. */
export async function putCategory(
  db: Db,
  category: Category,
  mustBeNew: boolean,
): Promise<{ category: CategoryCounts; isNew: boolean }> {
  // One transaction: if the read fails, the name is rolled back. The error `unavailable` promises that nothing changed.
  return db.transaction(async (tx) => {
    const isNew = await (mustBeNew ? insertCategory(tx, category) : upsertCategory(tx, category))
    if (mustBeNew && !isNew) throw new AppError('category_exists')
    const [stored] = await findCategoriesAfter(tx, category.id - 1n, 1)
    return { category: stored as CategoryCounts, isNew }
  })
}

function isNamedOrUsed({ name, counts }: CategoryCounts): boolean {
  return name !== undefined || Object.values(counts).some((count) => count !== 0n)
}

// Adds a category under the next free id.
import type { Category, Petstore } from '@petstore/client'
import { hasCode } from '../layout/describe-error.ts'

const ATTEMPTS_MAX = 10

/**
 * Returns the id of the new category. Another person can take the id at the same moment, and the page does not know
 * categories above its limit. Then the next id is tried, unless a category already has the name.
 */
export async function addCategory(
  store: Petstore,
  name: string,
  readCategories: () => Promise<Category[]>,
): Promise<string> {
  let id = 0n
  for (let attempt = 1; ; attempt += 1) {
    const categories = await readCategories()
    const same = categories.find((category) => category.name === name)
    if (same !== undefined) return same.id
    id = nextId([id, ...categories.map((category) => BigInt(category.id))])
    try {
      return (await store.categories.put(id, { name }, { onlyIfNew: true })).id
    } catch (error) {
      if (!hasCode(error, 'category_exists') || attempt === ATTEMPTS_MAX) throw error
    }
  }
}

/** The smallest id above all others. Ids can exceed 2^53. */
function nextId(ids: bigint[]): bigint {
  return ids.reduce((max, id) => (id > max ? id : max), 0n) + 1n
}

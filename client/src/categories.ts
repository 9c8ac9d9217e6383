// Categories, with the number of pets in each.
import type { CallOptions, Send } from './call.ts'
import { idText } from './ids.ts'
import type { Category, CategoryName, IdInput, ListCategoriesQuery } from './interface.ts'
import { listOf } from './lists.ts'

export interface PutCategoryOptions extends CallOptions {
  /**
   * Names the category only if it has no name. Otherwise the call fails with `category_exists`, also if the first attempt
   * of this call has named it.
   */
  onlyIfNew?: boolean | undefined
}

export type Categories = ReturnType<typeof categoriesOf>

export function categoriesOf(send: Send) {
  return {
    /** Lists the categories that have a name or pets, sorted by id. */
    list: (query?: ListCategoriesQuery, options?: CallOptions) =>
      listOf(send, 'listCategories', () => '/categories', query, options),

    /** Names or renames a category, and chooses its picture. Idempotent. */
    put: async (id: IdInput, category: CategoryName, options: PutCategoryOptions = {}): Promise<Category> => {
      const path = `/categories/${idText(id)}` as const
      const call = {
        operation: 'putCategory',
        method: 'PUT',
        path,
        body: category,
        headers: { 'if-none-match': options.onlyIfNew === true ? '*' : undefined },
        idempotent: true,
      } as const
      return (await send(call, options)).value
    },
  }
}

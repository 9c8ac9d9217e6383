// Categories, with the number of pets in each.
import type { CallOptions, Send } from './call.ts'
import { idText } from './ids.ts'
import type { Category, CategoryName, IdInput, ListCategoriesQuery } from './interface.ts'
import { listOf } from './lists.ts'

export type Categories = ReturnType<typeof categoriesOf>

export function categoriesOf(send: Send) {
  return {
    /** Lists the categories that have a name or pets, sorted by id. */
    list: (query?: ListCategoriesQuery, options?: CallOptions) =>
      listOf(send, 'listCategories', () => '/categories', query, options),

    /** Names or renames a category. Idempotent. */
    put: async (id: IdInput, category: CategoryName, options?: CallOptions): Promise<Category> => {
      const path = `/categories/${idText(id)}` as const
      const call = {
        operation: 'putCategory',
        method: 'PUT',
        path,
        body: category,
        idempotent: true,
      } as const
      return (await send(call, options)).value
    },
  }
}

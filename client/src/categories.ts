// Categories, with how many animals each has.
import type { CallOptions, Send } from './call.ts'
import { idText } from './ids.ts'
import type { Category, CategoryName, IdInput, ListCategoriesQuery } from './interface.ts'
import { listOf } from './lists.ts'

export type Categories = ReturnType<typeof categoriesOf>

export function categoriesOf(send: Send) {
  return {
    /** By id: those that have a name or animals. */
    list: (query?: ListCategoriesQuery, options?: CallOptions) =>
      listOf(send, 'listCategories', () => '/categories', query, options),

    /** Names a category. A second attempt gives the same name. */
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

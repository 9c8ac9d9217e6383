// Categories over HTTP.
import type { Db } from '../db/database.ts'
import type { FreshHolds } from '../fresh-holds.ts'
import { response, type V1 } from '../http/operation.ts'
import { nextPageHeaders, readPage } from '../paging.ts'
import { listCategories, putCategory } from './categories.ts'
import type { CategoryCounts } from './queries.ts'
import { CategoryNameRef, CategoryParams, LIST_LIMIT_DEFAULT, ListCategoriesQuery } from './schema.ts'

export interface CategoryServices {
  db: Db
  publicUrl: string
  holds: FreshHolds
}

const EXAMPLE = { id: 1, name: 'Dogs', counts: { available: 12, pending: 1, sold: 40 } }
/** What a cursor of this list is bound to: it has no filters, but a cursor of another list must not fit. */
const FILTERS = { list: 'categories' }

export function listCategoriesRoute(app: V1, { db, publicUrl, holds }: CategoryServices): void {
  app.route({
    method: 'GET',
    url: '/categories',
    config: { scope: 'pets:read' },
    schema: {
      operationId: 'listCategories',
      summary: 'List categories',
      description: 'Those that have a name and those that have animals, by id, with their counts.',
      tags: ['categories'],
      querystring: ListCategoriesQuery,
      response: {
        200: response({
          description: 'The categories of this page.',
          schema: 'Categories',
          example: [EXAMPLE],
          headers: { Link: 'The next page, while there is one: `<…>; rel="next"`.' },
        }),
      },
    },
    handler: async (request, reply): Promise<CategoryCounts[]> => {
      const { limit } = request.query
      await holds.waitUntilFresh()
      const page = readPage(request.query, FILTERS, LIST_LIMIT_DEFAULT)
      const { items, next } = await listCategories(db, page)
      reply.headers(nextPageHeaders(`${publicUrl}/v1/categories`, next, FILTERS, { limit }))
      return items
    },
  })
}

export function putCategoryRoute(app: V1, { db, holds }: CategoryServices): void {
  app.route({
    method: 'PUT',
    url: '/categories/:categoryId',
    config: { scope: 'pets:write' },
    schema: {
      operationId: 'putCategory',
      summary: 'Name a category',
      tags: ['categories'],
      params: CategoryParams,
      body: CategoryNameRef,
      response: {
        200: response({ description: 'It had a name before.', schema: 'Category', example: EXAMPLE }),
        201: response({ description: 'It had no name before.', schema: 'Category', example: EXAMPLE }),
      },
    },
    handler: async (request, reply): Promise<CategoryCounts> => {
      await holds.waitUntilFresh()
      const { category, isNew } = await putCategory(db, request.params.categoryId, request.body.name)
      reply.code(isNew ? 201 : 200)
      return category
    },
  })
}

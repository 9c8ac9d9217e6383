// HTTP routes for categories: what each operation accepts, returns and requires.
// Contains no SQL; the rules are in categories.ts.
import { pageLinks, readPage, LINKS } from '../../contract/paging.ts'
import type { Caller } from '../../contract/caller.ts'
import type { Db } from '../../db/database.ts'
import { insufficientScope } from '../../http/authentication.ts'
import { response, type V1 } from '../../http/operation.ts'
import { listCategories, putCategory } from './categories.ts'
import {
  CategoriesSchema,
  CATEGORY_SCHEMAS,
  CategoryNameRef,
  CategoryParams,
  CategorySchema,
  LIST_LIMIT_DEFAULT,
  ListCategoriesQuery,
  PutCategoryHeaders,
} from './schema.ts'

interface CategoryServices {
  db: Db
  publicUrl: string
}

const EXAMPLE = {
  id: 1,
  name: 'Dogs',
  picture: 'dog' as const,
  counts: { available: 12, pending: 1, sold: 40 },
}
/** The list has no filters. This value marks its cursors, so that the cursors of other lists are rejected. */
const FILTERS = { list: 'categories' }

function listCategoriesRoute(app: V1, { db, publicUrl }: CategoryServices): void {
  app.route({
    method: 'GET',
    url: '/categories',
    config: { scope: 'pets:read', showsHolds: true },
    schema: {
      operationId: 'listCategories',
      summary: 'List categories',
      description:
        'Returns the categories that have a name or at least one pet, sorted by id, with their pets counted by status.',
      tags: ['categories'],
      querystring: ListCategoriesQuery,
      response: {
        200: response(CategoriesSchema, {
          description: 'A page of categories.',
          example: [EXAMPLE],
          headers: { Link: LINKS },
        }),
      },
    },
    handler: async (request, reply) => {
      const { limit } = request.query
      const page = readPage(request.query, FILTERS, LIST_LIMIT_DEFAULT)
      const { items, next } = await listCategories(db, page)
      reply.headers(pageLinks(`${publicUrl}/v1/categories`, next, FILTERS, { limit }))
      return items
    },
  })
}

function putCategoryRoute(app: V1, { db }: CategoryServices): void {
  app.route({
    method: 'PUT',
    url: '/categories/:categoryId',
    config: {
      scope: 'pets:write',
      showsHolds: true,
      errors: ['category_exists'],
      retry: {
        rule: 'safe',
        effect:
          'A retry sets the same name and picture. With `If-None-Match: *`, it returns 412 `category_exists` if the first attempt succeeded.',
      },
    },
    schema: {
      operationId: 'putCategory',
      summary: 'Name a category',
      description:
        'Sets or replaces the name of the category, and the picture if it is given, which also requires the scope `admin`.',
      tags: ['categories'],
      params: CategoryParams,
      headers: PutCategoryHeaders,
      body: CategoryNameRef,
      response: {
        200: response(CategorySchema, {
          description: 'The category already had a name, which was replaced.',
          example: EXAMPLE,
        }),
        201: response(CategorySchema, {
          description: 'The category had no name before.',
          example: EXAMPLE,
        }),
      },
    },
    handler: async (request, reply) => {
      const { name, picture } = request.body
      if (picture !== undefined && !(request.caller as Caller).scopes.includes('admin'))
        throw insufficientScope('admin')
      const { category, isNew } = await putCategory(
        db,
        { id: request.params.categoryId, name, picture },
        request.headers['if-none-match']?.trim() === '*',
      )
      reply.code(isNew ? 201 : 200)
      return category
    },
  })
}

export const CATEGORIES = { schemas: CATEGORY_SCHEMAS, operations: [listCategoriesRoute, putCategoryRoute] }

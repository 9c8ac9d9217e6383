// HTTP route for the history of a pet.
// Contains no SQL; the rules are in history.ts.
import { Type } from 'typebox'
import { CursorParameter, LimitParameter } from '../../contract/paging-parameters.ts'
import { pageLinks, readPage, LINKS } from '../../contract/paging.ts'
import type { Db } from '../../db/database.ts'
import { response, type V1 } from '../../http/operation.ts'
import { getPetHistory } from './history.ts'
import { HISTORY_SCHEMAS, HistoryParams, HistorySchema } from './schema.ts'

interface HistoryServices {
  db: Db
  publicUrl: string
}

export const LIMIT_DEFAULT = 20

function getPetHistoryRoute(app: V1, { db, publicUrl }: HistoryServices): void {
  app.route({
    method: 'GET',
    url: '/pets/:petId/history',
    config: { scope: 'pets:read', showsHolds: true },
    schema: {
      operationId: 'getPetHistory',
      summary: 'Get the history of a pet',
      description:
        'Returns the changes to a pet, newest first: what changed, when, why, by whom and in which request. A page ends early if its changes take about 1 MiB. To read all pages, follow the link `rel="next"` until it is absent.',
      tags: ['pets'],
      params: HistoryParams,
      querystring: Type.Object({ limit: LimitParameter(LIMIT_DEFAULT), cursor: CursorParameter }),
      response: {
        200: response(HistorySchema, {
          description: 'A page of changes.',
          example: [
            {
              at: '2026-11-15T10:00:00.000Z',
              event: 'order_placed',
              from: { status: 'available' },
              to: { status: 'pending' },
              actor: 'web-shop',
              requestId: '8e03978e-40d5-43e8-bc93-6894a57f9324',
            },
          ],
          headers: { Link: LINKS },
        }),
      },
    },
    handler: async (request, reply) => {
      const { petId } = request.params
      const { limit } = request.query
      const filters = { history: petId }
      const page = readPage(request.query, filters, LIMIT_DEFAULT)
      const { items, next } = await getPetHistory(db, petId, page)
      reply.headers(pageLinks(`${publicUrl}/v1/pets/${petId}/history`, next, filters, { limit }))
      return items
    },
  })
}

export const HISTORY = { schemas: HISTORY_SCHEMAS, operations: [getPetHistoryRoute] }

// HTTP route for the figures per day.
// Contains no SQL; the rules are in figures.ts.
import type { Readers } from '../../db/database.ts'
import { response, type V1 } from '../../http/operation.ts'
import { getFigures } from './figures.ts'
import { DAYS_DEFAULT, FiguresSchema, GetFiguresQuery, TIME_ZONE_DEFAULT } from './schema.ts'

export interface FiguresServices {
  readers: Readers
}

export function getFiguresRoute(app: V1, { readers }: FiguresServices): void {
  app.route({
    method: 'GET',
    url: '/store/figures',
    config: { scope: 'pets:read', showsHolds: false },
    schema: {
      operationId: 'getFigures',
      summary: 'Get the figures per day',
      description:
        'Returns how many pets were added and sold on each of the last days. The response time does not depend on the size of the catalogue. A change is included when the event feed contains it, usually within a tenth of a second.',
      tags: ['store'],
      querystring: GetFiguresQuery,
      response: {
        200: response(FiguresSchema, {
          description: 'The figures of each day, oldest first.',
          example: {
            timeZone: 'Europe/Berlin',
            days: [
              { day: '2026-11-15', added: 12, sold: 7 },
              { day: '2026-11-16', added: 3, sold: 0 },
            ],
          },
        }),
      },
    },
    handler: (request) => {
      const { days = DAYS_DEFAULT, timeZone = TIME_ZONE_DEFAULT } = request.query
      return getFigures(readers.counts, days, timeZone)
    },
  })
}

// HTTP route for the figures per day.
// Contains no SQL; the rules are in figures.ts.
import type { Caller } from '../../contract/caller.ts'
import { coalesced, WAITING_MAX } from '../../db/batch.ts'
import type { Db } from '../../db/database.ts'
import { response, type V1 } from '../../http/operation.ts'
import { getFigures } from './figures.ts'
import {
  DAYS_DEFAULT,
  type Figures,
  FIGURES_SCHEMAS,
  FiguresSchema,
  GetFiguresQuery,
  TIME_ZONE_DEFAULT,
} from './schema.ts'

interface FiguresServices {
  db: Db
}

function getFiguresRoute(app: V1, { db }: FiguresServices): void {
  // The consoles of a shop ask for the same figures, and each sale makes all of them ask again. With one statement in flight
  // instead of two, two clients waited twice as long, and eight as long.
  const coalesce = coalesced<Figures>({ inFlightMax: 2, waitingMax: WAITING_MAX })
  app.route({
    method: 'GET',
    url: '/store/figures',
    config: { scope: 'pets:read', showsHolds: false },
    schema: {
      operationId: 'getFigures',
      summary: 'Get the figures per day',
      description:
        'Returns how many pets were added and sold on each of the last days, and the sales. The response time does not depend on the size of the catalogue, only on the number of sales on these days. A change of a pet is included when the event feed contains it, usually within a tenth of a second; a completed order is included at once. `sales` requires the scope `orders:read`; without it, the response has no sales.',
      tags: ['store'],
      querystring: GetFiguresQuery,
      response: {
        200: response(FiguresSchema, {
          description: 'The figures of each day, oldest first.',
          example: {
            timeZone: 'Europe/Berlin',
            days: [
              {
                day: '2026-11-15',
                added: 12,
                sold: 7,
                sales: { orders: 6, withoutPrice: 1, totals: [{ currency: 'EUR', amount: '645.00' }] },
              },
              { day: '2026-11-16', added: 3, sold: 0, sales: { orders: 0, withoutPrice: 0, totals: [] } },
            ],
          },
        }),
      },
    },
    handler: (request) => {
      const { days = DAYS_DEFAULT, timeZone = TIME_ZONE_DEFAULT } = request.query
      const withSales = (request.caller as Caller).scopes.includes('orders:read')
      const wanted = { days, timeZone, withSales }
      return coalesce(JSON.stringify(wanted), () => getFigures(db, wanted))
    },
  })
}

export const FIGURES = { schemas: FIGURES_SCHEMAS, operations: [getFiguresRoute] }

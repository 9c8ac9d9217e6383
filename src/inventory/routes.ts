// The inventory over HTTP.
import { answer, errorAnswers, type Services, type V1 } from '../http/operation.ts'
import { type Counts, countPets } from './queries.ts'

export function getInventoryRoute(app: V1, { db, holds }: Services): void {
  app.route({
    method: 'GET',
    url: '/store/inventory',
    config: { scope: 'pets:read' },
    schema: {
      operationId: 'getInventory',
      summary: 'Count the animals',
      description: 'By status, exact, in the same time at any size of the catalogue.',
      tags: ['store'],
      response: {
        200: answer({
          description: 'The counts.',
          schema: 'Counts',
          example: { available: 120, pending: 7, sold: 873 },
        }),
        ...errorAnswers('missing_api_key', 'invalid_api_key'),
      },
    },
    handler: async (): Promise<Counts> => {
      await holds.fresh()
      return countPets(db)
    },
  })
}

// The inventory over HTTP.
import type { Db } from '../db/database.ts'
import { answer, type V1 } from '../http/operation.ts'
import { type Counts, countPets } from './queries.ts'

export interface InventoryServices {
  db: Db
  /** Resolves once holds that have expired are swept, at once while they are. */
  holds: { fresh: () => Promise<void> | undefined }
}

export function getInventoryRoute(app: V1, { db, holds }: InventoryServices): void {
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
      },
    },
    handler: async (): Promise<Counts> => {
      await holds.fresh()
      return countPets(db)
    },
  })
}

// HTTP route for the inventory.
import type { Db } from '../../db/database.ts'
import { response, type V1 } from '../../http/operation.ts'
import { countPets } from './queries.ts'
import { CountsSchema, INVENTORY_SCHEMAS } from './schema.ts'

interface InventoryServices {
  db: Db
}

function getInventoryRoute(app: V1, { db }: InventoryServices): void {
  app.route({
    method: 'GET',
    url: '/store/inventory',
    config: { scope: 'pets:read', showsHolds: true },
    schema: {
      operationId: 'getInventory',
      summary: 'Get the inventory',
      description:
        'Returns the exact number of pets in each status. The response time does not depend on the size of the catalogue.',
      tags: ['store'],
      response: {
        200: response(CountsSchema, {
          description: 'The number of pets in each status.',
          example: { available: 120, pending: 7, sold: 873 },
        }),
      },
    },
    handler: () => countPets(db),
  })
}

export const INVENTORY = { schemas: INVENTORY_SCHEMAS, operations: [getInventoryRoute] }

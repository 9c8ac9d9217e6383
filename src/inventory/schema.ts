// Counts of animals by status.
import { Type } from 'typebox'

/** Exact to the last animal; within 2^53 for as long as there are fewer animals than that. */
const count = Type.Integer({ minimum: 0 })

const CountsSchema = Type.Object(
  { available: count, pending: count, sold: count },
  { $id: 'Counts', description: 'How many animals have each status.' },
)

export const INVENTORY_SCHEMAS = [CountsSchema]

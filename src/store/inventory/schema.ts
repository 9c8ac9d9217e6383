// JSON schema of pets counted by status.
import { Type } from 'typebox'

/** A plain integer is exact: the number of pets stays below 2^53. */
const count = Type.Unsafe<bigint>({ type: 'integer', minimum: 0 })

export const CountsSchema = Type.Object(
  { available: count, pending: count, sold: count },
  { $id: 'Counts', description: 'Number of pets in each status.' },
)

export const INVENTORY_SCHEMAS = [CountsSchema]

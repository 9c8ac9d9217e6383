// An id in any body, query or path. Apart from int64.ts, so that a command need not load TypeBox to read an id.
import { Type } from 'typebox'

/** validation.ts gives it its exact range; the document says format int64. */
export const Int64 = Type.Unsafe<bigint>({ type: 'integer', format: 'int64', minimum: 1 })

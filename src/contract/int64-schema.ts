// The schema of an id in a body, query or path. Separate from src/values/int64.ts, so that commands can parse ids without
// loading TypeBox.
import { Type } from 'typebox'

/** src/http/validation.ts checks the exact range; openapi.json shows `format: int64`. */
export const Int64 = Type.Unsafe<bigint>({ type: 'integer', format: 'int64', minimum: 1 })

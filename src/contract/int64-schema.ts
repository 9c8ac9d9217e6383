// The schema of an id in a body, query or path. Separate from src/values/int64.ts, so that commands can parse ids without
// loading TypeBox.
import { Type } from 'typebox'
import { INT64_SCHEMA } from '../values/int64.ts'

export const Int64 = Type.Unsafe<bigint>(INT64_SCHEMA)

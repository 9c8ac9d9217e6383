// The value of the attribute `error.type` for an error of this process or of PostgreSQL.
// Never the message of an error: PostgreSQL quotes values of rows in some of them.
import { AppError } from '../../contract/errors.ts'
import { NotTrusted, QueryFailure } from './failures.ts'
import { NoResponse } from './timeout.ts'

/** The SQLSTATE if PostgreSQL sent one, otherwise a code such as `ECONNRESET` or the kind of the error. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof AppError) return error.code
  if (error instanceof QueryFailure) return error.state ?? errorTypeOf(error.cause)
  if (error instanceof NoResponse) return 'timeout'
  if (error instanceof NotTrusted) return `server_${error.reason}`
  const { code, name } = error as { code?: unknown; name?: unknown }
  if (typeof code === 'string') return code
  return typeof name === 'string' ? name : 'unknown'
}

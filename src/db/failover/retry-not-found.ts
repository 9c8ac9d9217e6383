// Lets a client change at once what it has read from a standby, although the primary may not show it yet.
import { AppError, ERRORS } from '../../contract/errors.ts'
import type { Db } from '../database.ts'
import type { Fence } from './fence.ts'

/** If a transaction finds no pet or order, waits for the fence and tries once more. */
export function retryNotFound(db: Db, fence: Fence): Db {
  return {
    ...db,
    transaction: async (work) => {
      try {
        return await db.transaction(work)
      } catch (error) {
        if (!(error instanceof AppError) || ERRORS[error.code].status !== 404) throw error
        await fence()
        return db.transaction(work)
      }
    },
  }
}

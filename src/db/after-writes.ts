// Calls a function after each write, so that background work on the changed data starts at once.
import type { Db } from './database.ts'

/** Also calls `onWrite` after a write that failed, because it may have been committed. */
export const afterWrites = (db: Db, onWrite: () => void): Db => ({
  ...db,
  write: (statement) => db.write<never>(statement).finally(onWrite),
  transaction: (work) => db.transaction(work).finally(onWrite),
})

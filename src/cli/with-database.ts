// The database for the work of a command: one connection, which is closed after the work.
import type { Db } from '../db/database.ts'
import { openDatabase } from '../db/open-database.ts'

export async function withDatabase<Result>(
  databaseUrl: string,
  applicationName: string,
  work: (db: Db) => Promise<Result>,
): Promise<Result> {
  // A failed statement rejects its own promise.
  const db = openDatabase({ databaseUrl, applicationName, size: 1, onError: () => {} })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

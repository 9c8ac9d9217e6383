// When each key was last used: noted in memory by every call, written once in a while.
import type { Db } from '../db/database.ts'
import { touchApiKeys } from './queries.ts'
import type { Caller } from './schema.ts'

export interface LastUsed {
  note: (caller: Caller) => void
  flush: (db: Db) => Promise<void>
}

export function lastUsed(now: () => Date): LastUsed {
  let used = new Map<bigint, Date>()
  return {
    note: ({ id }) => used.set(id, now()),
    flush: async (db) => {
      if (used.size === 0) return
      const noted = used
      used = new Map()
      await touchApiKeys(db, noted)
    },
  }
}

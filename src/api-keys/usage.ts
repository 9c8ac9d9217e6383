// When each key was last used, and how often it called what will be removed: noted in memory by every call,
// written together once a minute.
import type { Db } from '../db/database.ts'
import { AppError } from '../errors.ts'
import { addDeprecatedCalls, type DeprecatedCalls, touchApiKeys } from './queries.ts'
import type { Caller } from './schema.ts'

export interface Usage {
  noteCall: (caller: Pick<Caller, 'id'>) => void
  noteDeprecatedCall: (caller: Pick<Caller, 'id'>, operation: string) => void
  flush: (db: Db) => Promise<void>
}

export function trackUsage(now: () => Date): Usage {
  let lastUsed = new Map<bigint, Date>()
  let deprecated = new Map<string, DeprecatedCalls>()

  function addCalls({ apiKeyId, operation, day, calls }: DeprecatedCalls): void {
    const key = `${apiKeyId} ${operation} ${day}`
    const before = deprecated.get(key)?.calls ?? 0
    deprecated.set(key, { apiKeyId, operation, day, calls: before + calls })
  }

  return {
    noteCall: ({ id }) => lastUsed.set(id, now()),

    noteDeprecatedCall: ({ id }, operation) =>
      addCalls({ apiKeyId: id, operation, day: now().toISOString().slice(0, 10), calls: 1 }),

    flush: async (db) => {
      if (lastUsed.size === 0 && deprecated.size === 0) return
      const [used, calls] = [lastUsed, [...deprecated.values()]]
      lastUsed = new Map()
      deprecated = new Map()
      try {
        await db.transaction(async (tx) => {
          await touchApiKeys(tx, used)
          await addDeprecatedCalls(tx, calls)
        })
      } catch (error) {
        // Counted again only when it was surely not counted.
        const unknown = error instanceof AppError && error.code === 'outcome_unknown'
        if (!unknown) for (const call of calls) addCalls(call)
        lastUsed = new Map([...used, ...lastUsed])
        throw error
      }
    },
  }
}

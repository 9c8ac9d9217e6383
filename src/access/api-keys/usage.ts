// Tracks when each key was last used and how often it called deprecated operations. Calls are recorded in memory and
// written once a minute.
import type { Caller } from '../../contract/caller.ts'
import { AppError } from '../../contract/errors.ts'
import type { Db } from '../../db/database.ts'
import { addDeprecatedCalls, type DeprecatedCalls, touchApiKeys } from './queries.ts'

export interface Usage {
  noteCall: (caller: Pick<Caller, 'id'>) => void
  noteDeprecatedCall: (caller: Pick<Caller, 'id'>, operation: string) => void
  flush: (db: Db) => Promise<void>
}

const DAY_MS = 86_400_000
let lastDay = Number.NaN
let lastDayText = ''

/** Returns the day in UTC. Caches the text, so that it is formatted once a day and not for every call. */
function dayOf(time: Date): string {
  const day = Math.floor(time.getTime() / DAY_MS)
  if (day !== lastDay) [lastDay, lastDayText] = [day, time.toISOString().slice(0, 10)]
  return lastDayText
}

export function trackUsage(now: () => Date): Usage {
  let lastUsed = new Map<bigint, Date>()
  let deprecated = new Map<string, DeprecatedCalls>()

  function addCalls({ apiKeyId, operation, day, calls }: DeprecatedCalls): void {
    const key = `${apiKeyId} ${operation} ${day}`
    const counted = deprecated.get(key)
    if (counted === undefined) deprecated.set(key, { apiKeyId, operation, day, calls })
    else counted.calls += calls
  }

  return {
    noteCall: ({ id }) => lastUsed.set(id, now()),

    noteDeprecatedCall: ({ id }, operation) =>
      addCalls({ apiKeyId: id, operation, day: dayOf(now()), calls: 1 }),

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
        // Keep the counted calls for the next flush, unless they may have been committed. The times of last use are
        // always kept, because writing them is idempotent.
        const unknown = error instanceof AppError && error.code === 'outcome_unknown'
        if (!unknown) for (const call of calls) addCalls(call)
        lastUsed = new Map([...used, ...lastUsed])
        throw error
      }
    },
  }
}

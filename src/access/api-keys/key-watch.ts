// Ends long responses soon after their API key was revoked or has expired.
import type { KeyWatch } from '../../contract/key-watch.ts'
import type { Reader } from '../../db/database.ts'
import { findValidApiKeyIds } from './queries.ts'

/** A long response ends within this time and one query after its key was revoked or has expired. */
const KEYS_CHECKED_EVERY_MS = 500

interface Watched {
  apiKeyId: bigint
  end: () => void
}

/** @param onFailure Called for each failed check. The responses stay open, and the check is retried. */
export function watchApiKeys(db: Reader, onFailure: (error: unknown) => void = () => {}): KeyWatch {
  const open = new Set<Watched>()
  /** Runs only while a response is open. */
  let timer: NodeJS.Timeout | undefined

  async function check(): Promise<void> {
    // A response that begins during the query belongs to the next check.
    const checked = [...open]
    const ids = [...new Set(checked.map(({ apiKeyId }) => apiKeyId))]
    try {
      const valid = await findValidApiKeyIds(db, ids)
      for (const watched of checked) if (open.has(watched) && !valid.has(watched.apiKeyId)) watched.end()
    } catch (error) {
      // While the database is unavailable, responses stay open, but nothing new can be read for them.
      onFailure(error)
    }
  }

  return {
    add: (apiKeyId, end) => {
      const watched = { apiKeyId, end }
      open.add(watched)
      timer ??= setInterval(() => void check(), KEYS_CHECKED_EVERY_MS).unref()
      return () => {
        open.delete(watched)
        if (open.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}

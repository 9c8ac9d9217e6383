// The settings of the shop as this process knows them. Another process can change them: what is returned was stored less
// than a second ago. Not read by a background job, because a process that was paused would then use what it knew before.
import type { Reader } from '../../db/database.ts'
import { findSettings, type StoredSettings } from './queries.ts'

/** How long settings are believed. */
const BELIEVED_FOR_MS = 1_000

export interface CurrentSettings {
  /** The currency of new prices. Known at once for most requests, which then need no promise. */
  currency: () => string | Promise<string>
  /** What the page of the console contains. */
  shop: () => Promise<Pick<StoredSettings, 'currency' | 'timeZone'>>
  /** Called after a change by this process. */
  forget: () => void
}

export function openSettings(db: Reader, now = () => performance.now()): CurrentSettings {
  let known: StoredSettings | undefined
  let startedAt = Number.NEGATIVE_INFINITY
  let reading: Promise<StoredSettings> | undefined

  /** Requests that arrive during a read share it: what it returns was stored after it started. */
  function read(): Promise<StoredSettings> {
    if (reading !== undefined) return reading
    const started = now()
    const current = findSettings(db)
    reading = current
    const end = (found?: StoredSettings) => {
      if (reading !== current) return
      reading = undefined
      if (found !== undefined) [known, startedAt] = [found, started]
    }
    current.then(end, () => end())
    return current
  }

  const believed = () => (now() - startedAt < BELIEVED_FOR_MS ? known : undefined)

  return {
    currency: () => believed()?.currency ?? read().then(({ currency }) => currency),
    shop: async () => believed() ?? read(),
    forget: () => {
      known = undefined
      reading = undefined
    },
  }
}

// All open exports of this process: their number, their timeout, and their end on shutdown or without a valid key.
import type { KeyWatch } from '../../contract/key-watch.ts'
import { limitConcurrency } from '../../contract/concurrency-limit.ts'

export interface ExportLimits {
  /** Max exports at once in this process. */
  max: number
  perKeyMax: number
  /** Max duration of an export. */
  timeoutMs: number
}

export const EXPORT_LIMITS: ExportLimits = { max: 8, perKeyMax: 2, timeoutMs: 300_000 }
/** On shutdown, an export has this long to finish. It is part of HARD_EXIT_AFTER_MS. */
const FINISHED_WITHIN_MS = 5_000

export interface PetExports {
  /** Throws if a limit is reached. Call `end` when the export has ended. It must end when `stop` is aborted. */
  start: (apiKeyId: bigint) => { stop: AbortSignal; end: () => void }
  /** Stops all exports soon, because the process is shutting down. */
  close: () => void
}

export function openPetExports(keys: KeyWatch, limits: Partial<ExportLimits> = {}): PetExports {
  const { timeoutMs, ...concurrencyLimits } = { ...EXPORT_LIMITS, ...limits }
  const concurrency = limitConcurrency('exports', concurrencyLimits)
  const shutdown = new AbortController()

  return {
    start: (apiKeyId) => {
      const release = concurrency.acquire(apiKeyId)
      const invalidKey = new AbortController()
      const unwatch = keys.add(apiKeyId, () => invalidKey.abort(new Error('the API key is no longer valid')))
      return {
        stop: AbortSignal.any([AbortSignal.timeout(timeoutMs), shutdown.signal, invalidKey.signal]),
        end: () => {
          unwatch()
          release()
        },
      }
    },
    close: () => {
      setTimeout(() => shutdown.abort(new Error('the process is shutting down')), FINISHED_WITHIN_MS).unref()
    },
  }
}

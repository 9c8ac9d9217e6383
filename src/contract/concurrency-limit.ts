// Limits how many long responses of one kind are open at once, such as streams: in this process, and per API key.
import { AppError } from './errors.ts'

const RETRY_SECONDS = 5

export interface ConcurrencyLimit {
  /** Throws if a limit is reached. Otherwise returns the function that ends the count, once. */
  acquire: (apiKeyId: bigint) => () => void
}

/** @param policy The name of the limit per key in the headers `RateLimit-Policy` and `RateLimit`. */
export function limitConcurrency(
  policy: string,
  { max, perKeyMax }: { max: number; perKeyMax: number },
): ConcurrencyLimit {
  const perKey = new Map<bigint, number>()
  let total = 0

  return {
    acquire: (apiKeyId) => {
      const ofKey = perKey.get(apiKeyId) ?? 0
      if (ofKey >= perKeyMax) {
        throw new AppError('rate_limited', {
          headers: {
            'retry-after': String(RETRY_SECONDS),
            'ratelimit-policy': `"${policy}";q=${perKeyMax};w=${RETRY_SECONDS}`,
            ratelimit: `"${policy}";r=0;t=${RETRY_SECONDS}`,
          },
        })
      }
      if (total >= max) throw new AppError('overloaded')
      total += 1
      perKey.set(apiKeyId, ofKey + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        total -= 1
        const left = (perKey.get(apiKeyId) ?? 1) - 1
        if (left === 0) perKey.delete(apiKeyId)
        else perKey.set(apiKeyId, left)
      }
    },
  }
}

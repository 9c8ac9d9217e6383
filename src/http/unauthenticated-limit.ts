// Limits the requests without a valid API key, for each client address: those that fail authentication, and sign-ins. The
// counts are in the memory of this process. The library used in rate-limit.ts sets a timer for each address and does not
// limit the number of addresses. With 100,000 addresses, it took ten times as long as this code, and 40 MB.
import { networkOf } from '../values/ip-address.ts'

/** Max number of addresses that are counted separately. All further addresses share one count. */
export const ADDRESSES_MAX = 10_000
const OTHERS = 'others'

export interface UnauthenticatedLimiter {
  isOver: (address: string) => boolean
  count: (address: string) => void
  /** Response headers for a client over the limit. */
  headers: Record<string, string>
}

/** Allows `max` requests in each window of `windowSeconds`. */
export function unauthenticatedLimiter(
  max: number,
  clock: () => Date,
  windowSeconds = 1,
): UnauthenticatedLimiter {
  const failures = new Map<string, number>()
  let startedAt = 0

  function keyOf(address: string): string {
    const elapsedMs = clock().getTime() - startedAt
    // The elapsed time is negative if the clock of the host was set back.
    if (elapsedMs >= windowSeconds * 1_000 || elapsedMs < 0) {
      failures.clear()
      startedAt += elapsedMs
    }
    const network = networkOf(address)
    return failures.has(network) || failures.size < ADDRESSES_MAX ? network : OTHERS
  }

  return {
    isOver: (address) => (failures.get(keyOf(address)) ?? 0) >= max,
    count: (address) => {
      const key = keyOf(address)
      failures.set(key, (failures.get(key) ?? 0) + 1)
    },
    headers: {
      'retry-after': String(windowSeconds),
      'ratelimit-policy': `"unauthenticated";q=${max};w=${windowSeconds}`,
      ratelimit: `"unauthenticated";r=0;t=${windowSeconds}`,
    },
  }
}

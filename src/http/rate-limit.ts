// Two limits: on the requests of each API key, and on the requests of each client address that have no valid API key.
// The latter fail authentication or are sign-ins. The counts are in the memory of this process.
import type { FastifyReply } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Caller } from '../contract/caller.ts'
import { AppError } from '../contract/errors.ts'
import { networkOf } from '../values/ip-address.ts'

/** Max number of addresses that start a count of their own within a window. All further addresses share one count. */
export const ADDRESSES_MAX = 10_000
/** The name of the count that further addresses share. */
const OTHERS = 'others'

/** Returns undefined instead of a promise if the caller has no limit. */
export type LimitRate = (caller: Caller, reply: FastifyReply) => Promise<void> | undefined

export interface AddressLimiter {
  /** Counts a request. Rejects it beyond the limit (429). */
  count: (address: string) => Promise<void>
  /** Rejects a request if the address has reached its limit (429). Counts nothing. */
  requireUnder: (address: string) => Promise<void>
}

/** Limits the requests per second of each caller, and shows the limit, if there is one, in the responses. */
export function callerLimiter(defaultPerSecond: number): LimitRate {
  /** By their max: keys with the same max use the same limit, with a count for each key. */
  const limits = new Map<number, Limit>()

  /** In the headers, the policy is called `default` also for a key with a max of its own. */
  function limitOf(max: number): Limit {
    const limit = limits.get(max) ?? openLimit('default', max, 1)
    limits.set(max, limit)
    return limit
  }

  return (caller, reply) => {
    const max = caller.rateLimit ?? defaultPerSecond
    // 0 means no limit.
    if (max === 0) return undefined
    return limitOf(max)
      .count(String(caller.id))
      .then((headers) => void reply.headers(headers))
  }
}

/** Allows `max` requests without a valid API key in each window of `windowSeconds`. */
export function addressLimiter(max: number, windowSeconds = 1): AddressLimiter {
  const limit = openLimit('unauthenticated', max, windowSeconds)
  /** Counts the addresses that have started a count of their own, under the one name `started`. */
  const ownCounts = new RateLimiterMemory({ points: ADDRESSES_MAX, duration: windowSeconds })

  /** Both return false if ADDRESSES_MAX addresses have started a count in this window. Only `startOwnCount` adds to them. */
  const startOwnCount = async () => (await consume(ownCounts, 'started')).consumedPoints <= ADDRESSES_MAX
  const canStartOwnCount = async () => (await ownCounts.get('started'))?.remainingPoints !== 0

  /** Returns the name of the count of an address. `getsOwnCount` decides about an address without a count. */
  async function nameOf(address: string, getsOwnCount: () => Promise<boolean>): Promise<string> {
    // All IPv6 addresses of a /64 count as one address.
    const network = networkOf(address)
    const hasOwnCount = (await limit.hasCounted(network)) || (await getsOwnCount())
    return hasOwnCount ? network : OTHERS
  }

  return {
    count: async (address) => void (await limit.count(await nameOf(address, startOwnCount))),
    requireUnder: async (address) => limit.requireUnder(await nameOf(address, canStartOwnCount)),
  }
}

/** The same max for several counts, each with a name. The window of a count starts with its first request. */
interface Limit {
  /** Returns true if the name has a count in its current window. */
  hasCounted: (name: string) => Promise<boolean>
  /** Counts a request. Returns the headers of its response, or rejects it beyond the limit (429). */
  count: (name: string) => Promise<Record<string, string>>
  /** Rejects a request if the count has reached the limit (429). Counts nothing. */
  requireUnder: (name: string) => Promise<void>
}

/** `policy` is the name of the limit in the response headers. */
function openLimit(policy: string, max: number, windowSeconds: number): Limit {
  const counts = new RateLimiterMemory({ points: max, duration: windowSeconds })

  function headersOf({ remainingPoints, msBeforeNext }: RateLimiterRes): Record<string, string> {
    return {
      'ratelimit-policy': `"${policy}";q=${max};w=${windowSeconds}`,
      ratelimit: `"${policy}";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1000)}`,
    }
  }

  function rejection(state: RateLimiterRes): AppError {
    const retryAfter = String(Math.max(1, Math.ceil(state.msBeforeNext / 1000)))
    return new AppError('rate_limited', { headers: { ...headersOf(state), 'retry-after': retryAfter } })
  }

  return {
    hasCounted: async (name) => (await counts.get(name)) !== null,
    count: async (name) => {
      const state = await consume(counts, name)
      // Includes this request. `remainingPoints` would also be 0 for the last request within the limit.
      if (state.consumedPoints > max) throw rejection(state)
      return headersOf(state)
    },
    requireUnder: async (name) => {
      const state = await counts.get(name)
      if (state?.remainingPoints === 0) throw rejection(state)
    },
  }
}

/** Counts one request. Beyond the limit, the library throws the result that it otherwise returns. */
async function consume(limiter: RateLimiterMemory, name: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(name)
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return rejection
    throw rejection
  }
}

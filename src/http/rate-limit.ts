// Limits the requests of each API key, and those without a valid key of each client address: requests that fail
// authentication, and sign-ins. The counts are in the memory of this process.
import type { FastifyReply } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Caller } from '../contract/caller.ts'
import { AppError } from '../contract/errors.ts'
import { networkOf } from '../values/ip-address.ts'

/** Max number of addresses that start a count of their own within a window. All further addresses share one count. */
export const ADDRESSES_MAX = 10_000
const OTHERS = 'others'

/** Returns undefined instead of a promise if the caller has no limit. */
export type LimitRate = (caller: Caller, reply: FastifyReply) => Promise<void> | undefined

export interface AddressLimiter {
  /** Counts a request. Rejects it beyond the limit (429). */
  count: (address: string) => Promise<void>
  /** Rejects a request if the address has reached its limit (429). Counts nothing. */
  requireUnder: (address: string) => Promise<void>
}

/** Limits the requests per second of each caller, and shows the limit in every response. */
export function callerLimiter(defaultPerSecond: number): LimitRate {
  /** One limit for each max in use. */
  const limits = new Map<number, Limit>()

  function limitOf(max: number): Limit {
    const limit = limits.get(max) ?? openLimit('default', max, 1)
    limits.set(max, limit)
    return limit
  }

  return (caller, reply) => {
    const max = caller.rateLimit ?? defaultPerSecond
    if (max === 0) return undefined
    return limitOf(max)
      .count(String(caller.id))
      .then((headers) => void reply.headers(headers))
  }
}

/** Allows `max` requests without a valid API key in each window of `windowSeconds`. */
export function addressLimiter(max: number, windowSeconds = 1): AddressLimiter {
  const limit = openLimit('unauthenticated', max, windowSeconds)
  const places = new RateLimiterMemory({ points: ADDRESSES_MAX, duration: windowSeconds })

  const takePlace = async () => (await consume(places, OTHERS)).consumedPoints <= ADDRESSES_MAX
  const hasPlace = async () => (await places.get(OTHERS))?.remainingPoints !== 0

  async function nameOf(address: string, isPlaceFree: () => Promise<boolean>): Promise<string> {
    const network = networkOf(address)
    return (await limit.hasCounted(network)) || (await isPlaceFree()) ? network : OTHERS
  }

  return {
    count: async (address) => void (await limit.count(await nameOf(address, takePlace))),
    requireUnder: async (address) => limit.requireUnder(await nameOf(address, hasPlace)),
  }
}

interface Limit {
  hasCounted: (name: string) => Promise<boolean>
  /** Counts a request. Returns the headers of its response, or rejects it beyond the limit (429). */
  count: (name: string) => Promise<Record<string, string>>
  requireUnder: (name: string) => Promise<void>
}

/** A count for each name. Its window starts with its first request. */
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

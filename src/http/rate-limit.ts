// Limits the requests per second of each API key. The counts are in the memory of this process.
import type { FastifyReply } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Caller } from '../contract/caller.ts'
import { AppError } from '../contract/errors.ts'

const WINDOW_SECONDS = 1

/** Returns undefined instead of a promise if the caller has no limit. */
export type LimitRate = (caller: Caller, reply: FastifyReply) => Promise<void> | undefined

export function rateLimiter(defaultPerSecond: number): LimitRate {
  // One limiter for each limit in use. Each limiter counts by caller id.
  const limiters = new Map<number, RateLimiterMemory>()

  function limiterFor(points: number): RateLimiterMemory {
    const limiter = limiters.get(points) ?? new RateLimiterMemory({ points, duration: WINDOW_SECONDS })
    limiters.set(points, limiter)
    return limiter
  }

  async function count(limit: number, caller: Caller, reply: FastifyReply): Promise<void> {
    const consumed = await consume(limiterFor(limit), caller.id)
    const secondsLeft = Math.ceil(consumed.msBeforeNext / 1000)
    reply.header('ratelimit-policy', `"default";q=${limit};w=${WINDOW_SECONDS}`)
    reply.header('ratelimit', `"default";r=${consumed.remainingPoints};t=${secondsLeft}`)
    if (consumed.consumedPoints > limit) {
      throw new AppError('rate_limited', { headers: { 'retry-after': String(Math.max(1, secondsLeft)) } })
    }
  }

  return (caller, reply) => {
    const limit = caller.rateLimit ?? defaultPerSecond
    return limit === 0 ? undefined : count(limit, caller, reply)
  }
}

/** Counts one request. Beyond the limit, the library throws the result that it otherwise returns. */
async function consume(limiter: RateLimiterMemory, callerId: bigint): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(String(callerId))
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return rejection
    throw rejection
  }
}

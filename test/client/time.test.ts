// How long a call takes: the delays between attempts, Retry-After, the timeout and the deadline.
import { expect, test, vi } from 'vitest'
import { behindFaultInjector, errorOf, openClientFixture } from './fixture.ts'

const client = await openClientFixture()
const TIMEOUT_MS = 1_500

test.concurrent.each([
  { moment: 'the time in Retry-After', fault: 'rate limited', waitMs: 1_000 },
  { moment: 'timeoutMs, if the first attempt hangs', fault: 'hang before', waitMs: TIMEOUT_MS },
] as const)('retries after $moment', async ({ fault, waitMs }) => {
  const { store, injector } = await behindFaultInjector(client, { timeoutMs: TIMEOUT_MS, deadlineMs: 25_000 })
  injector.next(fault)
  const startedAt = performance.now()
  await store.inventory()
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(waitMs - 1)
  expect(injector.seen).toHaveLength(2)
})

/** A client whose first request gets 503 with this Retry-After. Later requests reach the service. */
function rejectedOnce(retryAfter: string) {
  let attempts = 0
  return client.open({
    deadlineMs: 20_000,
    fetch: async (url, init) => {
      attempts += 1
      if (attempts > 1) return fetch(url, init)
      const rejected = '{"code":"unavailable","message":"","status":503}'
      return new Response(rejected, { status: 503, headers: { 'retry-after': retryAfter } })
    },
  })
}

test.concurrent('fails at once if Retry-After is later than the deadline', async () => {
  for (const retryAfter of ['60', new Date(Date.now() + 60_000).toUTCString()]) {
    const startedAt = performance.now()
    const error = await errorOf(rejectedOnce(retryAfter).inventory())
    expect(error).toMatchObject({ code: 'unavailable', status: 503 })
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  }
})

test.concurrent('ignores an invalid Retry-After and retries', async () => {
  expect(await rejectedOnce('soon').inventory()).toHaveProperty('available')
})

test.concurrent('accepts Infinity as timeout and deadline', async () => {
  const { store, injector } = await behindFaultInjector(client, { timeoutMs: Infinity, deadlineMs: Infinity })
  injector.next('unavailable')
  await store.inventory()
  expect(injector.seen).toHaveLength(2)
})

test.concurrent('a call fails at its deadline, with the previous error as its cause', async () => {
  const { store, injector } = await behindFaultInjector(client, { deadlineMs: 4_000 })
  injector.next('overloaded', 'hang before')
  const startedAt = performance.now()
  const error = await errorOf(store.inventory())
  const tookMs = performance.now() - startedAt
  expect(error).toMatchObject({ code: 'timeout', status: undefined, cause: { code: 'overloaded' } })
  expect(tookMs).toBeGreaterThanOrEqual(3_999)
  expect(tookMs).toBeLessThan(12_000)
})

test.concurrent('the timeouts of a call override those of the client', async () => {
  const { store, injector } = await behindFaultInjector(client)
  injector.next('hang before', 'hang before')
  const error = await errorOf(store.inventory({ timeoutMs: 100, deadlineMs: 120 }))
  expect(error.code).toBe('timeout')
})

/** The time of each attempt in ms, while the service is unavailable and Math.random() returns a constant. */
async function attemptTimes(randomValue: number): Promise<number[]> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const random = vi.spyOn(Math, 'random').mockReturnValue(randomValue)
  const times: number[] = []
  const store = client.open({
    fetch: async () => {
      times.push(Math.round(performance.now()))
      return new Response('{"code":"unavailable","message":"","status":503}', { status: 503 })
    },
  })
  try {
    const call = errorOf(store.inventory())
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await call).toMatchObject({ code: 'unavailable' })
  } finally {
    random.mockRestore()
    vi.useRealTimers()
  }
  return times
}

const gaps = (times: number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0))

test('retries for a minute with exponential backoff up to 5 seconds and full jitter', async () => {
  const whole = gaps(await attemptTimes(1))
  expect(whole.slice(0, 8)).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000])
  expect(whole.reduce((sum, gap) => sum + gap, 0)).toBeGreaterThan(55_000)
  const half = gaps(await attemptTimes(0.5))
  expect(half.slice(0, 7)).toEqual([100, 200, 400, 800, 1_600, 2_500, 2_500])
})

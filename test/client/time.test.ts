// How long a call takes: the delays between attempts, Retry-After, the timeout and the deadline.
import { expect, test, vi } from 'vitest'
import { behindFaultInjector, errorOf, openClientFixture } from '../support/client-fixture.ts'

const client = await openClientFixture()
/** Longer than any test. */
const DEADLINE_MS = 3_600_000
/** The longest wait before the first retry. */
const BACKOFF_FIRST_MS = 200

test.concurrent('retries after the time in Retry-After', async () => {
  const { store, injector } = await behindFaultInjector(client)
  injector.next('rate limited')
  const startedAt = performance.now()
  await store.inventory()
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(999)
  expect(injector.seen).toHaveLength(2)
})

function rejected(code: string, headers: Record<string, string> = {}): Response {
  return new Response(`{"code":"${code}","message":"","status":503}`, { status: 503, headers })
}

/** A client whose first request gets 503 with this Retry-After. Later requests reach the service. */
function rejectedOnce(retryAfter: string) {
  let attempts = 0
  return client.open({
    deadlineMs: DEADLINE_MS,
    fetch: async (url, init) => {
      attempts += 1
      return attempts > 1 ? fetch(url, init) : rejected('unavailable', { 'retry-after': retryAfter })
    },
  })
}

// A client that waited would not fail before the timeout of the test.
test.concurrent('fails at once if Retry-After is later than the deadline', async () => {
  const laterMs = 2 * DEADLINE_MS
  for (const retryAfter of [`${laterMs / 1_000}`, new Date(Date.now() + laterMs).toUTCString()]) {
    const error = await errorOf(rejectedOnce(retryAfter).inventory())
    expect(error).toMatchObject({ code: 'unavailable', status: 503 })
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

test.concurrent('the timeouts of a call override those of the client', async () => {
  const { store, injector } = await behindFaultInjector(client)
  injector.next('hang before', 'hang before')
  const error = await errorOf(store.inventory({ timeoutMs: 100, deadlineMs: 120 }))
  expect(error.code).toBe('timeout')
})

/** Runs the work with timers that it moves. */
async function withFakeTimers(work: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    await work()
  } finally {
    vi.useRealTimers()
  }
}

/** Like `fetch` with a service that never responds. */
function hang(signal: AbortSignal | null | undefined): Promise<Response> {
  const { promise, reject } = Promise.withResolvers<Response>()
  signal?.addEventListener('abort', () => reject(signal.reason as Error))
  return promise
}

test('retries after timeoutMs, if the first attempt hangs', () =>
  withFakeTimers(async () => {
    let attempts = 0
    const store = client.open({
      timeoutMs: 1_500,
      fetch: async (_url, init) => {
        attempts += 1
        return attempts === 1 ? hang(init?.signal) : new Response('{"available":1}')
      },
    })
    const calling = store.inventory()
    await vi.advanceTimersByTimeAsync(1_499)
    expect(attempts).toBe(1)
    await vi.advanceTimersByTimeAsync(1 + BACKOFF_FIRST_MS)
    expect(attempts).toBe(2)
    expect(await calling).toEqual({ available: 1 })
  }))

test('a call fails at its deadline, with the previous error as its cause', () =>
  withFakeTimers(async () => {
    let attempts = 0
    const store = client.open({
      deadlineMs: 4_000,
      fetch: async (_url, init) => {
        attempts += 1
        return attempts === 1 ? rejected('overloaded') : hang(init?.signal)
      },
    })
    const failed = vi.fn()
    const failing = errorOf(store.inventory()).finally(failed)
    await vi.advanceTimersByTimeAsync(3_999)
    expect(failed).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(await failing).toMatchObject({
      code: 'timeout',
      status: undefined,
      cause: { code: 'overloaded' },
    })
    expect(attempts).toBe(2)
  }))

/** The time of each attempt in ms, while the service is unavailable and Math.random() returns a constant. */
async function attemptTimes(randomValue: number): Promise<number[]> {
  const random = vi.spyOn(Math, 'random').mockReturnValue(randomValue)
  const times: number[] = []
  const store = client.open({
    // The defaults of the client.
    timeoutMs: undefined,
    deadlineMs: undefined,
    fetch: async () => {
      times.push(Math.round(performance.now()))
      return rejected('unavailable')
    },
  })
  await withFakeTimers(async () => {
    const call = errorOf(store.inventory())
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await call).toMatchObject({ code: 'unavailable' })
  })
  random.mockRestore()
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

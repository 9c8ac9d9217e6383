import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { issueApiKey, startApp } from '../support/app.ts'
import type { TestResponse } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

const db = openTestDatabase(await createTestDatabase())
const petstore = await startApp(db)

// The clock and the timers of the limiter. They stand still unless a test moves them.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('sends no rate limit headers without a limit', async () => {
  const { headers } = await petstore.get('/pets')
  expect(headers.get('ratelimit')).toBeNull()
  expect(headers.get('ratelimit-policy')).toBeNull()
})

test('returns 429 to a key beyond its limit until the next second, and the limit in every response', async () => {
  const { text: apiKey } = await issueApiKey(db, { rateLimit: 3 })
  const responses: TestResponse[] = []
  for (let count = 0; count < 5; count += 1) responses.push(await petstore.get('/pets', { apiKey }))
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
  expect(responses.map(({ headers }) => headers.get('ratelimit'))).toEqual(
    [2, 1, 0, 0, 0].map((left) => `"default";r=${left};t=1`),
  )
  expect(responses[0]?.headers.get('ratelimit-policy')).toBe('"default";q=3;w=1')
  expect(responses[3]?.headers.get('retry-after')).toBe('1')
  expect(responses[3]?.body).toMatchObject({ code: 'rate_limited' })
  vi.advanceTimersByTime(999)
  expect((await petstore.get('/pets', { apiKey })).status).toBe(429)
  vi.advanceTimersByTime(1)
  expect((await petstore.get('/pets', { apiKey })).status).toBe(200)
})

test('applies RATE_LIMIT_PER_SECOND separately to each key without its own limit', async () => {
  const limited = await startApp(db, { rateLimitPerSecond: 1 })
  const [one, two, generous] = await Promise.all([
    issueApiKey(db),
    issueApiKey(db),
    issueApiKey(db, { rateLimit: 100 }),
  ])
  const twice = async ({ text: apiKey }: typeof one) => [
    (await limited.get('/pets', { apiKey })).status,
    (await limited.get('/pets', { apiKey })).status,
  ]
  expect(await twice(one)).toEqual([200, 429])
  expect(await twice(two)).toEqual([200, 429])
  expect(await twice(generous)).toEqual([200, 200])
})

test('checks the rate limit after the API key (401) and before the route (404)', async () => {
  const { text: apiKey } = await issueApiKey(db, { rateLimit: 1 })
  await petstore.get('/pets', { apiKey })
  expect((await petstore.get('/nothing', { apiKey })).status).toBe(429)
  expect((await petstore.get('/nothing', { apiKey: `${apiKey}x` })).status).toBe(401)
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { issueApiKey, startApp } from '../support/app.ts'
import type { TestResponse } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

const db = openTestDatabase(await createTestDatabase())
const petstore = await startApp(db)

/**
 * Sends requests that must all arrive within one second of the limiter's clock. If they take longer, because the host is
 * busy, sends them again with another key.
 */
async function withinOneSecond<Result>(send: () => Promise<Result>): Promise<Result> {
  for (let attempts = 0; attempts < 100; attempts += 1) {
    const startedAt = performance.now()
    const result = await send()
    if (performance.now() - startedAt < 1_000) return result
  }
  throw new Error('the host is too slow for these requests in one second')
}

test('sends no rate limit headers without a limit', async () => {
  const { headers } = await petstore.get('/pets')
  expect(headers.get('ratelimit')).toBeNull()
  expect(headers.get('ratelimit-policy')).toBeNull()
})

test('returns 429 to a key beyond its limit until the next second, and the limit in every response', async () => {
  const { apiKey, responses } = await withinOneSecond(async () => {
    const { text } = await issueApiKey(db, { rateLimit: 3 })
    const got: TestResponse[] = []
    for (let count = 0; count < 5; count += 1) got.push(await petstore.get('/pets', { apiKey: text }))
    return { apiKey: text, responses: got }
  })
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
  expect(responses.map(({ headers }) => headers.get('ratelimit'))).toEqual(
    [2, 1, 0, 0, 0].map((left) => `"default";r=${left};t=1`),
  )
  expect(responses[0]?.headers.get('ratelimit-policy')).toBe('"default";q=3;w=1')
  expect(responses[3]?.headers.get('retry-after')).toBe('1')
  expect(responses[3]?.body).toMatchObject({ code: 'rate_limited' })
  await sleep(1_050)
  expect((await petstore.get('/pets', { apiKey })).status).toBe(200)
})

test('applies RATE_LIMIT_PER_SECOND separately to each key without its own limit', async () => {
  const limited = await startApp(db, { rateLimitPerSecond: 1 })
  const statuses = await withinOneSecond(async () => {
    const [one, two, generous] = await Promise.all([
      issueApiKey(db),
      issueApiKey(db),
      issueApiKey(db, { rateLimit: 100 }),
    ])
    const twice = async ({ text: apiKey }: typeof one) => [
      (await limited.get('/pets', { apiKey })).status,
      (await limited.get('/pets', { apiKey })).status,
    ]
    return [await twice(one), await twice(two), await twice(generous)]
  })
  expect(statuses).toEqual([
    [200, 429],
    [200, 429],
    [200, 200],
  ])
})

test('checks the rate limit after the API key (401) and before the route (404)', async () => {
  const { limited, unknown } = await withinOneSecond(async () => {
    const { text: apiKey } = await issueApiKey(db, { rateLimit: 1 })
    await petstore.get('/pets', { apiKey })
    return {
      limited: await petstore.get('/nothing', { apiKey }),
      unknown: await petstore.get('/nothing', { apiKey: `${apiKey}x` }),
    }
  })
  expect(limited.status).toBe(429)
  expect(unknown.status).toBe(401)
})

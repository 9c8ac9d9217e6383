import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { issueApiKey, startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

const db = openTestDatabase(await createTestDatabase())

test('without a limit no answer speaks of one', async () => {
  const petstore = await startApp(db)
  const { headers } = await petstore.get('/pets')
  expect(headers.get('ratelimit')).toBeNull()
  expect(headers.get('ratelimit-policy')).toBeNull()
})

test('past its limit a key gets 429 until the second is over, and is told so on every answer', async () => {
  const petstore = await startApp(db)
  const apiKey = (await issueApiKey(db, { rateLimit: 3 })).text
  const answers = []
  for (let count = 0; count < 5; count += 1) answers.push(await petstore.get('/pets', { apiKey }))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
  expect(answers.map(({ headers }) => headers.get('ratelimit'))).toEqual(
    [2, 1, 0, 0, 0].map((left) => `"default";r=${left};t=1`),
  )
  expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"default";q=3;w=1')
  expect(answers[3]?.headers.get('retry-after')).toBe('1')
  expect(answers[3]?.body).toMatchObject({ code: 'rate_limited' })
  await sleep(1_050)
  expect((await petstore.get('/pets', { apiKey })).status).toBe(200)
})

test('RATE_LIMIT_PER_SECOND holds for keys without a limit of their own, each by itself', async () => {
  const petstore = await startApp(db, { rateLimitPerSecond: 1 })
  const [one, two, generous] = await Promise.all([
    issueApiKey(db),
    issueApiKey(db),
    issueApiKey(db, { rateLimit: 100 }),
  ])
  const statuses = async (apiKey: string) => [
    (await petstore.get('/pets', { apiKey })).status,
    (await petstore.get('/pets', { apiKey })).status,
  ]
  expect(await statuses(one.text)).toEqual([200, 429])
  expect(await statuses(two.text)).toEqual([200, 429])
  expect(await statuses(generous.text)).toEqual([200, 200])
})

test('429 comes after 401 and before 404', async () => {
  const petstore = await startApp(db)
  const apiKey = (await issueApiKey(db, { rateLimit: 1 })).text
  await petstore.get('/pets', { apiKey })
  expect((await petstore.get('/nothing', { apiKey })).status).toBe(429)
  expect((await petstore.get('/nothing', { apiKey: `${apiKey}x` })).status).toBe(401)
})

// How API keys are generated, stored and looked up. Rejected credentials are in test/security/credentials.test.ts.
import { expect, test } from 'vitest'
import { apiKeyVerifier, createApiKey } from '../../src/access/api-keys/api-keys.ts'
import { makeApiKeyText } from '../../src/access/api-keys/format.ts'
import type { Db } from '../../src/db/database.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { countStatements, createTestDatabase, openTestDatabase, sql } from '../support/database.ts'

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)
const petstore = await startApp(db)

test('a staging key is valid in staging only, and a production key in production only', async () => {
  const stagingKey = await createApiKey(db, 'staging', {
    name: 'staging',
    scopes: ['pets:read'],
    rateLimit: undefined,
    expiresInSeconds: undefined,
  })
  expect((await petstore.get('/pets', { apiKey: stagingKey.text })).status).toBe(401)
  const staging = await startApp(db, { verifyApiKey: apiKeyVerifier(db, 'staging') })
  expect((await staging.get('/pets', { apiKey: stagingKey.text })).status).toBe(200)
  expect((await staging.get('/pets')).status).toBe(401)
})

test('100 concurrent requests with one key cause one look-up, which is cached for a second', async () => {
  let now = 0
  const { db: counted, count: lookUps } = countStatements(db)
  const verify = apiKeyVerifier(counted, 'production', () => now)
  const { text, id } = await issueApiKey(db)
  const callers = await Promise.all(Array.from({ length: 100 }, async () => verify(text)))
  expect(callers.every((caller) => caller?.id === id)).toBe(true)
  now = 999
  await verify(text)
  expect(lookUps()).toBe(1)
  now = 1_000
  await verify(text)
  expect(lookUps()).toBe(2)
})

test('a look-up is cached for a second from its start, even if it is slow', async () => {
  let now = 0
  const { db: counted, count: lookUps } = countStatements(db)
  const slow: Db = {
    ...counted,
    read: async (statement) => {
      const rows = await counted.read<never>(statement)
      now += 1_500
      return rows
    },
  }
  const verify = apiKeyVerifier(slow, 'production', () => now)
  const { text } = await issueApiKey(db)
  await verify(text)
  await verify(text)
  expect(lookUps()).toBe(2)
})

test('the result that a key is unknown is cached for a second; a failed look-up is not cached', async () => {
  let now = 0
  let failing = true
  const { db: counted, count: lookUps } = countStatements(db)
  const flaky: Db = {
    ...counted,
    read: async (statement) => {
      const rows = await counted.read<never>(statement)
      if (failing) throw new Error('unavailable')
      return rows
    },
  }
  const verify = apiKeyVerifier(flaky, 'production', () => now)
  const unknownKey = makeApiKeyText('production')
  await expect(verify(unknownKey)).rejects.toThrow('unavailable')
  failing = false
  expect(await verify(unknownKey)).toBeUndefined()
  expect(await verify(unknownKey)).toBeUndefined()
  expect(lookUps()).toBe(2)
  now = 1_000
  expect(await verify(unknownKey)).toBeUndefined()
  expect(lookUps()).toBe(3)
})

test('a key has 256 random bits in base62 and a checksum', () => {
  const texts = Array.from({ length: 1_000 }, () => makeApiKeyText('production'))
  expect(new Set(texts).size).toBe(1_000)
  for (const text of texts) expect(text).toMatch(/^petstore_live_[0-9A-Za-z]{49}$/)
})

test('only the SHA-256 of a key is stored', async () => {
  const { text } = await issueApiKey(db)
  const rows = await sql<{ row: string }>(databaseUrl, 'select api_keys::text as row from api_keys')
  expect(rows.some(({ row }) => row.includes(text.slice(14, 40)))).toBe(false)
  const [found] = await sql(databaseUrl, `select 1 as one from api_keys where hash = sha256($1::bytea)`, [
    Buffer.from(text),
  ])
  expect(found).toEqual({ one: 1 })
})
